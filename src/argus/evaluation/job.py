"""Evaluate one system, or two against each other, on judged queries (`argus evaluate`).

The measures, the tests and the statistic of ARGUS' Table 4 are explained in docs/methods.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import Excluded, first_rank, spare, without_excluded
from argus.data.types import Qrels, Query, Run, State
from argus.data.writing import one_writer
from argus.encoders import Encoder
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.diagnosed import diagnosis_file, highest_rps
from argus.evaluation.judged import JudgedQueries, read_judged
from argus.evaluation.parents import Slicer
from argus.evaluation.summary import (
    SLICES,
    EvaluationSummary,
    Implicitness,
    QueryGroup,
    SystemFigures,
    headline,
)
from argus.evaluation.systems import (
    Judged,
    System,
    ask_retriever,
    missing_gold,
    one_for_each,
    open_index,
    rankings,
    run_system,
    search_index,
    system_name,
    without_failed,
)
from argus.indexes.header import parse_index_spec
from argus.indexes.retriever import IndexRetriever
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder
from argus.measures import Evaluation, harmed_queries, is_implicit, rps_association
from argus.measures import compare as compare_measures
from argus.measures import evaluate as score
from argus.measures.association import TABLE_4_K
from argus.measures.implicitness import names_something, overlap
from argus.measures.measures import cutoff
from argus.measures.significance import DifferenceFigures
from argus.measures.slices import (
    SliceShare,
    Slicing,
    Trials,
    slice_figures,
    slice_shares,
    slice_table,
    worst_first,
)
from argus.reports import write_report
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import OpenRetriever, all_opened, note_retrievers
from argus.retrievers.session import ANSWERS

LEXICAL_MEASURES = ("nDCG@10", "R@10", "RR")
MAX_NAMED = 200  # failed and harmed queries in the summary; per_query has all


@dataclass(frozen=True, repr=False)
class EvaluateResult(Result):
    """Measures of one or two systems. Everything in it is also in `folder`."""

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
    """Measure one or two systems. With two, test the second against the first.

    indexes: `PATH`, `PATH@original` or `PATH@REMEDY`. They come before `retrievers` (named as
    `argus.retrievers.names` says, or any object that retrieves), and these before `runs` (TREC or
    JSON files, or runs). corpus: titles and texts, by the columns of `fields`. An index knows its
    own. diagnosis: folder with diagnosis.parquet, for ARGUS' Table 4. encoder: for indexes that
    name none, and for the queries of stores. hybrid: how indexes fuse vectors with BM25 ("min-max",
    "rrf", "dbsf", or "dense" for not at all), one for all or one for each. exact: None searches
    each index as it is served. weights: λ of documents against scenarios, one for all indexes or
    one for each. excluded: documents to remove from each query's results, or a file of them. Raises
    InputError for bad input, ArgusError if every query failed. Nothing is written before all input
    has been read.
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
    highest = _read_rps(diagnosis, questions)
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
        systems = _ask(questions, config.depth, searched, sources, runs)
    record.config |= {"hybrid": fusions, "exact": [r.searches_exactly() for _, r in searched]}
    record.config["lambda"] = [retriever.weight for _, retriever in searched]
    return _write(questions, systems, config, highest, folder, record, about)


@one_writer
def evaluate_states(
    questions: JudgedQueries,
    states: Sequence[IndexRetriever],
    *,
    out: Path | str,
    diagnosis: Path | None = None,
) -> EvaluateResult:
    """Measure one or two states of open indexes, as `evaluate` does by their names."""
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
        systems = _ask(questions, config.depth, list(zip(labels, states, strict=True)))
    record.config |= {"hybrid": [state.hybrid for state in states], "exact": exactly}
    record.config["lambda"] = [state.weight for state in states]
    return _write(questions, systems, config, highest, folder, record, about)


def _read_rps(diagnosis: Path | None, questions: JudgedQueries) -> Mapping[str, float] | None:
    if diagnosis is None:
        return None
    highest = highest_rps(diagnosis)
    return highest if questions.fold is None else questions.fold.best(highest)


def _record(
    config: EvaluateConfig,
    indexes: Sequence[str],
    questions: JudgedQueries,
    diagnosis: Path | None,
    runs: Sequence[Path | Run],
) -> Record:
    files = {f"run {i}": run for i, run in enumerate(runs, start=1) if isinstance(run, Path)}
    excluded = sum(map(len, questions.excluded.values()))
    return Record(
        "evaluation",
        {
            **asdict(config),
            "indexes": list(indexes),
            **({"excluded": excluded} if excluded else {}),
        },
        {
            **questions.files,
            **files,
            "corpus": questions.corpus,
            "diagnosis": diagnosis_file(diagnosis) if diagnosis else None,
        },
    )


