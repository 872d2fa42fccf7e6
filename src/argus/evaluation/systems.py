"""What is evaluated or compared: an index that is searched, or a run that someone made."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from argus.data.excluded import Excluded
from argus.data.runs import RUN_FILE, cut
from argus.data.types import Document, Qrels, Query, Run
from argus.encoders.store import store_of
from argus.errors import ArgusError, InputError
from argus.evaluation.summary import MissingDocuments
from argus.indexes.weighing import DENSE

if TYPE_CHECKING:
    from argus.encoders import EmbeddingStore, Encoder, EncoderConfig
    from argus.indexes.retriever import IndexRetriever
    from argus.retrievers.opening import OpenRetriever

RETRIEVER = "retriever"
"""In place of an encoder's fingerprint, where a retriever was asked and not looked into."""
"""In place of a fusion: vectors alone."""


@dataclass(frozen=True)
class System:
    """One system's answers, and what is known of its documents."""

    name: str
    run: Run
    fingerprint: str = RUN_FILE
    """Of the encoder; RUN_FILE where nothing is known of it."""
    documents: frozenset[str] | None = None
    """Ids in the index; None for a run, whose index is not at hand."""
    titles: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    """Of the documents that are known."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Query id to why it could not be asked: it has no answer, and no measure."""
    longest: int | None = None
    """Results of the longest list of a given run; None for an index, which is asked for enough."""
    kept: int = 0
    """Answers that an earlier run got, and that were not asked for again."""
    warning: str | None = None
    """What is doubtful about its answers."""


def rankings(hybrid: Sequence[str], n_indexes: int) -> list[str | None]:
    """Return by what each index ranks: DENSE, the fusion of that and BM25, or None: as it says.

    hybrid: nothing (all as they say), one for all indexes, or one for each. Raises InputError for
    another number and for an unknown fusion.
    """
    from argus.indexes.retriever import check_hybrid

    for name in hybrid:
        check_hybrid(name)
    if len(hybrid) not in {0, 1, n_indexes} or len(hybrid) > n_indexes:
        raise InputError(
            f"{len(hybrid)} rankings for {n_indexes} indexes",
            expected=f"one for all indexes, or one for each ({DENSE}: without BM25)",
            fix="Runs are as they are: leave it out for those.",
            where="--hybrid",
        )
    ways: list[str | None] = [*hybrid] or [None]
    return ways if len(ways) == n_indexes else ways * n_indexes


def one_for_each(weights: Sequence[float], n_indexes: int) -> list[float | None]:
    """Return λ of each index, None for what it says; InputError for another number of them."""
    if len(weights) not in {0, 1, n_indexes} or len(weights) > n_indexes:
        raise InputError(
            f"{len(weights)} weights for {n_indexes} indexes",
            expected="one for all indexes, or one for each",
            fix="Runs are as they are: leave it out for those.",
            where="--lambda",
        )
    if not weights:
        return [None] * n_indexes
    return [*weights] if len(weights) == n_indexes else [*weights] * n_indexes


def open_index(
    name: str,
    encoder: Encoder | EncoderConfig | str | None = None,
    ranked_by: str | None = None,
    exact: bool | None = None,
    weight: float | None = None,
) -> tuple[str, IndexRetriever]:
    """Open an index named `PATH`, `PATH@original` or `PATH@REMEDY`; return what to call it, too.

    encoder: instead of the one that the index names; FingerprintMismatch when it is another.
    ranked_by: as `rankings` returns. exact: None searches as the index is served. weight: λ of
    documents against scenarios. All become part of the name where they are not the usual: as the
    index says, exact, and None.
    """
    from argus.indexes.retriever import open_retriever

    retriever = open_retriever(name, encoder, hybrid=ranked_by, exact=exact, weight=weight)
    exactly = retriever.searches_exactly()
    blend = retriever.recipe.blend
    usual = ranked_by == DENSE and not (blend and blend.bm25)
    way = None if usual else ranked_by
    return system_name(name, way, exactly=exactly, weight=weight), retriever


def system_name(
    name: str, ranked_by: str | None = None, *, exactly: bool = True, weight: float | None = None
) -> str:
    """Return what to call an index in a report: one of two states may be searched in two ways."""
    ways = [] if exactly else ["approximate search"]
    ways += [] if weight is None else [f"λ = {weight:g}"]
    if ranked_by is not None:
        ways.append("vectors alone" if ranked_by == DENSE else f"{ranked_by} with BM25")
    return f"{name} ({', '.join(ways)})" if ways else name


