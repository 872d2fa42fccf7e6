"""`argus compare`: two results, encoders, indexes, retrievers or runs; what is gained and lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from argus.corpora import Corpus, NamedCorpus
from argus.corpora.opening import CorpusSource, open_corpus, read_corpus
from argus.data.corpus import read_queries
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.qrels import read_judgements
from argus.data.runs import RUN_FILE, read_run
from argus.data.types import Document, Qrels, Query, Run
from argus.data.writing import one_writer
from argus.encoders import EncoderConfig
from argus.errors import ArgusError, InputError
from argus.evaluation.compare.lists import compare_lists, compare_states
from argus.evaluation.compare.results import JOBS, compare_results, read_results
from argus.evaluation.compare.summary import (
    NO_SLICES,
    ONLY_SCHEMA,
    QUERY_SCHEMA,
    SCHEMA,
    SLICES,
    ChangesBySlice,
    ComparisonRow,
    ComparisonSummary,
    ListFigures,
    OnlyRow,
    QueryRow,
    ResultFigures,
    changes_by_slice,
    headline,
)
from argus.evaluation.diagnosed import diagnosis_file, documents_by_entity
from argus.evaluation.parents import ParentFold, Slicer, deeper, fold_system
from argus.evaluation.systems import (
    System,
    ask_retriever,
    one_for_each,
    open_index,
    rankings,
)
from argus.indexes.spec import parse_index_spec
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder
from argus.knowledge import KnowledgeSource
from argus.knowledge.load import read_knowledge
from argus.measures.significance import DifferenceFigures
from argus.measures.slices import slice_table
from argus.progress import announce
from argus.reports import write_report
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievers.asking import all_opened, note_retrievers
from argus.retrievers.config import AskingConfig
from argus.retrievers.kept import FILE as ANSWERS
from argus.settings import TOP_K

if TYPE_CHECKING:
    from argus.encoders import Encoder, EncoderConfig


TOLD = ("nDCG@10", "R@10")
"""Measures of judged questions that the comparison tells; `judged/` holds all."""
NAMED = 200
"""Gained and lost documents and entities that the summary names; the table holds all."""


@dataclass(frozen=True, repr=False)
class CompareResult(Result):
    """What was compared; everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: ComparisonSummary
    table: pa.Table
    """One row per entity or document, see `argus.evaluation.compare.summary.SCHEMA`."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@dataclass(frozen=True)
class Comparison:
    """What is to be written. queries: None of two results, which have none in common."""

    of: Literal["results", "indexes", "retrievers", "runs"]
    names: Sequence[str]
    fingerprints: Sequence[str]
    rows: Sequence[ComparisonRow]
    queries: Sequence[QueryRow] | None
    figures: ResultFigures | ListFigures
    notes: Sequence[str] = ()
    only: Sequence[OnlyRow] | None = None
    """Of retrievers and runs."""
    slices: ChangesBySlice = NO_SLICES


@one_writer
def compare_folders(
    before: Path,
    after: Path,
    *,
    out: Path,
    notes: Sequence[str] = (),
    measures: Mapping[str, Any] | None = None,
    jobs: Sequence[str] = JOBS,
    corpus: Corpus | None = None,
    parent_field: str | None = None,
    by: Sequence[str] = (),
    fields: FieldNames | None = None,
    fresh: bool = False,
) -> CompareResult:
    """Compare two folders of audit or exposure results over one corpus.

    notes: what the reader should know of how they were made. measures: what judged questions tell
    of both. jobs: which results count. by: fields
    of `corpus`, by which the documents that are lost and gained are told, too; parent_field: where
    its chunks name their document, if exposure folded them; fields: the columns of `corpus`.
    Raises InputError when they share no job, no id, or were measured with other settings.
    """
    if out.resolve() in (before.resolve(), after.resolve()):
        raise InputError(
            "is one of the folders that are compared",
            expected="a folder of its own",
            fix="Give another --out.",
            where=out,
        )
    first, second = read_results(before), read_results(after)
    documents = open_corpus(corpus).documents(fields or FieldNames()) if corpus else None
    slicer = Slicer.by(by, documents, ParentFold.of(parent_field, documents))
    folder = ArtifactFolder(out, fresh=fresh)
    record = Record("comparison", {"before": str(before), "after": str(after), "by": list(by)}, {})
    check_folder(folder, record, about=(before, after))
    with record.timed("comparing"):
        rows, figures = compare_results(first, second, jobs)
    if measures is not None:
        figures["measures"] = dict(measures)
    names = [str(path) for path in (before, after)]
    fingerprints = [" | ".join(results.fingerprints) for results in (first, second)]
    comparison = Comparison(
        "results", names, fingerprints, rows, None, figures, notes,
        slices=changes_by_slice(slicer, rows),
    )  # fmt: skip
    return write_comparison(folder, record, (before, after), comparison)


def compare_encoders(
    corpus: Corpus,
    encoders: tuple[EncoderConfig, EncoderConfig],
    *,
    out: Path,
    source: KnowledgeSource | None = None,
    audit_config: AuditConfig | None = None,
    exposure_config: ExposureConfig | None = None,
    queries: Path | None = None,
    qrels: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
) -> CompareResult:
    """Measure a corpus with two encoders, into `out/a` and `out/b`, and compare.

    Exposure always; the audit where the corpus has relations enough for it. queries, qrels: judged
    questions, which an index of each encoder is asked. Raises InputError for a bad corpus or bad
    relations before anything is embedded. Both encoders embed the texts of a store: its vectors can
    be those of one at most.
    """
    from argus.retrievability.audit.job import audit
    from argus.retrievability.exposure.job import exposure

    _check_judged(queries, qrels)
    source, audit_config = source or KnowledgeSource(), audit_config or AuditConfig()
    if open_corpus(corpus).stored is not None:
        corpus = read_corpus(corpus, source.fields, limit=limit)
        source = replace(source, fields=FieldNames())
    why_not = _no_audit(corpus, source, audit_config, limit)
    for name, encoder in zip("ab", encoders, strict=True):
        folder = out / name
        announce(f"compare: {encoder.model} into {folder}")
        exposure(
            corpus, out=folder, encoder=encoder, config=exposure_config, fields=source.fields,
            limit=limit, fresh=fresh,
        )  # fmt: skip
        if why_not is None:
            audit(
                corpus, out=folder, encoder=encoder, source=source, config=audit_config, limit=limit
            )
    measure = exposure_config or ExposureConfig()
    return compare_folders(
        out / "a",
        out / "b",
        out=out,
        notes=[] if why_not is None or source.relations is None else [f"no audit: {why_not}"],
        measures=_judge(
            corpus, encoders, queries, qrels, out, source.fields, measure.parent_field, limit
        ),
        jobs=JOBS if why_not is None else ["exposure"],
        corpus=corpus if measure.by else None,
        parent_field=measure.parent_field if measure.by else None,
        by=measure.by,
    )


def _check_judged(queries: Path | None, qrels: Path | None) -> None:
    if (queries is None) != (qrels is None):
        raise InputError(
            "--queries without --qrels" if qrels is None else "--qrels without --queries",
            expected="questions with their judgements, or neither",
            fix="Give both files.",
            where="argus compare",
        )


def _judge(
    corpus: Corpus,
    encoders: tuple[EncoderConfig, EncoderConfig],
    queries: Path | None,
    qrels: Path | None,
    out: Path,
    fields: FieldNames,
    parent_field: str | None,
    limit: int | None,
) -> Mapping[str, DifferenceFigures] | None:
    """Ask judged questions of an index of each encoder, in `out/a/index` and `out/b/index`."""
    from argus.evaluation.config import EvaluateConfig
    from argus.evaluation.job import evaluate
    from argus.indexes.job import build_index

    if queries is None or qrels is None:
        return None
    for name, encoder in zip("ab", encoders, strict=True):
        build_index(
            corpus, out=out / name / "index", encoder=encoder, fields=fields,
            store=out / name / "embeddings", limit=limit,
        )  # fmt: skip
    indexes = [str(out / name / "index") for name in "ab"]
    comparison = evaluate(
        queries, qrels, out=out / "judged", indexes=indexes, fields=fields,
        corpus=corpus if parent_field else None, config=EvaluateConfig(parent_field=parent_field),
    ).summary["comparison"]  # fmt: skip
    assert comparison is not None  # of two systems
    return {measure: comparison[measure] for measure in TOLD if measure in comparison}


def _no_audit(
    corpus: Corpus, source: KnowledgeSource, config: AuditConfig, limit: int | None
) -> str | None:
    """Return why entities and relations are too few for an audit; None where they are enough.

    Raises InputError for files that cannot be read: that is no reason to leave the audit out.
    """
    from argus.retrievability.audit.job import check_pool

    base = read_knowledge(open_corpus(corpus, limit=limit), source).base
    try:
        check_pool(base.relations.restrict(base.has_text), config)
    except ArgusError as error:
        return str(error)
    return None


@one_writer
def compare_indexes(
    names: tuple[str, str],
    *,
    out: Path,
    queries: Path | Sequence[Query] = (),
    corpus: NamedCorpus | None = None,
    diagnosis: Path | None = None,
    k: int = TOP_K,
    hybrid: Sequence[str] = (),
    exact: bool | None = None,
    weights: Sequence[float] = (),
    parent_field: str | None = None,
    by: Sequence[str] = (),
    fields: FieldNames | None = None,
    fresh: bool = False,
) -> CompareResult:
    """Ask two indexes for every document by its own title, and given queries; compare the top k.

    names: `PATH`, `PATH@original` or `PATH@REMEDY`. diagnosis: folder with diagnosis.parquet, whose
    entities are asked for by name; without it documents alone are compared. hybrid, exact, weights:
    as for `argus.evaluate`. parent_field: where the chunks of `corpus` name their document. by:
    fields of `corpus`, by which what is lost and gained is told, too. fields: its columns.
    """
    fusions, lambdas = rankings(hybrid, len(names)), one_for_each(weights, len(names))
    questions = read_queries(queries) if isinstance(queries, Path) else list(queries)
    named = open_corpus(corpus) if corpus else None
    documents = named.documents(fields or FieldNames()) if named else None
    parents = ParentFold.of(parent_field, documents)
    slicer = Slicer.by(by, documents, parents)
    entities = documents_by_entity(diagnosis) if diagnosis else None
    folder = ArtifactFolder(out, fresh=fresh)
    record = Record(
        "comparison",
        {
            "before": names[0], "after": names[1], "k": k, "queries": len(questions),
            "hybrid": fusions, "parent_field": parent_field, "by": list(by),
        },
        {
            "corpus": named.origin if named else None,
            "queries": queries if isinstance(queries, Path) else None,
            "diagnosis": diagnosis_file(diagnosis) if diagnosis else None,
        },
    )  # fmt: skip
    about = [parse_index_spec(name).path for name in names]
    check_folder(folder, record, about=about)
    indexes = [
        open_index(name, ranked_by=fusion, exact=exact, weight=weight)
        for name, fusion, weight in zip(names, fusions, lambdas, strict=True)
    ]
    record.config["exact"] = [retriever.searches_exactly() for _, retriever in indexes]
    record.config["lambda"] = [retriever.weight for _, retriever in indexes]
    with record.timed("asking both"):
        lists = compare_states(
            indexes, questions, k=k, corpus=documents, entities=entities, parents=parents
        )
    comparison = Comparison(
        "indexes",
        [name for name, _ in indexes],
        [retriever.encoder.fingerprint for _, retriever in indexes],
        lists.rows, lists.queries, lists.figures, lists.notes,
        slices=changes_by_slice(slicer, lists.rows),
    )  # fmt: skip
    return write_comparison(folder, record, about, comparison)


def write_comparison(
    folder: ArtifactFolder, record: Record, about: Sequence[Path], comparison: Comparison
) -> CompareResult:
    """Write tables, summary, manifest and report. about: folders whose results it speaks of."""
    table = pa.Table.from_pylist(comparison.rows, schema=SCHEMA)
    summary: ComparisonSummary = {
        "of": comparison.of,
        "names": list(comparison.names),
        "fingerprints": list(comparison.fingerprints),
        "notes": list(comparison.notes),
        **comparison.figures,
        **comparison.slices.figures(),
        "gained": _first(table, "gained"),
        "lost": _first(table, "lost"),
    }
    record.encoder["fingerprint"] = " | ".join(dict.fromkeys(comparison.fingerprints))
    record.open(folder, about=about)
    if "slices" in summary:
        folder.write_table(SLICES, slice_table(comparison.slices.shares), csv=True)
    folder.write_table("comparison", table, csv=True)
    if comparison.queries is not None:
        changes = pa.Table.from_pylist(comparison.queries, schema=QUERY_SCHEMA)
        folder.write_table("comparison_queries", changes, csv=True)
    if comparison.only is not None:
        only = pa.Table.from_pylist(comparison.only, schema=ONLY_SCHEMA)
        folder.write_table("comparison_only", only, csv=True)
    folder.write_results("comparison", summary, record.manifest(summary["verdicts"]))
    return CompareResult(folder.path, write_report(folder.path), summary, table)


def _first(table: pa.Table, verdict: str) -> list[ComparisonRow]:
    """Return the first rows of a verdict, as the table holds them: a rank is a float."""
    rows: list[ComparisonRow] = table.select(SCHEMA.names).to_pylist()
    return [row for row in rows if row["verdict"] == verdict][:NAMED]


@one_writer
def compare_retrievers(
    retrievers: Sequence[Any] = (),
    *,
    out: Path | str,
    runs: Sequence[Path | Run] = (),
    indexes: Sequence[str] = (),
    queries: Path | str | Sequence[Query] = (),
    qrels: Path | str | Qrels | None = None,
    corpus: NamedCorpus | None = None,
    k: int = TOP_K,
    parent_field: str | None = None,
    by: Sequence[str] = (),
    encoder: Encoder | EncoderConfig | str | None = None,
    hybrid: Sequence[str] = (),
    exact: bool | None = None,
    weights: Sequence[float] = (),
    asking: AskingConfig | None = None,
    fields: FieldNames | None = None,
    fresh: bool = False,
) -> CompareResult:
    """Compare the top k of two, which stand in the order indexes, retrievers, runs.

    retrievers: named (see `argus.retrievers.names`), or objects that retrieve; runs: files, TREC or
    JSON, or runs. queries: what is asked; of two runs their texts, to show. qrels: whose relevant
    documents are told apart. corpus: titles, and what retrievers may need, by the columns that
    `fields` names. parent_field: folds its chunks to documents; retrievers are asked deeper then.
    by: fields of the corpus, by which what is lost and gained is told, too. encoder: of a store's
    queries, and of an index that names none. hybrid, exact, weights: of the indexes, as for
    `argus.evaluate`. A query that fails on one side is left out. Raises InputError for bad input,
    ArgusError where no query is answered by both.
    """
    fusions, lambdas = rankings(hybrid, len(indexes)), one_for_each(weights, len(indexes))
    asking = asking or AskingConfig()
    files = {"queries": queries, "qrels": qrels}
    questions = read_queries(Path(queries)) if isinstance(queries, str | Path) else list(queries)
    judged = None if qrels is None else read_judgements(qrels)
    _check_two(indexes, retrievers, runs, questions)
    named = open_corpus(corpus) if corpus else None
    documents = named.documents(fields or FieldNames()) if named else []
    parents = ParentFold.of(parent_field, documents if corpus else None)
    slicer = Slicer.by(by, documents if corpus else None, parents)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = _record(k, runs, files, named)
    record.config |= {"parent_field": parent_field, "by": list(by)}
    about = [parse_index_spec(name).path for name in indexes]
    check_folder(folder, record, about=about)
    with record.timed("asking"), ExitStack() as stack:
        states = [
            open_index(name, encoder, fusion, exact, weight)
            for name, fusion, weight in zip(indexes, fusions, lambdas, strict=True)
        ]
        things = [*(state for _, state in states), *retrievers]
        answers = folder.path / ANSWERS
        sources = stack.enter_context(all_opened(things, documents, asking, answers, encoder))
        if sources:
            note_retrievers(things, sources, asking, folder, record, about)
        depth = deeper(k, parents)
        systems = [ask_retriever(source, questions, depth) for source in sources]
        systems[: len(states)] = [
            replace(system, name=name) for (name, _), system in zip(states, systems, strict=False)
        ]
        systems += [_of_run(run, i, questions if sources else ()) for i, run in enumerate(runs, 1)]
    record.config |= {"before": systems[0].name, "after": systems[1].name}
    with record.timed("comparing"):
        comparison = _compared(systems, questions, documents, judged, parents, k, slicer)
    return write_comparison(folder, record, about, comparison)


def _compared(
    systems: Sequence[System],
    questions: Sequence[Query],
    documents: Sequence[Document],
    judged: Qrels | None,
    parents: ParentFold | None,
    k: int,
    slicer: Slicer | None,
) -> Comparison:
    """Compare two systems; parents: as documents, where what they bring back are chunks."""
    if parents is not None:
        systems = [fold_system(system, parents) for system in systems]
        documents, judged = parents.documents(documents), judged and parents.qrels(judged)
    lists = compare_lists((systems[0], systems[1]), questions, documents, k=k, qrels=judged)
    return Comparison(
        "runs" if all(s.fingerprint == RUN_FILE for s in systems) else "retrievers",
        [system.name for system in systems],
        [system.fingerprint for system in systems],
        lists.rows, lists.queries, lists.figures, lists.notes, lists.only,
        changes_by_slice(slicer, lists.rows, lists.pairs),
    )  # fmt: skip


def _check_two(
    indexes: Sequence[str],
    retrievers: Sequence[Any],
    runs: Sequence[Path | Run],
    queries: Sequence[Query],
) -> None:
    if len(indexes) + len(retrievers) + len(runs) != 2:
        raise InputError(
            f"{len(indexes)} indexes, {len(retrievers)} retrievers and {len(runs)} runs",
            expected="two, before and after",
            fix="Name them with --index, --retriever and --run.",
            where="--index, --retriever, --run",
        )
    if not queries and len(runs) < 2:
        raise InputError(
            "no queries",
            expected="what to ask a retriever",
            fix="Give --queries FILE.",
            where="--queries",
        )


def _record(
    k: int,
    runs: Sequence[Path | Run],
    files: dict[str, Any],
    corpus: CorpusSource | None,
) -> Record:
    sides = ("before", "after")[-len(runs) :] if runs else ()
    return Record(
        "comparison",
        {"k": k},
        {
            **{
                s: run if isinstance(run, Path) else None
                for s, run in zip(sides, runs, strict=True)
            },
            "corpus": corpus.origin if corpus else None,
            **{name: Path(v) for name, v in files.items() if isinstance(v, str | PathLike)},
        },
    )


def _of_run(run: Path | Run, number: int, queries: Sequence[Query]) -> System:
    """Return a run as a system. queries: those that count, all where there are none."""
    content = read_run(run) if isinstance(run, Path) else run
    if queries:
        content = {query.id: content[query.id] for query in queries if query.id in content}
    return System(str(run) if isinstance(run, Path) else f"run {number}", content)
