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
from argus.generative.failures.measures import UNANNOTATED, to_table
from argus.generative.failures.measuring import (
    Measurements,
    Setup,
    check_measured,
    ids_of_questions,
    measure_output,
)
from argus.generative.failures.outputs import Output, open_outputs
from argus.generative.failures.reading import Problem
from argus.generative.failures.tables import csv_tables
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
    with record.timed("tables"):
        compared = comparison(systems, paired, config.seed)
        missing = [*_needs(config, setup.qrels, opened, measured), *_replay_needs(opened, replays)]
        if len(systems) == 2 and compared is None:
            missing.insert(0, "The two outputs have no question in common: they are not compared.")
        summary = {
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
            "needs": missing,
            "replayed": replays,
            "judge": verdicts.summary if verdicts else None,
            "unjudged": unjudged,
        }
        judged = verdicts.table if verdicts else None
        write_files(folder, systems, paired, summary, lost, judged)
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
    if measured.renamed:
        what = "questions whose id had come before, given another"
        count, first = len(measured.renamed), measured.renamed[0]
        listed.append({"what": what, "count": count, "first": first})
    return listed


def _needs(
    config: FailureConfig,
    qrels: Qrels | None,
    outputs: Sequence[Output],
    measured: Sequence[Measurements],
) -> Iterator[str]:
    """Yield the figures that were not measured, and the inputs they need."""
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
    rows = [row for of_output in measured for row in of_output.rows]
    if all(row["hit_k"] is None for row in rows):
        yield (
            "Which passages are correct is not known: give --qrels, outputs with positive_ctxs, or "
            "--correct answer where answers are known. Without, there is no failure to explain."
        )
    if all(row["ngrams_all"] is None for row in rows):
        yield "The outputs hold no n-grams: generative and scoring failures are not applicable." + (
            ""
            if any(output.records for output in outputs)
            else " SEAL and MINDER write them with --include_keys, argus research generative "
            "search always."
        )
    if all(row["answer_hit_k"] is None for row in rows):
        yield "No answers are known: give --queries with answers, or outputs that hold them."
    if config.index is None:
        yield "Coverage of the question's words, split names and cut answers need --corpus-index."
    if config.llm is None and any(row["answer_outcome"] == UNANNOTATED for row in rows):
        yield "Whether unannotated passages answer the question needs --llm."
    if config.replay is None:
        yield "False pruning and exact ablations need --corpus-index and --model."


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
LISTED_BY = " | "
"""Between the parts of a list in a CSV file."""


def write_files(
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
    _write(folder, MEASURES, pa.concat_tables(measured, promote_options="default"))
    _write(folder, DIAGNOSIS, diagnosis_table(systems, paired))
    shutil.rmtree(folder / TABLES, ignore_errors=True)
    folder.own(TABLES).mkdir()
    for name, (columns, rows) in _tables(summary).items():
        _write_csv(folder / TABLES / f"{name}.csv", columns, rows)
    for name in (PRUNED, JUDGED):
        for suffix in (".parquet", ".csv"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)
    if lost:
        ngrams = [{"system": system, **row} for system, rows in lost.items() for row in rows]
        _write(folder, PRUNED, pa.Table.from_pylist(ngrams, PRUNED_SCHEMA))
    if judged is not None:
        _write(folder, JUDGED, judged)


def _tables(summary: dict[str, Any]) -> dict[str, tuple[Sequence[str], list[Sequence[object]]]]:
    """Return columns and rows of every table that applies, the system in the first column."""
    modes: list[Sequence[object]] = [
        [system["name"], *(mode[name] for name in MODE_COLUMNS)]
        for system in summary["systems"]
        for mode in system["modes"]
    ]
    tables: dict[str, tuple[Sequence[str], list[Sequence[object]]]] = {
        "settings": (
            ["setting", "value"], [[name, summary[name]] for name in ("k", "correct", "tokens")],
        ),
        "modes": (["system", *MODE_COLUMNS], modes),
    }  # fmt: skip
    if compared := summary["comparison"]:
        tables["comparison"] = compared["columns"], compared["rows"]
    for system in summary["systems"]:
        for name, columns, rows in csv_tables(system["figures"]):
            _, all_rows = tables.setdefault(name, (["system", *columns], []))
            all_rows += ([system["name"], *row] for row in rows)
    return tables


def _write(folder: ArtifactFolder, name: str, table: pa.Table) -> None:
    folder.write_table(name, table)
    rows = ([row[c] for c in table.column_names] for row in table.to_pylist())
    _write_csv(folder.own(f"{name}.csv"), table.column_names, rows)


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file, whole or not at all. None is empty."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: object) -> object:
    text = LISTED_BY.join(str(part) for part in value) if isinstance(value, list) else value
    return harmless(text) if isinstance(text, str) else text