def _ask(
    questions: JudgedQueries,
    depth: int,
    indexes: Sequence[tuple[str, IndexRetriever]],
    retrievers: Sequence[OpenRetriever] = (),
    runs: Sequence[Path | Run] = (),
) -> list[System]:
    queries, deep = questions.queries, depth + questions.spare
    systems = [search_index(name, index, queries, deep) for name, index in indexes]
    systems += [ask_retriever(retriever, queries, deep) for retriever in retrievers]
    systems += [run_system(run, queries, deep, f"run {i}") for i, run in enumerate(runs, start=1)]
    return questions.folded_systems(systems, depth)


def _write(
    questions: JudgedQueries,
    systems: Sequence[System],
    config: EvaluateConfig,
    highest: Mapping[str, float] | None,
    folder: ArtifactFolder,
    record: Record,
    about: Sequence[Path],
) -> EvaluateResult:
    """Measure, then write the results. Nothing is written before all is measured."""
    judged = without_failed(questions.judged, systems)
    record.encoder["fingerprint"] = " | ".join(dict.fromkeys(s.fingerprint for s in systems))
    with record.timed("measuring"):
        scored = [score(s.run, judged.qrels, config.measures) for s in systems]
        found = _Measured(questions.queries, judged, systems, scored, config)
        words = _share_words(found)
        summary = _summarise(found, words, highest)
        if questions.fold is not None:
            summary["parents"] = questions.fold.figures()
        table = _tabulate(found, words)
        slicings, shares = _means_by_slice(found, questions)
    record.open(folder, about=about)
    folder.write_table("per_query", table, csv=True)
    if slicings:
        summary["slices"] = slice_figures(slicings, shares)
        folder.write_table(SLICES, slice_table(shares), csv=True)
    folder.write_results("evaluation", summary, record.manifest({**summary["queries"]}))
    return EvaluateResult(folder.path, write_report(folder.path), summary, table)


