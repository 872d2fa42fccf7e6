"""What is evaluated or compared: an index that is searched, or a run that someone made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.runs import cut, read_run
from argus.data.types import Document, Qrels, Query, Run
from argus.errors import InputError

if TYPE_CHECKING:
    from argus.encoders import Encoder
    from argus.workflows.retriever import IndexRetriever

RUN_FILE = "run file"
DENSE = "dense"
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


def rankings(hybrid: Sequence[str], n_indexes: int) -> list[str]:
    """Return by what each index ranks: DENSE, or the fusion of that and BM25.

    hybrid: nothing (all dense), one for all indexes, or one for each. Raises InputError for another
    number and for an unknown fusion.
    """
    from argus.indexes.hybrid import check_fusion

    for name in hybrid:
        if name != DENSE:
            check_fusion(name)
    if len(hybrid) not in {0, 1, n_indexes} or len(hybrid) > n_indexes:
        raise InputError(
            f"{len(hybrid)} rankings for {n_indexes} indexes",
            expected=f"one for all indexes, or one for each ({DENSE}: without BM25)",
            fix="Runs are as they are: leave it out for those.",
            where="--hybrid",
        )
    return list(hybrid) if len(hybrid) == n_indexes else list(hybrid or [DENSE]) * n_indexes


def open_index(
    name: str, encoder: Encoder | str | None = None, ranked_by: str = DENSE
) -> tuple[str, IndexRetriever]:
    """Open an index named `PATH`, `PATH@original` or `PATH@REMEDY`; return what to call it, too.

    encoder: instead of the one that the index names; FingerprintMismatch when it is another.
    ranked_by: as `rankings` returns; a fusion becomes part of the name.
    """
    from argus.workflows.retriever import open_retriever

    hybrid = None if ranked_by == DENSE else ranked_by
    return called(name, ranked_by), open_retriever(name, encoder, hybrid=hybrid)


def called(name: str, ranked_by: str) -> str:
    """Return what to call an index in a report: one of two states may be ranked in two ways."""
    return name if ranked_by == DENSE else f"{name} ({ranked_by} with BM25)"


def search_index(
    name: str, retriever: IndexRetriever, queries: Sequence[Query], depth: int
) -> System:
    """Ask an index every query; keep `depth` results."""
    views = retriever.index.snapshot(retriever.as_of).views
    return System(
        name,
        retriever.search(queries, depth) if queries else {},
        fingerprint=retriever.encoder.fingerprint,
        documents=frozenset(view.doc_id for view in views),
        titles={v.doc_id: v.source for v in views if v.kind == "original" and v.source.strip()}
        | {v.doc_id: v.text for v in views if v.kind == "title"},
        texts={v.doc_id: v.text for v in views if v.kind == "original"},
    )


def given_run(
    run: Path | Run, queries: Iterable[Query], depth: int, *, name: str = "run"
) -> System:
    """Take a run, or read it from a file; keep the queries that are asked and `depth` results.

    Raises InputError when the run answers none of the queries.
    """
    where = run if isinstance(run, Path) else None
    results = read_run(run) if isinstance(run, Path) else run
    asked = [q.id for q in queries]
    kept = {q: results[q] for q in asked if q in results}
    if not kept:
        raise InputError(
            f"answers none of the {len(asked):,} queries (it has {_some(results)})",
            expected=f"results for the queries that are asked ({_some(asked)})",
            fix="Check that run and queries belong together.",
            where=where or name,
        )
    return System(str(where or name), cut(kept, depth))


def with_corpus(system: System, corpus: Sequence[Document]) -> System:
    """Return the system with titles and texts from a corpus; a run gets its documents, too."""
    return System(
        system.name,
        system.run,
        system.fingerprint,
        frozenset(d.id for d in corpus) if system.documents is None else system.documents,
        {d.id: d.title for d in corpus if d.title.strip()},
        {d.id: d.content for d in corpus},
    )


@dataclass(frozen=True)
class Judged:
    """The queries that can be measured, and why the others cannot."""

    queries: dict[str, Query]
    qrels: Qrels
    """Of exactly those queries."""
    reasons: dict[str, str]
    """Query id to why it is not applicable."""
    not_asked: list[str]
    """Judged query ids that are not among the queries."""

    def relevant(self, query_id: str) -> list[str]:
        """Return the relevant documents of a query, by id."""
        return sorted(doc for doc, grade in self.qrels[query_id].items() if grade > 0)


def judge(queries: Sequence[Query], qrels: Qrels) -> Judged:
    """Set queries beside judgements. Raises InputError when no query can be measured."""
    reasons: dict[str, str] = {}
    for query in queries:
        if query.id not in qrels:
            reasons[query.id] = "no judgement"
        elif not query.text.strip():
            reasons[query.id] = "the query has no text"
        elif not any(grade > 0 for grade in qrels[query.id].values()):
            reasons[query.id] = "no relevant document is judged"
    measured = {q.id: q for q in queries if q.id not in reasons}
    ids = {q.id for q in queries}
    if not measured:
        named = bool(ids & qrels.keys())
        raise InputError(
            "the judgements hold no relevant document for any query"
            if named
            else f"the judgements name none of the {len(queries):,} queries "
            f"(they name {_some(qrels)}; the queries are {_some(ids)})",
            expected="a query with a relevant document (score above 0)",
            fix="Check that queries and judgements belong together.",
            where="--qrels",
        )
    kept = {q: dict(qrels[q]) for q in measured}
    return Judged(measured, kept, reasons, sorted(qrels.keys() - ids))


def missing_gold(system: System, judged: Judged) -> dict[str, Any] | None:
    """Count relevant documents that the index does not hold; None where that is not known.

    Such a document is not one that the retriever failed to bring back. It stays in the measures,
    as trec_eval has it, and is named. Raises InputError when the index holds no relevant one.
    """
    if system.documents is None:
        return None
    pairs = [(q, d) for q in judged.queries for d in judged.relevant(q)]
    absent = [(q, d) for q, d in pairs if d not in system.documents]
    if len(absent) == len(pairs):
        raise InputError(
            f"holds none of the {len({d for _, d in pairs}):,} relevant documents "
            f"({_some(d for _, d in pairs)}); its own are {_some(system.documents)}",
            expected="the corpus that was judged",
            fix="Check that index (or corpus) and judgements belong together.",
            where=system.name,
        )
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
    chosen = sorted(set(ids))
    return ", ".join(map(repr, chosen[:3])) + (", ..." if len(chosen) > 3 else "")
