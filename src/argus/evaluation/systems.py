"""Ask an index or a retriever every query, or read a run, so that its answers can be measured.

`ask_systems`: names of indexes, retrievers and runs -> a `System` each: its run, the documents that
it holds, and the queries that it failed on. `judge` matches queries with judgements. `job`,
`comparison` and the suites call them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from argus.data.folders import ArtifactFolder
from argus.data.runs import RUN_FILE, Excluded, cut
from argus.data.types import Document, Qrels, Query, Run
from argus.encoders.store import store_of
from argus.errors import ArgusError, InputError
from argus.indexes.blend import DENSE
from argus.indexes.header import parse_index_spec
from argus.retrievers.session import ANSWERS

if TYPE_CHECKING:
    from argus.encoders import EmbeddingStore, Encoder, EncoderConfig
    from argus.indexes.retriever import IndexRetriever
    from argus.jobs.workspace import Record
    from argus.retrievers.config import AskingConfig
    from argus.retrievers.opening import OpenRetriever

RETRIEVER = "retriever"  # in place of the fingerprint of an encoder, which is not known


@dataclass(frozen=True)
class System:
    """One system's answers, and its documents as far as they are known.

    fingerprint: of the encoder, or RUN_FILE. documents: ids in the index, None for a run. titles,
    texts: of the known documents. failed: query id to why it could not be asked. longest: results
    in the longest list of a run, None for an index, which can answer any depth. kept: answers from
    an earlier run. warning: a doubt about its answers.
    """

    name: str
    run: Run
    fingerprint: str = RUN_FILE
    documents: frozenset[str] | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    longest: int | None = None
    kept: int = 0
    warning: str | None = None


def index_settings(
    hybrid: Sequence[str], weights: Sequence[float], n_indexes: int
) -> list[tuple[str | None, float | None]]:
    """Return fusion and λ of each index. None: as the index says.

    hybrid, weights: nothing, one for all indexes, or one for each. A fusion is a fusion with BM25,
    or DENSE. Raises InputError for another number and for an unknown fusion.
    """
    from argus.indexes.retriever import check_hybrid

    def spread(values: Sequence[Any], name: str, option: str, note: str = "") -> list[Any]:
        if len(values) not in {0, 1, n_indexes} or len(values) > n_indexes:
            got = f"{len(values)} {name} for {n_indexes} indexes"
            expected = f"one for all indexes, or one for each{note}"
            fix = "Runs are as they are: leave it out for those."
            raise InputError(got, expected=expected, fix=fix, where=option)
        each = list(values) or [None]
        return each if len(each) == n_indexes else each * n_indexes

    for name in hybrid:
        check_hybrid(name)
    fusions = spread(hybrid, "rankings", "--hybrid", f" ({DENSE}: without BM25)")
    return list(zip(fusions, spread(weights, "weights", "--lambda"), strict=True))


def open_index(
    name: str,
    encoder: Encoder | EncoderConfig | str | None = None,
    ranked_by: str | None = None,
    weight: float | None = None,
) -> tuple[str, IndexRetriever]:
    """Open an index named `PATH`, `PATH@original` or `PATH@REMEDY`. Return its display name, too.

    encoder: instead of the one that the index names. Raises EncoderMismatch if it differs.
    ranked_by: DENSE, or a fusion with BM25. weight: λ of documents against scenarios. An unusual
    setting becomes part of the name.
    """
    from argus.indexes.retriever import open_retriever

    retriever = open_retriever(name, encoder, hybrid=ranked_by, weight=weight)
    blend = retriever.recipe.blend
    ways = [] if weight is None else [f"λ = {weight:g}"]
    if ranked_by == DENSE and blend and blend.bm25:
        ways.append("vectors alone")
    elif ranked_by not in (None, DENSE):
        ways.append(f"{ranked_by} with BM25")
    return f"{name} ({', '.join(ways)})" if ways else name, retriever


def contents(name: str, retriever: IndexRetriever) -> System:
    """Return the documents of an index in the retriever's state, without answers."""
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
    )


def search_index(
    name: str, retriever: IndexRetriever, queries: Sequence[Query], depth: int
) -> System:
    """Ask an index every query. Keep `depth` results."""
    run, failures = ask(retriever, queries, depth)
    return replace(contents(name, retriever), run=run, failed=failures)


def ask(
    retriever: IndexRetriever, queries: Sequence[Query], depth: int
) -> tuple[Run, dict[str, str]]:
    """Return the run, and the queries that the encoder rejects with its reason.

    Query vectors go into the index's own cache if that can be written, so that an endpoint is asked
    once. A query without text finds nothing. Raises EncodingError if the encoder itself fails, or
    rejects all queries.
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
    """Open the index's own store if it is whole, free and of this encoder, else a temporary one."""
    from argus.encoders import EmbeddingStore, read_header

    own, encoder = store_of(retriever.index.path), retriever.encoder
    store = None
    try:
        header = read_header(own) or {}
        if header.get("fingerprint") == encoder.fingerprint and os.access(own, os.W_OK):
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
    """Ask a retriever every query. Keep `depth` results."""
    from argus.retrievers.dense import IndexSource

    answers = retriever.ask(queries, depth)
    if isinstance(retriever.source, IndexSource):
        system = contents(retriever.name, retriever.source.retriever)
    else:
        longest = max(map(len, answers.run.values()), default=0)
        system = System(
            retriever.name, {}, fingerprint=retriever.fingerprint or RETRIEVER, longest=longest
        )
    found: dict[str, Any] = {"run": answers.run, "failed": answers.failed, "kept": answers.kept}
    return replace(system, warning=answers.warning, **found)


