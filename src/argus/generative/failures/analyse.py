"""`generative analyse`: explain why correct passages do not come first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from argus.cores import available_cores
from argus.corpora import NamedCorpus, named
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.qrels import read_qrels
from argus.data.tables import read_table
from argus.data.writing import one_writer
from argus.errors import ArgusError, InputError
from argus.generative.failures.diagnosis import (
    System,
    comparison,
    described_modes,
    diagnosed,
    pairs,
    system_summary,
)
from argus.generative.failures.files import DIAGNOSIS, MEASURES, write_files, write_optional
from argus.generative.failures.judging import (
    LEDGER,
    Candidate,
    Verdicts,
    estimate_judging,
    judge_passages,
)
from argus.generative.failures.measures import UNANNOTATED
from argus.generative.failures.measuring import (
    Measurements,
    Setup,
    check_measured,
    make_setup,
    measure_output,
)
from argus.generative.failures.outputs import Output, RunOutput, open_outputs
from argus.generative.failures.problems import Problem
from argus.generative.failures.replaying import ReplayedOutput, replay_output
from argus.generative.failures.settings import FailureConfig
from argus.generative.failures.tables.rows import Value
from argus.generative.failures.taxonomy import FailureMode, taxonomy
from argus.generative.folders import index_folder, need_model
from argus.generative.index import NgramIndex
from argus.jobs.result import Result
from argus.jobs.workspace import Record, keep_input
from argus.reports import write_report
from argus.reports.html import OUTPUTS

if TYPE_CHECKING:
    from argus.llm import Estimate


JOB = "generative_failures"
WORTH_WORKERS = 100 << 20
"""Bytes of a file from which it is shared out to all cores: reading them takes some seconds."""


@dataclass(frozen=True, repr=False)
class FailureResult(Result):
    """Result of an analysis, in a folder.

    incomplete: missing parts, in words: files that break off, a judge that could not be asked.
    Keys of the summary:

    k: passages that count as read.
    correct: when a passage is correct: annotated, or answer.
    tokens: the tokenizer that counts tokens.
    systems: each system: its name and file, where the file is broken (None if whole), its problems
    (what, count, and where first), and the parts that `system_summary` returns.
    comparison: see `comparison`. None for one system.
    taxonomy: the modes of failure (see `FailureMode`).
    needs: figures that were not measured, and the inputs that they need.
    replayed: replay by system (see `ReplayedOutput`). None without one.
    judge: verdicts (see `judge_passages`). None without a model.
    unjudged: why no judge could be asked. None if one could.
    """

    TABLES = ("table", "diagnosis")
    folder: Path
    report: Path
    summary: dict[str, Any]
    incomplete: list[str]

    @property
    def table(self) -> pa.Table:
        """One row of figures per question and system."""
        return read_table(self.folder / f"{MEASURES}.parquet")

    @property
    def diagnosis(self) -> pa.Table:
        """One row per mode of failure that holds for a question, with evidence."""
        return read_table(self.folder / f"{DIAGNOSIS}.parquet")

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@dataclass
class _Analysis:
    """One run: the outputs to measure, and the settings."""

    config: FailureConfig
    modes: list[FailureMode]
    setup: Setup
    outputs: list[Output]
    home: Path | None
    model: Path | None
    measured: list[Measurements]
    replayed: list[ReplayedOutput | None]
    verdicts: Verdicts | None = None
    unjudged: str | None = None


@one_writer
def analyse_failures(
    outputs: Path | str | Sequence[Path | str],
    *,
    out: Path | str,
    config: FailureConfig | None = None,
    corpus: NamedCorpus | None = None,
    queries: Path | str | None = None,
    qrels: Path | str | None = None,
    fields: FieldNames | None = None,
    device: str | None = None,
    fresh: bool = False,
) -> FailureResult:
    """Analyse the outputs of one or two systems and write the report into OUT.

    outputs: DPR JSON with n-grams, folders of `generative search`, KILT JSONL, or runs (which need
    corpus and queries). qrels: judgements, in place of the files' own positives. queries: their
    answers go before those of the outputs, and their ids stand for questions without. A file that
    breaks off is analysed up to there, with a notice. Raises InputError for bad input.
    """
    analysis, folder, record = _measure(
        outputs, out, config, corpus, queries, qrels, fields, fresh=fresh
    )
    record.open(folder)
    _replay(analysis, record, device)
    _judge(analysis, folder, record)
    return _reported(analysis, folder, record)


def estimate_verdicts(
    outputs: Path | str | Sequence[Path | str],
    *,
    out: Path | str,
    config: FailureConfig,
    corpus: NamedCorpus | None = None,
    queries: Path | str | None = None,
    qrels: Path | str | None = None,
    fields: FieldNames | None = None,
) -> Estimate:
    """Estimate the questions to `config.llm` by `analyse_failures`, and their cost.

    The outputs are measured. Nothing is written, nobody is asked. Raises InputError as it does, and
    where no model is named.
    """
    if config.llm is None:
        raise InputError(
            "no language model", expected="--llm with --estimate", fix="Name it.", where="--llm"
        )
    analysis, folder, _ = _measure(outputs, out, config, corpus, queries, qrels, fields)
    return estimate_judging(_candidates(analysis), config.llm, folder / LEDGER)


def _measure(
    outputs: Path | str | Sequence[Path | str],
    out: Path | str,
    config: FailureConfig | None,
    corpus: NamedCorpus | None,
    queries: Path | str | None,
    qrels: Path | str | None,
    fields: FieldNames | None,
    *,
    fresh: bool = False,
) -> tuple[_Analysis, ArtifactFolder, Record]:
    """Open, check and measure everything. Nothing is written."""
    config, fields = config or FailureConfig(), fields or FieldNames()
    modes = taxonomy(config.thresholds)
    paths = [Path(p) for p in ([outputs] if isinstance(outputs, (str, Path)) else outputs)]
    corpus = named(corpus) if corpus else None
    queries, qrels = (Path(p) if p else None for p in (queries, qrels))
    judged = read_qrels(qrels) if qrels else None
    opened = open_outputs(paths, corpus=corpus, queries=queries, fields=fields, qrels=judged)
    home = index_folder(config.index) if config.index else None
    model = need_model(config.replay.model) if config.replay else None
    setup = make_setup(config, home, queries, judged, fields)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    texts = corpus if isinstance(corpus, Path) else None
    keep_input(folder, [*paths, home, model, texts, queries, qrels, config.tokenizer])
    files = {f"output {i}": output.file for i, output in enumerate(opened, start=1)}
    inputs = {**files, "texts": texts, "queries": queries, "qrels": qrels}
    hashed = {name: path if path and path.is_file() else None for name, path in inputs.items()}
    record = Record(JOB, config.described(), hashed)
    record.encoder["what"] = OUTPUTS
    record.encoder["fingerprint"] = " and ".join(output.name for output in opened)
    index = NgramIndex.open(home) if home else None
    border = index.vocabulary.decode([index.border]) if index else None
    measured = []
    for output in opened:
        bordered = replace(setup, border=border or output.border or setup.border)
        is_large = output.file.stat().st_size >= WORTH_WORKERS
        workers = config.workers or (available_cores() if is_large else 1)
        with record.timed(f"measuring {output.name}"):
            measured.append(measure_output(output, bordered, workers))
        check_measured(output, measured[-1], setup)
    replayed: list[ReplayedOutput | None] = [None] * len(opened)
    analysis = _Analysis(config, modes, setup, opened, home, model, measured, replayed)
    return analysis, folder, record


def _replay(analysis: _Analysis, record: Record, device: str | None) -> None:
    """Search again, and add the figures to the rows."""
    config, home, model = analysis.config.replay, analysis.home, analysis.model
    if config is None or home is None or model is None:
        return
    for i, (output, measured) in enumerate(zip(analysis.outputs, analysis.measured, strict=True)):
        with record.timed(f"replaying {output.name}"):
            analysis.replayed[i] = replay_output(output, measured, home, model, config, device)


def _judge(analysis: _Analysis, folder: ArtifactFolder, record: Record) -> None:
    """Ask the language model, and write its verdicts into the rows.

    Where none could be had, the analysis goes on without, and `unjudged` says why.
    """
    if analysis.config.llm is None:
        return
    sides = zip(analysis.outputs, analysis.measured, strict=True)
    try:
        with record.timed("judging"):
            verdicts = judge_passages(_candidates(analysis), analysis.config.llm, folder / LEDGER)
    except ArgusError as error:
        analysis.unjudged = str(error)
        return
    for output, measured in sides:
        best, left = verdicts.best.get(output.name, {}), verdicts.open.get(output.name, {})
        for row in measured.rows:
            row["judged"] = best.get(row["query_id"])
            row["judged_open"] = left.get(row["query_id"])
    analysis.verdicts = verdicts


def _candidates(analysis: _Analysis) -> dict[str, list[Candidate]]:
    """Return the passages to judge, by system."""
    sides = zip(analysis.outputs, analysis.measured, strict=True)
    return {output.name: [c for one in m.candidates for c in one] for output, m in sides}


def _reported(analysis: _Analysis, folder: ArtifactFolder, record: Record) -> FailureResult:
    """Write everything."""
    outputs, config = analysis.outputs, analysis.config
    systems = [
        diagnosed(output.name, measured.rows, analysis.modes, config.k)
        for output, measured in zip(outputs, analysis.measured, strict=True)
    ]
    paired = pairs(systems)
    with record.timed("tables"):
        summary = _summary(analysis, systems, paired)
        write_files(folder, systems, paired, summary)
        lost = {o.name: r.lost for o, r in zip(outputs, analysis.replayed, strict=True) if r}
        write_optional(folder, lost, analysis.verdicts.table if analysis.verdicts else None)
    counts = {system.name: len(system.rows) for system in systems}
    folder.write_results(JOB, summary, record.manifest(counts))
    incomplete = [f"{o.file} breaks off: {o.broken}" for o in outputs if o.broken]
    incomplete += [analysis.unjudged] if analysis.unjudged else []
    return FailureResult(folder.path, write_report(folder.path), summary, incomplete)


def _summary(
    analysis: _Analysis, systems: Sequence[System], paired: Sequence[Sequence[str]]
) -> dict[str, Any]:
    config, modes = analysis.config, analysis.modes
    of_systems = [
        {
            "name": output.name,
            "file": str(output.file),
            "broken": output.broken,
            "problems": problems(measured),
            **system_summary(system, modes, config.k, config.seed, strict=config.strict),
        }
        for output, measured, system in zip(
            analysis.outputs, analysis.measured, systems, strict=True
        )
    ]
    missing = needs(config, analysis.setup, analysis.outputs, analysis.measured, analysis.replayed)
    compared = comparison(systems, paired, config.seed)
    if len(systems) == 2 and compared is None:
        missing.insert(0, "The two outputs have no question in common: they are not compared.")
    return {
        "k": config.k,
        "correct": config.correct.value,
        "tokens": "tokenizer" if config.tokenizer else "index" if config.index else "words",
        "systems": of_systems,
        "comparison": compared,
        "taxonomy": described_modes(modes),
        "needs": missing,
        "replayed": [r.summary() if r else None for r in analysis.replayed],
        "judge": analysis.verdicts.summary if analysis.verdicts else None,
        "unjudged": analysis.unjudged,
    }


SAME_RANKS = 0.9
"""Share of replayed questions below which a replay is not that of the output."""


def problems(measured: Measurements) -> list[dict[str, Any]]:
    """Return the problems of a file: how often, and where first.

    A field that all questions lack is no problem of the file: `needs` says so once.
    """
    rows = measured.rows
    everywhere = {
        Problem.NO_KEYS: all(row["ngrams_all"] is None for row in rows),
        Problem.NO_ANSWERS: all(row["answer_hit_k"] is None for row in rows),
        Problem.NO_POSITIVES: all(row["hit_k"] is None for row in rows),
    }
    listed = [
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


SHOWN_MODES = 5
HITS = ("hit_1", "hit_k")


def headline(summary: dict[str, Any]) -> Iterator[str]:
    """Yield how each system fared, and the modes that tell its failures apart."""
    for system in summary["systems"]:
        yield from _system(system, summary["k"])
    if comparison := summary["comparison"]:
        names = [system["name"] for system in summary["systems"]]
        yield f"{names[1]} against {names[0]}, on {comparison['questions']:,} questions of both"
        for row in comparison["rows"]:
            figure = dict(zip(comparison["columns"], row, strict=True))
            if figure["figure"] in HITS:
                yield f"  {_difference(figure, summary['k'])}"
    if summary["judge"]:
        for name, verdicts in summary["judge"]["systems"].items():
            counts = verdicts["questions"]
            yield (
                f"verdicts on {name}: {counts['YES']:,} YES, {counts['PARTIAL']:,} PARTIAL, "
                f"{counts['NO']:,} NO, {counts['failed']:,} failed"
            )
    yield from summary["needs"]


def _system(system: dict[str, Any], k: int) -> Iterator[str]:
    counts = system["questions"]
    yield f"{system['name']}: {counts['total']:,} questions, {counts['judged']:,} judged"
    if counts["judged"]:
        hits = (counts["found"] + counts["late"]) / counts["judged"]
        yield (
            f"  {counts['found']:,} found first, {counts['late']:,} more among the first {k} "
            f"(hits@{k} {hits:.1%}), {counts['failed']:,} failed"
        )
    shown = [mode for mode in system["modes"] if mode["among_failed"]][:SHOWN_MODES]
    for mode in shown:
        held = _share(mode["among_failed"], mode["measured_failed"], "failed")
        if mode["among_found"] is not None:
            held += f", {_share(mode['among_found'], mode['measured_found'], 'found')}"
        yield f"  {held:<36} {mode['name']}"
    for problem in system["problems"]:
        yield f"  {problem['count']:,} {problem['what']} ({problem['first']})"


def _share(share: float | None, of: int, what: str) -> str:
    return f"{round((share or 0.0) * of):,} of {of:,} {what}"


def _difference(row: dict[str, Value], k: int) -> str:
    between = "" if row["low"] is None else f" ({row['low']:+.3f} to {row['high']:+.3f})"
    name = {"hit_1": "hits@1", "hit_k": f"hits@{k}"}[str(row["figure"])]
    return f"{name} {row['first']:.3f}, {row['second']:.3f}: {row['difference']:+.3f}{between}"
