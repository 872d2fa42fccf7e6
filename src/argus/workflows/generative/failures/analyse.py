"""`generative analyse`: why the passages that were wanted did not come first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.cores import available_cores
from argus.data.artifacts import ArtifactFolder
from argus.data.corpus import FieldNames
from argus.data.qrels import read_qrels
from argus.data.topics import read_topics
from argus.errors import InputError
from argus.generative.failures.reading import Problems
from argus.generative.failures.taxonomy import FailureMode, taxonomy
from argus.generative.index import NgramIndex
from argus.reports import write_report
from argus.reports.html import OUTPUTS
from argus.workflows.generative.failures.files import write_files
from argus.workflows.generative.failures.inputs import Output, open_outputs
from argus.workflows.generative.failures.judging import LEDGER, TABLE, Judged, judge_passages
from argus.workflows.generative.failures.measuring import Measured, Setup, measure_output
from argus.workflows.generative.failures.replaying import ReplayConfig, replay_rows
from argus.workflows.generative.failures.summary import (
    System,
    comparison,
    described_modes,
    diagnosed,
    named_verdicts,
    system_summary,
)
from argus.workflows.generative.folders import index_folder, need_model
from argus.workflows.workspace import Record, keep_input

if TYPE_CHECKING:
    from argus.llm import ChatConfig, LocalConfig

JOB = "generative_failures"
WORTH_WORKERS = 100 << 20
"""Bytes of a file from which it is shared out to all cores: reading them takes some seconds."""


class Correct(StrEnum):
    """When a passage is correct."""

    ANNOTATED = "annotated"
    ANSWER = "answer"


@dataclass(frozen=True, kw_only=True)
class AnalyseConfig:
    """What is known besides the outputs; what is not given is not measured, and that is said.

    k: passages that a reader reads. correct: by annotation, or by holding an answer. tokenizer: a
    folder; None takes the index's, else words. index: of the passages. replay: searches again, with
    the index. llm: judges passages that nobody annotated. thresholds: of modes, by id. workers:
    processes; None for all cores where a file is large (a script then needs
    `if __name__ == "__main__":`).
    """

    k: int = 10
    correct: Correct = Correct.ANNOTATED
    tokenizer: Path | None = None
    index: Path | None = None
    replay: ReplayConfig | None = None
    llm: ChatConfig | LocalConfig | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    workers: int | None = 1

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(
                f"{self.k}", expected="a whole number from 1", fix="For example 10.", where="--k"
            )
        if self.replay is not None and self.index is None:
            raise InputError(
                "--model without --corpus-index",
                expected="both: a search is made again with the model over the index",
                fix="Give --corpus-index DIR, or leave --model out.",
                where="--model",
            )


@dataclass(frozen=True)
class AnalyseResult:
    """What an analysis left in a folder. broken: files that break off, with where they do."""

    folder: Path
    report: Path
    summary: dict[str, Any]
    broken: list[str]


def analyse(
    outputs: Sequence[Path | str],
    *,
    config: AnalyseConfig,
    out: Path | str,
    corpus: Path | str | None = None,
    queries: Path | str | None = None,
    qrels: Path | str | None = None,
    fields: FieldNames | None = None,
    device: str | None = None,
    fresh: bool = False,
) -> AnalyseResult:
    """Analyse the outputs of one or two systems and write the report into OUT.

    outputs: DPR JSON with n-grams, folders of `generative search`, KILT JSONL, or runs (which need
    corpus and queries). qrels: judgements, in place of the files' own positives. queries: also
    gives answers where the outputs have none. A file that breaks off is analysed up to there, and
    that is said. Raises InputError for bad input.
    """
    fields = fields or FieldNames()
    modes = taxonomy(config.thresholds)
    paths = [Path(path) for path in outputs]
    corpus, queries, qrels = (Path(p) if p else None for p in (corpus, queries, qrels))
    opened = open_outputs(paths, corpus=corpus, queries=queries, fields=fields)
    home = index_folder(config.index) if config.index else None
    model = need_model(config.replay.model) if config.replay else None
    setup = _setup(config, home, queries, qrels, fields)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    keep_input(folder, [*paths, home, model, corpus, queries, qrels, config.tokenizer])
    record = Record(
        JOB, _settings(config, home, model), {"outputs": opened[0].file, "qrels": qrels}
    )
    record.encoder["what"] = OUTPUTS
    record.encoder["fingerprint"] = " and ".join(output.name for output in opened)
    measured = [_measured(output, setup, config, record) for output in opened]
    record.open(folder)
    replayed = [
        _replayed(output, found, home, config, record, device)
        for output, found in zip(opened, measured, strict=True)
    ]
    judged = _judged(opened, measured, config, folder, record)
    systems = [
        diagnosed(output.name, found.rows, modes, config.k)
        for output, found in zip(opened, measured, strict=True)
    ]
    with record.timed("tables"):
        summary = _summary(opened, measured, systems, modes, config)
        summary |= {"replayed": replayed, "judge": judged.summary if judged else None}
        write_files(folder, systems, {told["name"]: told["figures"] for told in summary["systems"]})
    folder.write_section("summary.json", JOB, summary)
    counts = {system.name: len(system.rows) for system in systems}
    folder.write_section("manifest.json", JOB, record.manifest(counts))
    broken = [f"{o.file}: {o.broken}" for o in opened if o.broken]
    return AnalyseResult(folder.path, write_report(folder.path), summary, broken)


def _setup(
    config: AnalyseConfig,
    home: Path | None,
    queries: Path | None,
    qrels: Path | None,
    fields: FieldNames,
) -> Setup:
    """Return what workers need to know; opens the index and the tokenizer once, to check them."""
    if home is not None:
        NgramIndex.open(home)
    if config.tokenizer is not None:
        from argus.generative.vocabulary import open_vocabulary

        open_vocabulary(config.tokenizer)
    answers = None
    if queries is not None:
        topics = read_topics(queries, coerce_ids=fields.coerce_ids)
        answers = {t.query.id: t.answers for t in topics if t.answers} or None
    return Setup(
        k=config.k, correct=config.correct.value, tokenizer=config.tokenizer, index=home,
        qrels=read_qrels(qrels) if qrels else None, answers=answers,
        judged=config.llm is not None,
    )  # fmt: skip


def _settings(config: AnalyseConfig, home: Path | None, model: Path | None) -> dict[str, Any]:
    return {
        "k": config.k,
        "correct": config.correct,
        "tokenizer": str(config.tokenizer) if config.tokenizer else None,
        "index": str(home) if home else None,
        "model": str(model) if model else None,
        "llm": config.llm.label if config.llm else None,
        "thresholds": dict(config.thresholds),
        "seed": config.seed,
    }


def _measured(output: Output, setup: Setup, config: AnalyseConfig, record: Record) -> Measured:
    """Measure an output. Raises InputError where it holds no question."""
    border = _border(setup.index) or output.border or setup.border
    with record.timed(f"measuring {output.name}"):
        found = measure_output(output, replace(setup, border=border), _workers(output, config))
    if not found.rows:
        raise InputError(
            "no question in it" + (f": {output.broken}" if output.broken else ""),
            expected="at least one question with the passages that were found for it",
            fix="Check that these are results, not questions alone.",
            where=output.file,
        )
    return found


def _workers(output: Output, config: AnalyseConfig) -> int:
    """Return how many processes are worth their start."""
    if config.workers is not None:
        return config.workers
    return available_cores() if output.file.stat().st_size >= WORTH_WORKERS else 1


def _border(home: Path | None) -> str | None:
    if home is None:
        return None
    index = NgramIndex.open(home)
    return index.vocabulary.decode([index.border])


def _replayed(
    output: Output,
    measured: Measured,
    home: Path | None,
    config: AnalyseConfig,
    record: Record,
    device: str | None,
) -> dict[str, Any] | None:
    if config.replay is None or home is None:
        return None
    with record.timed(f"replaying {output.name}"):
        return replay_rows(
            measured.rows, measured.positives, output.settings, home, config.replay, device
        )


def _judged(
    outputs: Sequence[Output],
    measured: Sequence[Measured],
    config: AnalyseConfig,
    folder: ArtifactFolder,
    record: Record,
) -> Judged | None:
    """Ask the language model, and write its verdicts into the rows."""
    if config.llm is None:
        return None
    asked = {o.name: m.candidates for o, m in zip(outputs, measured, strict=True)}
    with record.timed("judging"):
        judged = judge_passages(asked, config.llm, folder / LEDGER)
    for output, found in zip(outputs, measured, strict=True):
        named_verdicts(found.rows, judged.verdicts.get(output.name))
    folder.write_table(TABLE, judged.table, csv=True)
    return judged


def _summary(
    outputs: Sequence[Output],
    measured: Sequence[Measured],
    systems: Sequence[System],
    modes: Sequence[FailureMode],
    config: AnalyseConfig,
) -> dict[str, Any]:
    told = [
        {
            "name": output.name,
            "file": str(output.file),
            "broken": output.broken,
            "problems": _problems(found.problems),
            **system_summary(system, modes, config.k, config.seed),
        }
        for output, found, system in zip(outputs, measured, systems, strict=True)
    ]
    return {
        "k": config.k,
        "correct": config.correct,
        "tokens": "tokenizer" if config.tokenizer else "index" if config.index else "words",
        "systems": told,
        "comparison": comparison(systems, config.seed),
        "taxonomy": described_modes(modes),
        "needs": _needs(config, outputs, measured),
    }


def _problems(problems: Problems) -> list[dict[str, Any]]:
    """Return what was amiss in a file: how often, and where first."""
    told = []
    for problem in problems.as_dict().values():
        first = problem["examples"][0]
        told.append(
            {
                "what": problem["message"],
                "count": problem["count"],
                "first": f"{first['where']}: {first['found']}",
            }
        )
    return told


def _needs(
    config: AnalyseConfig, outputs: Sequence[Output], measured: Sequence[Measured]
) -> list[str]:
    """Return what was not measured for want of something, and what to give for it."""
    rows = [row for found in measured for row in found.rows]
    told = []
    for output, found in zip(outputs, measured, strict=True):
        annotated = any(row["positives"] for row in found.rows)
        if annotated and all(row["first_correct"] is None for row in found.rows):
            told.append(
                f"No positive is among the passages of {output.name}, for no question: check that "
                "both have ids of one scheme."
            )
    if all(row["hit_k"] is None for row in rows):
        told.append(
            "Which passages are correct is not known: give --qrels, outputs with positive_ctxs, or "
            "--correct answer where answers are known. Without, there is no failure to explain."
        )
    if all(row["ngrams_all"] is None for row in rows):
        told.append(
            "The outputs hold no n-grams (keys): generative and scoring failures need them "
            "(SEAL's and MINDER's --include_keys; argus generative search always writes them)."
        )
    if all(row["answer_hit_k"] is None for row in rows):
        told.append("No answers are known: give --queries with answers, or outputs that hold them.")
    if config.index is None:
        told.append(
            "Coverage of the question's words, split names and cut answers need --corpus-index."
        )
    if config.replay is None:
        told.append("False pruning and exact ablations need --corpus-index and --model.")
    if config.llm is None and any(row["answer_outcome"] == "unannotated" for row in rows):
        told.append("Whether unannotated passages answer the question needs --llm.")
    return told
