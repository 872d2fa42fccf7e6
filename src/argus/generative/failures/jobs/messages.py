"""Messages of an analysis: problems of the files, and figures that were not measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from argus.generative.failures.jobs.inputs import Output, RunOutput
from argus.generative.failures.jobs.measuring import Measurements, Setup
from argus.generative.failures.jobs.replaying import ReplayedOutput
from argus.generative.failures.jobs.settings import FailureConfig
from argus.generative.failures.measures.annotation import UNANNOTATED
from argus.generative.failures.reading.problems import Problem
from argus.generative.failures.summary import FileProblem

SAME_RANKS = 0.9
"""Share of replayed questions below which a replay is not that of the output."""


def problems(measured: Measurements) -> list[FileProblem]:
    """Return the problems of a file: how often, and where first.

    A field that all questions lack is no problem of the file: `needs` says so once.
    """
    rows = measured.rows
    everywhere = {
        Problem.NO_KEYS: all(row["ngrams_all"] is None for row in rows),
        Problem.NO_ANSWERS: all(row["answer_hit_k"] is None for row in rows),
        Problem.NO_POSITIVES: all(row["hit_k"] is None for row in rows),
    }
    listed: list[FileProblem] = [
        {
            "what": problem["message"],
            "count": problem["count"],
            "first": "{where}: {found}".format(**problem["examples"][0]),
        }
        for name, problem in measured.problems.as_dict().items()
        if not everywhere.get(Problem(name), False)
    ]
    if measured.renamed:
        listed.append(
            {
                "what": "questions whose id had come before, given another",
                "count": len(measured.renamed),
                "first": measured.renamed[0],
            }
        )
    return listed


def needs(
    config: FailureConfig,
    setup: Setup,
    outputs: Sequence[Output],
    measured: Sequence[Measurements],
    replayed: Sequence[ReplayedOutput | None],
) -> list[str]:
    """Return the figures that were not measured, and the inputs they need."""
    return [
        *_of_judgements(setup, outputs, measured),
        *_of_outputs(config, outputs, measured),
        *_of_replays(config, outputs, replayed),
    ]


def _of_judgements(
    setup: Setup, outputs: Sequence[Output], measured: Sequence[Measurements]
) -> Iterator[str]:
    for output, of_output in zip(outputs, measured, strict=True):
        ids = {row["query_id"] for row in of_output.rows}
        absent = sum(query not in ids for query in setup.qrels or ())
        if absent:
            yield (
                f"{absent:,} judged questions are not in {output.name}: they are not counted, "
                "neither as failed nor as found."
            )
        annotated = any(row["positives"] for row in of_output.rows)
        if annotated and all(row["first_correct"] is None for row in of_output.rows):
            yield (
                f"No positive is among the passages of {output.name}, for no question: check that "
                "both have ids of one scheme."
            )
    if all(row["hit_k"] is None for of_output in measured for row in of_output.rows):
        yield (
            "Which passages are correct is not known: give --qrels, outputs with positive_ctxs, or "
            "--correct answer where answers are known. Without, there is no failure to explain."
        )


def _of_outputs(
    config: FailureConfig, outputs: Sequence[Output], measured: Sequence[Measurements]
) -> Iterator[str]:
    rows = [row for of_output in measured for row in of_output.rows]
    if all(row["ngrams_all"] is None for row in rows):
        yield "The outputs hold no n-grams: generative and scoring failures are not applicable." + (
            ""
            if any(isinstance(output, RunOutput) for output in outputs)
            else " SEAL and MINDER write them with --include_keys, argus research generative "
            "search always."
        )
    if all(row["answer_hit_k"] is None for row in rows):
        yield "No answers are known: give --queries with answers, or outputs that hold them."
    if config.index is None:
        yield "Coverage of the question's words, split names and cut answers need --corpus-index."
    if config.llm is None and any(row["answer_outcome"] == UNANNOTATED for row in rows):
        yield "Whether unannotated passages answer the question needs --llm."


def _of_replays(
    config: FailureConfig, outputs: Sequence[Output], replayed: Sequence[ReplayedOutput | None]
) -> Iterator[str]:
    if config.replay is None:
        yield "False pruning and exact ablations need --corpus-index and --model."
        return
    for output, replay in zip(outputs, replayed, strict=True):
        if replay is None:
            continue
        how = f"{replay.mode} with {replay.beams} beams"
        if replay.questions < replay.of:
            yield (
                f"{replay.questions:,} of {replay.of:,} questions of {output.name} were replayed "
                "(--replay): what a replay shows is of these."
            )
        if not replay.as_searched:
            remark = "says otherwise" if output.settings else "does not say how it was made"
            yield f"{output.name} was replayed as {how}; the output {remark} (--mode, --beams)."
        if replay.same < SAME_RANKS * replay.compared:
            yield (
                f"In the replay of {output.name} the best positive has the rank of the output for "
                f"only {replay.same:,} of {replay.compared:,} questions: another model, index or "
                "settings made it, and what the replay shows is of another search."
            )