def contents(name: str, retriever: IndexRetriever) -> System:
    """Return what an index holds in the retriever's state, before anything is asked of it."""
    from argus.indexes.snapshot import rows_to_views

    views = list(rows_to_views(retriever.index.rows(retriever.as_of)))
    return System(
        name,
        {},
        fingerprint=retriever.encoder.fingerprint,
        documents=frozenset(view.doc_id for view in views),
        titles={v.doc_id: v.source for v in views if v.kind == "original" and v.source.strip()}
        | {v.doc_id: v.text for v in views if v.kind == "title"},
        texts={v.doc_id: v.text for v in views if v.kind == "original"},
        warning=retriever.warning,
    )


def search_index(
    name: str, retriever: IndexRetriever, queries: Sequence[Query], depth: int
) -> System:
    """Ask an index every query; keep `depth` results."""
    system = contents(name, retriever)
    if not queries:
        return system
    run, failures = ask(retriever, queries, depth)
    return replace(system, run=run, failed=failures)


def ask(
    retriever: IndexRetriever, queries: Sequence[Query], depth: int
) -> tuple[Run, dict[str, str]]:
    """Return the run, and the queries that the encoder rejects with its reason.

    Their vectors are kept with those of the index, where it has a folder for them that can be
    written: an endpoint is asked once. A query without text finds nothing. Raises EncodingError
    when the encoder itself is in trouble, or rejects all that is asked.
    """
    from argus.encoders import embed
    from argus.encoders import queries as as_queries

    questions = [q for q in queries if q.text.strip()]
    run: Run = {q.id: {} for q in queries}
    if not questions:
        return run, {}
    with _query_store(retriever) as store:
        items = as_queries([q.text for q in questions])
        embedded = embed(items, retriever.encoder, store, what="queries")
    failures = {questions[i].id: reason for i, reason in embedded.failures.items()}
    embeddable = [q for q in questions if q.id not in failures]
    if embeddable:
        run |= retriever.rank(embeddable, embedded.vectors, depth)
    return {query: scores for query, scores in run.items() if query not in failures}, failures


@contextmanager
def _query_store(retriever: IndexRetriever) -> Iterator[EmbeddingStore]:
    """Open the index's own store where it is whole, free and of this encoder, or a passing one."""
    from argus.encoders import EmbeddingStore, stored_fingerprint

    own, encoder = store_of(retriever.index.path), retriever.encoder
    store = None
    try:
        if stored_fingerprint(own) == encoder.fingerprint and os.access(own, os.W_OK):
            store = EmbeddingStore(own, fingerprint=encoder.fingerprint, dim=encoder.dim)
    except (ArgusError, OSError):
        pass  # it is broken, or another run writes to it: these vectors are not worth a stop
    if store is not None:
        with store:
            yield store
        return
    with (
        TemporaryDirectory() as folder,
        EmbeddingStore(Path(folder), fingerprint=encoder.fingerprint, dim=encoder.dim) as passing,
    ):
        yield passing


def ask_retriever(retriever: OpenRetriever, queries: Sequence[Query], depth: int) -> System:
    """Ask a retriever every query; keep `depth` results. Of an index all is known."""
    from argus.retrievers.answering_index import AnsweringIndex

    answers = retriever.ask(queries, depth)
    if isinstance(retriever.source, AnsweringIndex):
        system = contents(retriever.name, retriever.source.retriever)
    else:
        longest = max(map(len, answers.run.values()), default=0)
        system = System(
            retriever.name, {}, fingerprint=retriever.fingerprint or RETRIEVER, longest=longest
        )
    return replace(
        system, run=answers.run, failed=answers.failed, kept=answers.kept,
        warning=answers.warning,
    )  # fmt: skip


def run_system(run: Path | Run, queries: Sequence[Query], depth: int, name: str) -> System:
    """Take a run, or read it from a file; keep its results for `queries`, `depth` of each.

    Raises InputError when the run answers none of the queries.
    """
    from argus.retrievers.run_file import run_answers

    results = run_answers(run, queries, name).run
    longest = max(map(len, results.values()))
    return System(str(run) if isinstance(run, Path) else name, cut(results, depth), longest=longest)


def with_corpus(system: System, corpus: Sequence[Document]) -> System:
    """Return the system with titles and texts from a corpus; a run gets its documents, too."""
    return replace(
        system,
        documents=frozenset(d.id for d in corpus) if system.documents is None else system.documents,
        titles={d.id: d.title for d in corpus if d.title.strip()},
        texts={d.id: d.content for d in corpus},
    )


