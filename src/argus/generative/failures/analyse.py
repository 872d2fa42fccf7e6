"""`generative analyse`: explain why correct passages do not come first."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from argus.cores import available_cores
from argus.corpora import NamedCorpus, named
from argus.data.documents import read_topics
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import read_qrels
from argus.data.tables import harmless, read_table
from argus.data.types import Qrels
from argus.data.writing import one_writer, replacing
from argus.errors import ArgusError, InputError
from argus.generative.failures.diagnosis import (
    System,
    comparison,
    described_modes,
    diagnosed,
    diagnosis_table,
    pairs,
    system_summary,
    taxonomy,
)
from argus.generative.failures.judging import (
    LEDGER,
    Candidate,
    estimate_judging,
    judge_passages,
)
from argus.generative.failures.measures import to_table
from argus.generative.failures.measuring import (
    Measurements,
    Setup,
    check_measured,
    ids_of_questions,
    measure_output,
)
from argus.generative.failures.outputs import Output, open_outputs
from argus.generative.failures.reading import Problem
from argus.generative.failures.tables import csv_tables, lacking
from argus.generative.folders import index_folder, need_model
from argus.generative.index import NgramIndex
from argus.generative.settings import FailureConfig
from argus.generative.vocabulary import open_vocabulary
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
    replayed: replay by system (see `replay_output`). None without one.
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
    config = config or FailureConfig()
    modes = taxonomy()
    opened, measured, setup, folder, record = _measured(
        outputs, out, config, corpus, queries, qrels, fields, fresh=fresh
    )
    record.open(folder)
    names = [output.name for output in opened]
    replays: list[dict[str, Any] | None] = []
    lost: dict[str, list[dict[str, Any]]] = {}
    for output, of_output in zip(opened, measured, strict=True):
        if config.replay is None or setup.index is None:
            replays.append(None)
            continue
        from argus.generative.failures.replay import replay_output

        model = need_model(config.replay.model)
        with record.timed(f"replaying {output.name}"):
            replayed, lost[output.name] = replay_output(
                output, of_output, setup.index, model, config.replay, device
            )
        replays.append(replayed)
    verdicts = unjudged = None
    if config.llm is not None:
        try:
            with record.timed("judging"):
                passages = _candidates(opened, measured)
                verdicts = judge_passages(passages, config.llm, folder / LEDGER)
        except ArgusError as error:  # the analysis goes on without
            unjudged = str(error)
    if verdicts is not None:
        for name, of_output in zip(names, measured, strict=True):
            for row in of_output.rows:
                row["judged"] = verdicts.best[name].get(row["query_id"])
                row["judged_open"] = verdicts.open[name].get(row["query_id"])
    systems = [
        diagnosed(name, of_output.rows, modes, config.k)
        for name, of_output in zip(names, measured, strict=True)
    ]
    paired = pairs(systems)
    missing: list[str] = []
    with record.timed("tables"):
        compared = comparison(systems, paired, config.seed)
        summary: dict[str, Any] = {
            "k": config.k,
            "correct": config.correct.value,
            "tokens": "tokenizer" if config.tokenizer else "index" if config.index else "words",
            "systems": [
                {
                    "name": output.name,
                    "file": str(output.file),
                    "broken": output.broken,
                    "problems": _problems(of_output),
                    **system_summary(system, modes, config.k, config.seed, strict=config.strict),
                }
                for output, of_output, system in zip(opened, measured, systems, strict=True)
            ],
            "comparison": compared,
            "taxonomy": described_modes(modes),
            "replayed": replays,
            "judge": verdicts.summary if verdicts else None,
            "unjudged": unjudged,
        }
        if len(systems) == 2 and compared is None:
            missing.append("The two outputs have no question in common: they are not compared.")
        missing += lacking(system["figures"] for system in summary["systems"])
        missing += _needs(setup.qrels, opened, measured)
        summary["needs"] = [*missing, *_replay_needs(opened, replays)]
        judged = verdicts.table if verdicts else None
        _write_files(folder, systems, paired, summary, lost, judged)
    counts = {system.name: len(system.rows) for system in systems}
    folder.write_results(JOB, summary, record.manifest(counts))
    incomplete = [f"{o.file} breaks off: {o.broken}" for o in opened if o.broken]
    incomplete += [unjudged] if unjudged else []
    return FailureResult(folder.path, write_report(folder.path), summary, incomplete)


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
    opened, measured, _, folder, _ = _measured(outputs, out, config, corpus, queries, qrels, fields)
    return estimate_judging(_candidates(opened, measured), config.llm, folder / LEDGER)


def _measured(
    outputs: Path | str | Sequence[Path | str],
    out: Path | str,
    config: FailureConfig,
    corpus: NamedCorpus | None,
    queries: Path | str | None,
    qrels: Path | str | None,
    fields: FieldNames | None,
    *,
    fresh: bool = False,
) -> tuple[list[Output], list[Measurements], Setup, ArtifactFolder, Record]:
    """Open, check and measure everything. Nothing is written."""
    fields = fields or FieldNames()
    paths = [Path(p) for p in ([outputs] if isinstance(outputs, (str, Path)) else outputs)]
    corpus = named(corpus) if corpus else None
    queries, qrels = (Path(p) if p else None for p in (queries, qrels))
    judged = read_qrels(qrels) if qrels else None
    opened = open_outputs(paths, corpus=corpus, queries=queries, fields=fields, qrels=judged)
    home = index_folder(config.index) if config.index else None
    model = need_model(config.replay.model) if config.replay else None
    border = None
    if home is not None:
        index = NgramIndex.open(home)
        border = index.vocabulary.decode([index.border])
    if config.tokenizer is not None:
        open_vocabulary(config.tokenizer)  # a missing one is an error now
    topics = read_topics(queries, coerce_ids=fields.coerce_ids) if queries else []
    setup = Setup(
        k=config.k, correct=config.correct.value, tokenizer=config.tokenizer, index=home,
        qrels=judged, answers={t.query.id: t.answers for t in topics if t.answers} or None,
        ids=ids_of_questions(t.query for t in topics) or None, judged=config.llm is not None,
        strict=config.strict,
    )  # fmt: skip
    folder = ArtifactFolder(Path(out), fresh=fresh)
    texts = corpus if isinstance(corpus, Path) else None
    keep_input(folder, [*paths, home, model, texts, queries, qrels, config.tokenizer])
    files = {f"output {i}": output.file for i, output in enumerate(opened, start=1)}
    inputs = {**files, "texts": texts, "queries": queries, "qrels": qrels}
    hashed = {name: path if path and path.is_file() else None for name, path in inputs.items()}
    record = Record(JOB, config.described(), hashed)
    record.encoder["what"] = OUTPUTS
    record.encoder["fingerprint"] = " and ".join(output.name for output in opened)
    measured = []
    for output in opened:
        is_large = output.file.stat().st_size >= WORTH_WORKERS
        workers = config.workers or (available_cores() if is_large else 1)
        bordered = replace(setup, border=border or output.border or setup.border)
        with record.timed(f"measuring {output.name}"):
            measured.append(measure_output(output, bordered, workers))
        check_measured(output, measured[-1], setup)
    return opened, measured, setup, folder, record


def _candidates(
    opened: Sequence[Output], measured: Sequence[Measurements]
) -> dict[str, list[Candidate]]:
    """Return the passages to judge, by system."""
    sides = zip(opened, measured, strict=True)
    return {output.name: [c for one in m.candidates for c in one] for output, m in sides}


SAME_RANKS = 0.9
"""Share of replayed questions below which a replay is not that of the output."""


def _problems(measured: Measurements) -> list[dict[str, Any]]:
    """Return the problems of a file: how often, and where first.

    A field that all questions lack is no problem of the file: `_needs` says so once.
    """
    columns = {
        Problem.NO_KEYS: "ngrams_all",
        Problem.NO_ANSWERS: "answer_hit_k",
        Problem.NO_POSITIVES: "hit_k",
    }
    listed = [
        problem
        for kind, problem in measured.problems.listed().items()
        if kind not in columns or any(row[columns[kind]] is not None for row in measured.rows)
    ]
    return listed


def _needs(
    qrels: Qrels | None,
    outputs: Sequence[Output],
    measured: Sequence[Measurements],
) -> Iterator[str]:
    """Yield doubts about the inputs."""
    for output, of_output in zip(outputs, measured, strict=True):
        ids = {row["query_id"] for row in of_output.rows}
        if absent := sum(query not in ids for query in qrels or ()):
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


def _replay_needs(
    outputs: Sequence[Output], replayed: Sequence[Mapping[str, Any] | None]
) -> Iterator[str]:
    for output, replay in zip(outputs, replayed, strict=True):
        if replay is None:
            continue
        if replay["questions"] < replay["of"]:
            yield (
                f"{replay['questions']:,} of {replay['of']:,} questions of {output.name} were "
                "replayed (--replay): what a replay shows is of these."
            )
        if not replay["as_searched"]:
            remark = "says otherwise" if output.settings else "does not say how it was made"
            yield (
                f"{output.name} was replayed as {replay['mode']} with {replay['beams']} beams; "
                f"the output {remark} (--mode, --beams)."
            )
        if replay["same"] < SAME_RANKS * replay["compared"]:
            yield (
                f"In the replay of {output.name} the best positive has the rank of the output for "
                f"only {replay['same']:,} of {replay['compared']:,} questions: another model, "
                "index or settings made it, and what the replay shows is of another search."
            )


SHOWN_MODES = 5


def headline(summary: dict[str, Any]) -> Iterator[str]:
    """Yield how each system fared, and the modes that tell its failures apart."""
    k = summary["k"]
    for system in summary["systems"]:
        counts = system["questions"]
        yield f"{system['name']}: {counts['total']:,} questions, {counts['judged']:,} judged"
        if counts["judged"]:
            hits = (counts["found"] + counts["late"]) / counts["judged"]
            yield (
                f"  {counts['found']:,} found first, {counts['late']:,} more among the first {k} "
                f"(hits@{k} {hits:.1%}), {counts['failed']:,} failed"
            )
        for mode in [mode for mode in system["modes"] if mode["among_failed"]][:SHOWN_MODES]:
            held = _share(mode, "failed")
            if mode["among_found"] is not None:
                held += f", {_share(mode, 'found')}"
            yield f"  {held:<36} {mode['name']}"
        for problem in system["problems"]:
            yield f"  {problem['count']:,} {problem['what']} ({problem['first']})"
    if comparison := summary["comparison"]:
        names = [system["name"] for system in summary["systems"]]
        yield f"{names[1]} against {names[0]}, on {comparison['questions']:,} questions of both"
        for values in comparison["rows"]:
            row = dict(zip(comparison["columns"], values, strict=True))
            if name := {"hit_1": "hits@1", "hit_k": f"hits@{k}"}.get(row["figure"]):
                ends = "" if row["low"] is None else f" ({row['low']:+.3f} to {row['high']:+.3f})"
                difference = f"{row['difference']:+.3f}{ends}"
                yield f"  {name} {row['first']:.3f}, {row['second']:.3f}: {difference}"
    if summary["judge"]:
        for name, verdicts in summary["judge"]["systems"].items():
            counts = verdicts["questions"]
            yield (
                f"verdicts on {name}: {counts['YES']:,} YES, {counts['PARTIAL']:,} PARTIAL, "
                f"{counts['NO']:,} NO, {counts['failed']:,} failed"
            )
    yield from summary["needs"]


def _share(mode: Mapping[str, Any], what: str) -> str:
    measured = mode[f"measured_{what}"]
    return f"{round((mode[f'among_{what}'] or 0.0) * measured):,} of {measured:,} {what}"


MEASURES, DIAGNOSIS, TABLES = "failures", "failure_diagnosis", "failure_tables"
PRUNED, JUDGED = "pruned", "judged"
PRUNED_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("system", "query_id", "ngram", "view")),
        ("weight", pa.float64()),
    ]
)
MODE_COLUMNS = (
    "id", "name", "category", "threshold_text", "measured_failed", "among_failed", "measured_found",
    "among_found", "difference", "low", "high", "leading",
)  # fmt: skip


def _write_files(
    folder: ArtifactFolder,
    systems: Sequence[System],
    paired: Sequence[Sequence[str]],
    summary: dict[str, Any],
    lost: Mapping[str, Sequence[dict[str, Any]]],
    judged: pa.Table | None,
) -> None:
    """Write rows, diagnoses and tables. Those of two systems stand in one file.

    Files of an earlier analysis in the folder are removed. paired: of `pairs`. lost: rows of
    dropped n-grams by system, empty without a replay. judged: verdicts of a judge.
    """
    measured = [
        to_table(system.rows).add_column(
            0, "system", pa.array([system.name] * len(system.rows), pa.string())
        )
        for system in systems
    ]
    folder.write_table(MEASURES, pa.concat_tables(measured, promote_options="default"))
    diagnosis = diagnosis_table(systems, paired)
    folder.write_table(DIAGNOSIS, diagnosis)
    rows = (
        [" | ".join(cell) if isinstance(cell, list) else cell for cell in row.values()]
        for row in diagnosis.to_pylist()
    )
    _write_csv(folder.own(f"{DIAGNOSIS}.csv"), diagnosis.column_names, rows)
    for name in (PRUNED, JUDGED):
        (folder / f"{name}.parquet").unlink(missing_ok=True)
    if lost:
        ngrams = [{"system": system, **row} for system, rows in lost.items() for row in rows]
        folder.write_table(PRUNED, pa.Table.from_pylist(ngrams, PRUNED_SCHEMA))
    if judged is not None:
        folder.write_table(JUDGED, judged)
    tables: dict[str, tuple[Sequence[str], list[Sequence[object]]]] = {
        "settings": (
            ["setting", "value"], [[name, summary[name]] for name in ("k", "correct", "tokens")],
        ),
        "modes": (["system", *MODE_COLUMNS], []),
    }  # fmt: skip
    if compared := summary["comparison"]:
        tables["comparison"] = compared["columns"], compared["rows"]
    for system in summary["systems"]:
        own = system["name"]
        tables["modes"][1].extend([own, *map(mode.get, MODE_COLUMNS)] for mode in system["modes"])
        for name, columns, figures in csv_tables(system["figures"]):
            _, all_rows = tables.setdefault(name, (["system", *columns], []))
            all_rows += ([own, *row] for row in figures)
    shutil.rmtree(folder / TABLES, ignore_errors=True)
    folder.own(TABLES).mkdir()
    for name, (columns, all_rows) in tables.items():
        _write_csv(folder / TABLES / f"{name}.csv", columns, all_rows)


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file, whole or not at all. None is empty."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([harmless(c) if isinstance(c, str) else c for c in row] for row in rows)