class _Measured(NamedTuple):
    """One system, or two (before and after), with its measures on the judged queries."""

    queries: Sequence[Query]
    judged: Judged
    systems: Sequence[System]
    scored: Sequence[Evaluation]
    config: EvaluateConfig

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Ends of the columns of each system."""
        return ("",) if len(self.systems) == 1 else (" before", " after")

    def first_relevant(self, system: int, query_id: str) -> int | None:
        """Return the rank of the first relevant document."""
        relevant = set(self.judged.relevant(query_id))
        return first_rank(self.systems[system].run.get(query_id, {}), relevant)

    def compare(self, sides: Sequence[Evaluation]) -> dict[str, DifferenceFigures] | None:
        """Test the second of two against the first. None for one system."""
        if len(sides) < 2:
            return None
        seed, resamples = self.config.seed, self.config.resamples
        differences = compare_measures(sides[0], sides[1], seed=seed, resamples=resamples)
        return {name: difference.figures() for name, difference in differences.items()}


Words = dict[str, tuple[bool | None, float | None]]
"""By query: whether it is implicit, and the share of its words in its best relevant text."""


def _share_words(found: _Measured) -> Words:
    """Compare each query's words with the titles and texts of its relevant documents.

    None stands for a query without a relevant title, or without a relevant text.
    """
    titles: dict[str, str] = {}
    texts: dict[str, str] = {}
    for system in found.systems:
        titles |= system.titles
        texts = {**system.texts, **texts}
    words: Words = {}
    for id_, query in found.judged.queries.items():
        relevant = found.judged.relevant(id_)
        names = [titles[doc] for doc in relevant if doc in titles]
        implicit = is_implicit(query.text, names) if names_something(names) else None
        words[id_] = implicit, overlap(query.text, [texts[doc] for doc in relevant if doc in texts])
    return words


def _summarise(
    found: _Measured, words: Words, highest: Mapping[str, float] | None
) -> EvaluationSummary:
    """Return the figures of the report. No value in it is NaN."""
    judged, config, systems = found.judged, found.config, found.systems
    depths = [system.longest for system in systems if system.longest is not None]
    deep = min([config.depth, *depths])
    association = None
    if highest is not None:
        association = [
            rps_association(
                system.run, judged.qrels, highest, seed=config.seed, resamples=config.resamples,
                ks=[k for k in TABLE_4_K if k <= deep], indexed=system.documents,
            )
            for system in systems
        ]  # fmt: skip
    documents = None
    before, after = systems[0].documents, systems[-1].documents
    if len(systems) == 2 and before is not None and after is not None:
        sides = before & after, before - after, after - before
        documents = dict(zip(("both", "only_before", "only_after"), map(len, sides), strict=True))
    failed = [{"query_id": id_, "reason": reason} for id_, reason in judged.failed.items()]
    return {
        "headline": config.headline,
        "depth": config.depth,
        "queries": {
            "total": len(found.queries),
            "measured": len(judged.queries),
            "failed": len(judged.failed),
            "not applicable": len(judged.reasons),
            "reasons": dict(Counter([*judged.reasons.values(), *judged.failed.values()])),
        },
        "failed": failed[:MAX_NAMED],
        "judged_but_not_asked": {"queries": len(judged.not_asked), "ids": judged.not_asked[:50]},
        "systems": [_system_figures(found, i) for i in range(len(systems))],
        "documents": documents,
        "comparison": found.compare(found.scored),
        "harmed": _harmed(found) if len(systems) == 2 else None,
        "implicitness": _implicitness(found, words),
        "association": association,
        "association_left_out": [k for k in TABLE_4_K if k > deep and highest is not None],
    }


def _system_figures(found: _Measured, i: int) -> SystemFigures:
    system, judged = found.systems[i], found.judged
    lists = {query: system.run.get(query, {}) for query in judged.queries}
    longest, warning = system.longest, system.warning
    ids = {id_ for grades in judged.qrels.values() for id_ in grades}
    first = next((id_ for scores in lists.values() for id_ in scores), None)
    if not warning and first is not None and all(ids.isdisjoint(s) for s in lists.values()):
        warning = (
            f"no result of {len(lists):,} queries is a judged document: the first is {first!r}, "
            f"judged is {next(iter(sorted(ids)), '')!r}; mind --result-id"
        )
    return {
        "name": system.name,
        "fingerprint": system.fingerprint,
        "documents": None if system.documents is None else len(system.documents),
        "queries_without_results": sum(not scores for scores in lists.values()),
        "longest_list": longest,
        "beyond_its_lists": [
            measure
            for measure in found.config.measures
            if longest is not None and (cutoff(measure) or 0) > longest
        ],
        "kept": system.kept,
        "warning": warning,
        "missing_judged_documents": missing_gold(system, judged),
        "measures": found.scored[i].aggregate,
    }


def _harmed(found: _Measured) -> list[Any]:
    changes = harmed_queries(found.scored[0], found.scored[1], found.config.headline)
    return [
        {
            "query_id": change.query_id,
            "text": found.judged.queries[change.query_id].text,
            "before": change.before,
            "after": change.after,
            "difference": change.difference,
            "rank_before": found.first_relevant(0, change.query_id),
            "rank_after": found.first_relevant(1, change.query_id),
        }
        for change in changes[:MAX_NAMED]
    ]


def _implicitness(found: _Measured, words: Words) -> Implicitness:
    implicit = [id_ for id_, (yes, _) in words.items() if yes]
    sharing = [id_ for id_, (yes, _) in words.items() if yes is False]
    groups: list[QueryGroup] = []
    for name, ids in (("implicit", implicit), ("sharing", sharing)):
        if ids:
            parts = [
                Evaluation(
                    {m: sum(e.per_query[q][m] for q in ids) / len(ids) for m in e.aggregate},
                    {q: e.per_query[q] for q in ids},
                )
                for e in found.scored
            ]
            measures, comparison = [part.aggregate for part in parts], found.compare(parts)
            groups.append(
                {"name": name, "queries": len(ids), "measures": measures, "comparison": comparison}
            )
    known = [value for _, value in words.values() if value is not None]
    total = len(implicit) + len(sharing)
    return {
        "measured": total,
        "not_applicable": len(words) - total,
        "implicit": len(implicit),
        "share": len(implicit) / total if total else None,
        "mean_overlap": sum(known) / len(known) if known else None,
        "overlap_measured": len(known),
        "bm25": _score_bm25(found),
        "groups": groups,
    }


def _score_bm25(found: _Measured) -> dict[str, float] | None:
    """Return the measures of BM25 over the same texts. None if no texts are known."""
    texts = next((system.texts for system in found.systems if system.texts), None)
    if not texts:
        return None
    from argus.indexes.lexical import LexicalIndex

    ids = sorted(texts)
    index = LexicalIndex.build(ids, [texts[i] for i in ids])
    queries, excluded = found.judged.queries, found.judged.excluded
    depth = max(found.config.depth, *(cutoff(name) or 0 for name in LEXICAL_MEASURES))
    hits = index.search([q.text for q in queries.values()], depth + spare(excluded))
    run = without_excluded(hits.run(list(queries)), excluded, depth)
    return score(run, found.judged.qrels, LEXICAL_MEASURES).aggregate


def _tabulate(found: _Measured, words: Words) -> pa.Table:
    """Return a row per query, in their order. Missing values are null.

    `relevant` documents, whether it is `implicit`, and the `overlap` of its words with the best
    relevant text. Then, per system: `rank` of the first relevant document, relevant documents that
    are `not_indexed`, and each measure. Of two systems these end in ` before` and ` after`, and
    measures have a ` difference`.
    """
    judged, fields, columns = found.judged, [], []

    def add(name: str, kind: pa.DataType, value: Callable[[str], Any]) -> None:
        fields.append(pa.field(name, kind))
        columns.append([value(q.id) if q.id in judged.queries else None for q in found.queries])

    states = [
        (State.NOT_APPLICABLE, judged.reasons[q.id])
        if q.id in judged.reasons
        else (State.FAILED, judged.failed[q.id])
        if q.id in judged.failed
        else (State.MEASURED, "")
        for q in found.queries
    ]
    plain = {
        "query_id": [query.id for query in found.queries],
        "text": [query.text for query in found.queries],
        "state": [str(state) for state, _ in states],
        "reason": [reason for _, reason in states],
    }
    add("relevant", pa.int64(), lambda id_: len(judged.relevant(id_)))
    add("implicit", pa.bool_(), lambda id_: words[id_][0])
    add("overlap", pa.float64(), lambda id_: words[id_][1])
    for i, (system, suffix) in enumerate(zip(found.systems, found.suffixes, strict=True)):
        held = system.documents

        def missing(id_: str, held: frozenset[str] | None = held) -> int | None:
            return None if held is None else sum(doc not in held for doc in judged.relevant(id_))

        add(f"rank{suffix}", pa.int64(), partial(found.first_relevant, i))
        add(f"not_indexed{suffix}", pa.int64(), missing)
    for measure in found.scored[0].aggregate:
        sides = [{q: row[measure] for q, row in e.per_query.items()} for e in found.scored]
        for side, suffix in zip(sides, found.suffixes, strict=True):
            add(f"{measure}{suffix}", pa.float64(), side.__getitem__)
        if len(sides) == 2:
            before, after = sides
            difference = {q: after[q] - value for q, value in before.items()}
            add(f"{measure} difference", pa.float64(), difference.__getitem__)
    schema = pa.schema([*((name, pa.string()) for name in plain), *fields])
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in
         zip([*plain.values(), *columns], schema, strict=True)],
        schema=schema,
    )  # fmt: skip


def _means_by_slice(
    found: _Measured, questions: JudgedQueries
) -> tuple[list[Slicing], list[SliceShare]]:
    """Return the mean of the headline measure by slice, the worst first, for each system.

    A query is in the slices of all of its relevant documents, and of their chunks if these are
    folded. Raises InputError for a measure beyond 0 to 1, and as `Slicer.by` does.
    """
    slicer = Slicer.by(found.config.by, questions.documents, questions.fold)
    if slicer is None:
        return [], []
    judged, measure = found.judged, found.config.headline
    slices = slicer.of(judged.relevant(query) for query in judged.queries)
    shares: list[SliceShare] = []
    for evaluation, suffix in zip(found.scored, found.suffixes, strict=True):
        values = np.array([evaluation.per_query[q][measure] for q in judged.queries])
        if values.min() < 0 or values.max() > 1:
            raise InputError(
                f"{measure} goes beyond 0 to 1",
                expected="a headline measure that is a share",
                fix="Name another with --headline, such as nDCG@10.",
                where="--by",
            )
        trials = Trials(f"{measure}{suffix}", np.arange(len(values)), values)
        shares += slice_shares(slices, trials)
    return slices, worst_first(shares)