def ask_systems(
    folder: ArtifactFolder,
    record: Record,
    queries: Sequence[Query],
    depth: int,
    *,
    indexes: Sequence[str],
    settings: Sequence[tuple[str | None, float | None]],
    retrievers: Sequence[Any],
    documents: Sequence[Document],
    asking: AskingConfig,
    encoder: Encoder | EncoderConfig | str | None,
) -> list[System]:
    """Ask indexes, then retrievers, every query, and note in the record how they were asked.

    settings: see `index_settings`. documents: that a retriever may need. Answers of retrievers are
    kept in the folder.
    """
    from argus.retrievers.opening import all_opened, note_retrievers

    about = [parse_index_spec(name).path for name in indexes]
    answers = folder.path / ANSWERS
    with all_opened(retrievers, documents, asking, answers, encoder) as sources:
        opened = [open_index(n, encoder, *own) for n, own in zip(indexes, settings, strict=True)]
        if sources:
            note_retrievers(retrievers, sources, asking, folder, record, about)
        systems = [search_index(name, index, queries, depth) for name, index in opened]
        systems += [ask_retriever(source, queries, depth) for source in sources]
    record.config["hybrid"] = [fusion for fusion, _ in settings]
    record.config["lambda"] = [index.weight for _, index in opened]
    return systems


def run_system(run: Path | Run, queries: Sequence[Query], depth: int, name: str) -> System:
    """Return a run, or read it from a file, with `depth` results of each of `queries`.

    Raises InputError if the run answers none of the queries.
    """
    from argus.retrievers.opening import run_answers

    results = run_answers(run, queries, name).run
    longest = max(map(len, results.values()))
    return System(str(run) if isinstance(run, Path) else name, cut(results, depth), longest=longest)


def with_corpus(system: System, corpus: Sequence[Document]) -> System:
    """Return the system with titles and texts from a corpus. A run gets its documents, too."""
    return replace(
        system,
        documents=frozenset(d.id for d in corpus) if system.documents is None else system.documents,
        titles={d.id: d.title for d in corpus if d.title.strip()},
        texts={d.id: d.content for d in corpus},
    )


@dataclass(frozen=True)
class Judged:
    """The queries that can be measured, and why others cannot.

    qrels: of exactly those queries. reasons: query id to why it is not applicable. not_asked:
    judged ids that are no queries. failed: query id to why it could not be asked. excluded:
    documents to remove from each query's results.
    """

    queries: dict[str, Query]
    qrels: Qrels
    reasons: dict[str, str]
    not_asked: list[str]
    failed: dict[str, str] = field(default_factory=dict)
    excluded: Excluded = field(default_factory=dict)

    def relevant(self, query_id: str) -> list[str]:
        """Return the relevant documents of a query, by id."""
        return sorted(doc for doc, grade in self.qrels[query_id].items() if grade > 0)


def judge(queries: Sequence[Query], qrels: Qrels, excluded: Excluded | None = None) -> Judged:
    """Match queries with judgements. Raises InputError if no query can be measured."""
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
    """Remove the queries that some system could not be asked.

    Two systems are compared on the queries that both were asked. Raises ArgusError if none is left.
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


def missing_gold(system: System, judged: Judged) -> dict[str, Any] | None:
    """Count relevant documents that the index does not hold. None if that is not known.

    The retriever cannot bring such a document back. It stays in the measures, as in trec_eval.
    Keys: documents, pairs (of a query and such a document), queries (that have one),
    queries_without_any (of which no relevant document is in the index), ids (the first 50).
    Raises InputError if the index holds no relevant document.
    """
    if (held := system.documents) is None:
        return None
    pairs = [(q, d) for q in judged.queries for d in judged.relevant(q)]
    relevant = {d for _, d in pairs}
    if relevant.isdisjoint(held):
        raise InputError(
            f"holds none of the {len(relevant):,} relevant documents ({_some(relevant)}); its own "
            f"are {_some(held)}",
            expected="the corpus that was judged",
            fix="Check that index (or corpus) and judgements belong together; where it holds "
            "chunks of what was judged, name them with --corpus, and the field of their document "
            "with --parent-field.",
            where=system.name,
        )
    absent = [(q, d) for q, d in pairs if d not in held]
    without = {q for q, _ in absent}
    return {
        "documents": len(relevant - held),
        "pairs": len(absent),
        "queries": len(without),
        "queries_without_any": len(without - {q for q, d in pairs if d in held}),
        "ids": sorted(relevant - held)[:50],
    }


def _some(ids: Iterable[str]) -> str:
    unique = sorted(set(ids))
    return ", ".join(map(repr, unique[:3])) + (", ..." if len(unique) > 3 else "")