@dataclass(frozen=True)
class Judged:
    """The queries that can be measured, why others cannot, and which ones failed to be."""

    queries: dict[str, Query]
    qrels: Qrels
    """Of exactly those queries."""
    reasons: dict[str, str]
    """Query id to why it is not applicable."""
    not_asked: list[str]
    """Judged query ids that are not among the queries."""
    failed: dict[str, str] = field(default_factory=dict)
    """Query id to why it could not be asked."""
    excluded: Excluded = field(default_factory=dict)
    """What is taken out of each query's results before they are measured."""

    def relevant(self, query_id: str) -> list[str]:
        """Return the relevant documents of a query, by id."""
        return sorted(doc for doc, grade in self.qrels[query_id].items() if grade > 0)


def judge(queries: Sequence[Query], qrels: Qrels, excluded: Excluded | None = None) -> Judged:
    """Set queries beside judgements. Raises InputError when no query can be measured."""
    reasons: dict[str, str] = {}
    for query in queries:
        if query.id not in qrels:
            reasons[query.id] = "no judgement"
        elif not query.text.strip():
            reasons[query.id] = "the query has no text"
        elif not any(grade > 0 for grade in qrels[query.id].values()):
            reasons[query.id] = "no relevant document is judged"
    measurable = {q.id: q for q in queries if q.id not in reasons}
    ids = {q.id for q in queries}
    if not measurable:
        raise InputError(
            "the judgements hold no relevant document for any query"
            if ids & qrels.keys()
            else f"the judgements name none of the {len(queries):,} queries "
            f"(they name {_some(qrels)}; the queries are {_some(ids)})",
            expected="a query with a relevant document (score above 0)",
            fix="Check that queries and judgements belong together.",
            where="--qrels",
        )
    judgements = {id_: dict(qrels[id_]) for id_ in measurable}
    unknown = sorted(qrels.keys() - ids)
    return Judged(measurable, judgements, reasons, unknown, excluded=excluded or {})


def without_failed(judged: Judged, systems: Iterable[System]) -> Judged:
    """Take the queries that some system could not be asked out of those that are measured.

    A pair of systems is compared on what both were asked. Raises ArgusError when none is left.
    """
    failures = {q: why for s in systems for q, why in s.failed.items() if q in judged.queries}
    queries = {id_: query for id_, query in judged.queries.items() if id_ not in failures}
    if not queries:
        raise ArgusError(
            f"Nothing can be measured: all {len(failures):,} judged queries failed. "
            f"The first: {next(iter(failures.values()))}"
        )
    qrels = {id_: judged.qrels[id_] for id_ in queries}
    return replace(judged, queries=queries, qrels=qrels, failed=failures)


def require_gold(qrels: Qrels, documents: Collection[str], where: str = "--qrels") -> None:
    """Raise InputError where a corpus holds none of the documents that are relevant."""
    relevant = {id_ for grades in qrels.values() for id_, grade in grades.items() if grade > 0}
    if relevant.isdisjoint(documents):
        raise InputError(
            f"holds none of the {len(relevant):,} relevant documents ({_some(relevant)}); its own "
            f"are {_some(documents)}",
            expected="the corpus that was judged",
            fix="Check that index (or corpus) and judgements belong together; where it holds "
            "chunks of what was judged, name the field of their document with --parent-field.",
            where=where,
        )


def missing_gold(system: System, judged: Judged) -> MissingDocuments | None:
    """Count relevant documents that the index does not hold; None where that is not known.

    Such a document is not one that the retriever failed to bring back. It stays in the measures,
    as trec_eval has it, and is named. Raises InputError when the index holds no relevant one.
    """
    if system.documents is None:
        return None
    pairs = [(q, d) for q in judged.queries for d in judged.relevant(q)]
    absent = [(q, d) for q, d in pairs if d not in system.documents]
    require_gold(judged.qrels, system.documents, where=system.name)
    without = {q for q, _ in absent}
    reachable = {q for q, d in pairs if d in system.documents}
    documents = sorted({d for _, d in absent})
    return {
        "documents": len(documents),
        "pairs": len(absent),
        "queries": len(without),
        "queries_without_any": len(without - reachable),
        "ids": documents[:50],
    }


def _some(ids: Iterable[str]) -> str:
    unique = sorted(set(ids))
    return ", ".join(map(repr, unique[:3])) + (", ..." if len(unique) > 3 else "")
