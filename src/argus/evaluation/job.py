"""Evaluate one system, or two against each other, on judged queries (docs/methods.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.corpora import Corpus
from argus.data.excluded import Excluded
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.types import Qrels, Query, Run
from argus.data.writing import one_writer
from argus.encoders import Encoder
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.diagnosed import diagnosis_file, highest_rps
from argus.evaluation.findings import EvaluationFindings, means_by_slice
from argus.evaluation.judged import JudgedQueries, read_judged
from argus.evaluation.summary import SLICES, EvaluationSummary, headline
from argus.evaluation.systems import (
    System,
    ask_retriever,
    one_for_each,
    open_index,
    rankings,
    run_system,
    search_index,
    system_name,
    without_failed,
)
from argus.indexes.retriever import IndexRetriever
from argus.indexes.spec import parse_index_spec
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder
from argus.measures.slices import slice_figures, slice_table
from argus.reports import write_report
from argus.retrievers.asking import all_opened, note_retrievers
from argus.retrievers.config import AskingConfig
from argus.retrievers.kept import FILE as ANSWERS
from argus.retrievers.opening import OpenRetriever


@dataclass(frozen=True, repr=False)
class EvaluateResult(Result):
    """What was measured; everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: EvaluationSummary
    table: pa.Table
    """One row per query: measures of every system, difference, whether it is implicit."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def evaluate(
    queries: Path | str | Sequence[Query],
    qrels: Path | str | Qrels,
    *,
    out: Path | str,
    indexes: Sequence[str] = (),
    runs: Sequence[Path | Run] = (),
    corpus: Corpus | None = None,
    diagnosis: Path | None = None,
    encoder: Encoder | str | None = None,
    hybrid: Sequence[str] = (),
    exact: bool | None = None,
    weights: Sequence[float] = (),
    config: EvaluateConfig | None = None,
    fresh: bool = False,
    retrievers: Sequence[Any] = (),
    asking: AskingConfig | None = None,
    excluded: Path | str | Excluded | None = None,
    fields: FieldNames | None = None,
) -> EvaluateResult:
    """Measure one or two systems; with two, the second against the first.

    indexes: `PATH`, `PATH@original` or `PATH@REMEDY`; they come before `retrievers` (named as
    `argus.retrievers.names` says, or any object that retrieves; asked as `asking` says), and these
    before `runs` (TREC or JSON files, or runs). corpus: where titles and texts come from,
    by the columns that `fields` names; an index knows its own. diagnosis: folder with
    diagnosis.parquet, for the statistic of ARGUS Table 4.
    encoder: for indexes that do not name theirs, and for the queries of stores. hybrid: how
    indexes fuse vectors with BM25 ("min-max", "rrf", "dbsf"; "dense" for
    not at all), one for all or one for each. exact: None searches every index as it is served,
    approximately where it has an approximate index. weights: λ of documents against scenarios, one
    for all indexes or one for each. excluded: documents that are taken out of each query's results
    before anything is measured, or a file that says so. Raises InputError for bad input, ArgusError
    when every query failed; nothing is written before all of it has been read.
    """
    config, asking = config or EvaluateConfig(), asking or AskingConfig()
    if len(indexes) + len(retrievers) + len(runs) not in (1, 2):
        raise InputError(
            f"{len(indexes)} indexes, {len(retrievers)} retrievers and {len(runs)} runs",
            expected="one system, or two (before and after)",
            fix="Name them with --index, --retriever and --run.",
            where="--index, --retriever, --run",
        )
    fusions, lambdas = rankings(hybrid, len(indexes)), one_for_each(weights, len(indexes))
    questions = read_judged(queries, qrels, corpus, excluded, fields).folded(config.parent_field)
    highest = highest_rps(diagnosis) if diagnosis else None
    if highest is not None and questions.fold is not None:
        highest = questions.fold.best(highest)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = _record(config, indexes, questions, diagnosis, runs)
    about = [parse_index_spec(name).path for name in indexes]
    check_folder(folder, record, about=about)
    answers = folder.path / ANSWERS
    with (
        record.timed("asking"),
        all_opened(retrievers, questions.documents or (), asking, answers, encoder) as sources,
    ):
        searched = [
            open_index(name, encoder, fusion, exact, weight)
            for name, fusion, weight in zip(indexes, fusions, lambdas, strict=True)
        ]
        if sources:
            note_retrievers(retrievers, sources, asking, folder, record, about)
        systems = _systems(questions, searched, sources, runs, config.depth)
    record.config |= {"hybrid": fusions, "exact": [r.searches_exactly() for _, r in searched]}
    record.config["lambda"] = [retriever.weight for _, retriever in searched]
    judged = without_failed(questions.judged, systems)
    findings = EvaluationFindings(questions.queries, judged, systems, config, highest)
    return _write(findings, folder, record, about, questions)


@one_writer
def evaluate_states(
    questions: JudgedQueries,
    states: Sequence[IndexRetriever],
    *,
    out: Path | str,
    diagnosis: Path | None = None,
) -> EvaluateResult:
    """Measure one or two states of indexes that are open, as `evaluate` does by their names."""
    config = EvaluateConfig()
    names = [f"{state.index.path}@{state.as_of}" for state in states]
    highest = highest_rps(diagnosis) if diagnosis else None
    record = _record(config, names, questions, diagnosis, ())
    folder = ArtifactFolder(Path(out))
    about = [state.index.path for state in states]
    check_folder(folder, record, about=about)
    exactly = [state.searches_exactly() for state in states]
    with record.timed("asking"):
        labels = [system_name(name, exactly=e) for name, e in zip(names, exactly, strict=True)]
        retrievers = list(zip(labels, states, strict=True))
        systems = _systems(questions, retrievers, (), (), config.depth)
    record.config |= {"hybrid": [state.hybrid for state in states], "exact": exactly}
    record.config["lambda"] = [state.weight for state in states]
    judged = without_failed(questions.judged, systems)
    findings = EvaluationFindings(questions.queries, judged, systems, config, highest)
    return _write(findings, folder, record, about, questions)


def _write(
    findings: EvaluationFindings,
    folder: ArtifactFolder,
    record: Record,
    about: Sequence[Path],
    questions: JudgedQueries,
) -> EvaluateResult:
    """Measure, and leave the results in the folder; nothing is written before all is measured."""
    fingerprints = dict.fromkeys(system.fingerprint for system in findings.systems)
    record.encoder["fingerprint"] = " | ".join(fingerprints)
    with record.timed("measuring"):
        summary, table = findings.summary(), findings.table()
        if questions.fold is not None:
            summary["parents"] = questions.fold.figures()
        slices, shares = means_by_slice(findings, questions)
    record.open(folder, about=about)
    folder.write_table("per_query", table, csv=True)
    if slices:
        summary["slices"] = slice_figures(slices, shares)
        folder.write_table(SLICES, slice_table(shares), csv=True)
    folder.write_results("evaluation", summary, record.manifest({**summary["queries"]}))
    return EvaluateResult(folder.path, write_report(folder.path), summary, table)


def _systems(
    questions: JudgedQueries,
    indexes: Sequence[tuple[str, IndexRetriever]],
    retrievers: Sequence[OpenRetriever],
    runs: Sequence[Path | Run],
    depth: int,
) -> list[System]:
    queries, deep = questions.queries, depth + questions.spare
    systems = [search_index(name, index, queries, deep) for name, index in indexes]
    systems += [ask_retriever(retriever, queries, deep) for retriever in retrievers]
    systems += [run_system(run, queries, deep, f"run {i}") for i, run in enumerate(runs, start=1)]
    return questions.folded_systems(systems, depth)


def _excluded(questions: JudgedQueries) -> dict[str, int]:
    """Return how many pairs of a query and a document are taken out, where there are some."""
    pairs = sum(map(len, questions.excluded.values()))
    return {"excluded": pairs} if pairs else {}


def _record(
    config: EvaluateConfig,
    indexes: Sequence[str],
    questions: JudgedQueries,
    diagnosis: Path | None,
    runs: Sequence[Path | Run],
) -> Record:
    run_files = {f"run {i}": run for i, run in enumerate(runs, start=1) if isinstance(run, Path)}
    return Record(
        "evaluation",
        {**asdict(config), "indexes": list(indexes)} | _excluded(questions),
        {
            **questions.files,
            **run_files,
            "corpus": questions.corpus,
            "diagnosis": diagnosis_file(diagnosis) if diagnosis else None,
        },
    )
