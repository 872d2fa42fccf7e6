"""Hand a retriever of Argus, such as a repaired index, to mteb, BEIR or PyTerrier.

Each of these libraries is imported when its adapter is made. All adapters ask a `Backend`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np

from argus.data.documents import check_unique, text_in
from argus.data.provenance import absorb
from argus.data.runs import finite_scores, ranking
from argus.data.types import Document, Query, Run
from argus.encoders import Encoder
from argus.errors import InputError
from argus.extras import naming_extras
from argus.indexes.header import IndexSpec
from argus.indexes.retriever import IndexRetriever, open_retriever
from argus.indexes.snapshot import check_k
from argus.retrievers.protocol import Retriever
from argus.settings import TOP_K

Maker = Callable[[Sequence[Document]], Retriever]
"""Makes a retriever of a corpus: builds an index, repairs it."""
Source = Retriever | Maker | IndexSpec | Path | str
"""An index by its name (`PATH@STATE`) or open, another retriever, or a maker of one."""
Foreign = Any  # an object of a package that may not be installed
MAX_SCORE = 1e38
"""Scores up to this one fit into 32 bits, with room for lower ones."""
QUERIES_AT_ONCE = 64
MEASURED = ("score", "rank")
"""Columns that a PyTerrier transformer adds."""


@naming_extras()
def as_mteb(source: Source, encoder: Encoder | str | None = None, *, name: str = "") -> Foreign:
    """Return a search model of mteb, for `mteb.evaluate(as_mteb(...), tasks)`.

    source: an index (`PATH@STATE` or open) of the task's corpus, any retriever of Argus, or a
    function that makes one of documents, for tasks with corpora of their own. encoder: for an index
    that names none. name: under which mteb saves results, `argus/...` by default. Raises InputError
    for any other source. Raises MissingPackage without mteb.
    """
    from mteb.models.model_meta import ModelMeta

    return MtebSearch(Backend(source, encoder), name, ModelMeta.create_empty)


@naming_extras()
def as_beir(source: Source, encoder: Encoder | str | None = None) -> Foreign:
    """Return a `BaseSearch` of BEIR: `EvaluateRetrieval(as_beir("index@blend-1"))`.

    source and encoder are as for `as_mteb`. Raises MissingPackage without beir.
    """
    from beir.retrieval.search.base import BaseSearch

    return type("BeirSearch", (_BeirSearch, BaseSearch), {})(Backend(source, encoder))


@naming_extras()
def as_pyterrier(
    source: Source, encoder: Encoder | str | None = None, *, k: int = TOP_K
) -> Foreign:
    """Return a transformer of PyTerrier: queries to results, or results to results ranked anew.

    source and encoder are as for `as_mteb`, less the function: a pipeline brings no corpus. k:
    results per query. No Java is started. Raises MissingPackage without pyterrier.
    """
    import pyterrier

    kind = type("TerrierSearch", (_TerrierSearch, pyterrier.Transformer), {})
    return kind(Backend(source, encoder), k)


class Backend:
    """A source, and the corpus that it was last checked against.

    Raises InputError for a source that is no retriever and makes none, and as `open_retriever`.
    """

    def __init__(self, source: Source, encoder: Encoder | str | None = None) -> None:
        self._maker: Maker | None = None
        self._retriever: Retriever | None = None
        self._bound: tuple[bytes, tuple[str, int] | None] | None = None
        if isinstance(source, str | Path | IndexSpec):
            self._retriever = open_retriever(source, encoder)
        elif isinstance(source, Retriever) and not isinstance(source, type):  # a class makes one
            self._retriever = source
        elif callable(source):
            self._maker = source
        else:
            raise InputError(
                f"a {type(source).__name__}",
                expected="an index (PATH@STATE or open), a retriever with name and search(queries, "
                "k), or a function that makes one of documents",
                fix="Open it with argus.open_retriever.",
                where="source",
            )

    @property
    def index(self) -> IndexRetriever | None:
        """The index that answers. None for another retriever, and before one is made."""
        return self._retriever if isinstance(self._retriever, IndexRetriever) else None

    @property
    def name(self) -> str:
        """Name in reports."""
        if self._retriever is not None:
            return self._retriever.name
        return getattr(self._maker, "__name__", type(self._maker).__name__)

    def bind_corpus(self, documents: Sequence[Document]) -> None:
        """Make the retriever of a corpus, or check that an index is of it, once per corpus.

        Raises InputError if an index lacks a document with text, or holds others.
        """
        if self._maker is None and self.index is None:
            return
        digest = hashlib.blake2b(digest_size=16)
        for document in documents:
            absorb(digest, document.id, document.title, document.text)
        index = self.index.index if self._maker is None and self.index is not None else None
        bound = digest.digest(), None if index is None else (index.made, index.version)
        if bound == self._bound:
            return
        self._bound = None
        if self._maker is not None:
            self._retriever = self._maker(documents)
        elif self.index is not None:
            texts = {document.id: document.content for document in documents}
            indexed = _ids_in(self.index)
            lacking = sorted(id_ for id_ in texts.keys() - indexed if texts[id_].strip())
            if ids := lacking or sorted(indexed - texts.keys()):
                raise InputError(
                    f"{'lacks' if lacking else 'holds beside it'} {len(ids):,} documents, such as "
                    f"{ids[0]!r}",
                    expected=f"the index of this corpus, of {len(texts):,} documents",
                    fix="Index this corpus; or give a function that makes a retriever of "
                    "documents.",
                    where=self.index.index.path,
                )
        self._bound = bound

    def run(self, queries: Sequence[Query], k: int) -> Run:
        """Return the k best documents per query, best first, with scores that decrease in float32.

        trec_eval, on which all these evaluators rely, ranks equal scores by decreasing id, and
        Argus by increasing. Raises InputError before the corpus is known, for a query id that
        stands twice, and for a score that is no finite number.
        """
        check_unique(queries)
        if self._retriever is None:
            expected = "the corpus before the first query"
            fix = "Call index(corpus) or search with a corpus first."
            raise InputError("no corpus yet", expected=expected, fix=fix, where=self.name)
        run: Run = {}
        for first in range(0, len(queries), QUERIES_AT_ONCE):
            run |= self._retriever.search(queries[first : first + QUERIES_AT_ONCE], k)
        run = finite_scores(run, self.name)
        return {query.id: strictly_decreasing_float32(run.get(query.id, {})) for query in queries}

    def rerank(
        self, queries: Sequence[Query], candidates: Mapping[str, Collection[str]], k: int, most: int
    ) -> Run:
        """Return the k best of each query's candidates. most: documents that there are."""
        deep = self.run([query for query in queries if candidates.get(query.id)], most)
        reranked: Run = {}
        for query in queries:
            own, scores = candidates.get(query.id, ()), deep.get(query.id, {}).items()
            reranked[query.id] = dict([(doc, score) for doc, score in scores if doc in own][:k])
        return reranked


def strictly_decreasing_float32(scores: dict[str, float]) -> dict[str, float]:
    """Return finite scores in ranking order, each lower than the one before even in float32.

    Scores that do not fit into 32 bits are replaced by n, n - 1, ... 1.
    """
    ranks = list(ranking(scores))
    if any(abs(score) > MAX_SCORE for score in scores.values()):
        return {document: float(len(ranks) - i) for i, document in enumerate(ranks)}
    lower: dict[str, float] = {}
    last = np.float32(np.inf)
    for document in ranks:
        score = np.float32(scores[document])
        last = score if score < last else np.nextafter(last, np.float32(-np.inf))
        lower[document] = float(last)
    return lower


def _ids_in(retriever: IndexRetriever) -> set[str]:
    return set(retriever.index.rows(retriever.as_of)["doc_id"].to_pylist())


def _document(id_: object, row: Any) -> Document:
    """Return the document of a row. Raises InputError unless it has text and perhaps a title."""
    where = f"document {id_}"
    if not isinstance(row, Mapping):
        expected = "a row with text and, it may be, a title"
        fix = "For a text alone: {'text': ...}."
        raise InputError(f"{row!r:.60}", expected=expected, fix=fix, where=where)
    text, title = (text_in(row.get(field) or "", where) for field in ("text", "title"))
    return Document(str(id_), text, title)


def _query(id_: object, text: object) -> Query:
    """Return a query. Raises InputError for one that is no text, such as a conversation."""
    return Query(str(id_), text_in(text, f"query {id_}"))


class MtebSearch:
    """A search model of mteb 2: it calls `index` once per corpus, then `search`.

    make_meta: `ModelMeta.create_empty` of mteb.
    """

    def __init__(self, backend: Backend, name: str, make_meta: Callable[[dict[str, Any]], Any]):
        self._backend, self._name, self._make_meta = backend, name, make_meta
        self._documents = 0

    @property
    def mteb_model_meta(self) -> Foreign:
        """Name and revision under which mteb saves results. Each state of an index has its own."""
        own = re.sub(r"[^\w.+@=-]+", "-", self._backend.name).strip("-")
        revision, retriever = "argus", self._backend.index
        if retriever is not None:
            parts = (retriever.as_of or "now", str(retriever.index.version), retriever.index.made)
            revision = "-".join(filter(None, parts))
        return self._make_meta({"name": self._name or f"argus/{own}", "revision": revision})

    def index(self, corpus: Iterable[Mapping[str, Any]], **_: Any) -> None:
        """Check a task's corpus against the index, or make a retriever of it."""
        documents = [_document(row["id"], row) for row in corpus]
        self._documents = len(documents)
        self._backend.bind_corpus(documents)

    def search(
        self,
        queries: Iterable[Mapping[str, Any]],
        *,
        top_k: int,
        top_ranked: Mapping[str, list[str]] | None = None,
        **_: Any,
    ) -> Run:
        """Return documents and scores per query. A reranking task gets only its candidates.

        A query's own instruction follows its text, as in mteb.
        """
        asked = []
        for row in queries:
            query, instruction = _query(row["id"], row["text"]), row.get("instruction") or ""
            text = f"{query.text} {instruction}".strip() if instruction else query.text
            asked.append(replace(query, text=text))
        if top_ranked is None:
            return self._backend.run(asked, top_k)
        candidates = {str(query): set(map(str, ids)) for query, ids in top_ranked.items()}
        return self._backend.rerank(asked, candidates, top_k, max(self._documents, top_k))


class _BeirSearch:
    """The object that `EvaluateRetrieval` asks. The score function is the retriever's own."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def search(
        self,
        corpus: Mapping[str, Mapping[str, str]],
        queries: Mapping[str, str],
        top_k: int,
        score_function: str | None = None,
        **_: Any,
    ) -> Run:
        """Return documents and scores per query.

        An index must be of the corpus. A function makes a retriever of each corpus once.
        """
        for rows, name, expected in (
            (corpus, "corpus", "{id: {'text': ..., 'title': ...}}"),
            (queries, "queries", "{id: text}"),
        ):
            if not isinstance(rows, Mapping):
                got = f"{name} in a {type(rows).__name__}"
                raise InputError(got, expected=expected, fix="Give each an id.")
        self._backend.bind_corpus([_document(id_, row) for id_, row in corpus.items()])
        return self._backend.run([_query(id_, text) for id_, text in queries.items()], top_k)

    def encode(self, *_: Any, **__: Any) -> NoReturn:
        """Raise InputError: an index has its vectors already."""
        expected = "EvaluateRetrieval.retrieve: an index has its vectors already"
        fix = "Call retrieve in place of encode_and_retrieve."
        raise InputError("vectors in files", expected=expected, fix=fix, where=self._backend.name)

    search_from_files = encode


class _TerrierSearch:
    """Rank documents for queries (qid, query), or rerank those of `docno`."""

    def __init__(self, backend: Backend, k: int) -> None:
        super().__init__()
        check_k(k)
        self._backend, self.k = backend, k
        self.name = backend.name

    def __repr__(self) -> str:
        return f"argus({self.name})"

    def transform(self, inp: Foreign) -> Foreign:
        """Return the results of all queries, best first. Columns of the queries stay with them.

        A frame with `docno` holds candidates. Those that the retriever does not find among all
        documents are left out. Raises InputError for duplicate rows, and two texts of one query.
        """
        import pyterrier as pt

        with pt.validate.any(inp, context=cast(Any, self)) as form:
            form.result_frame(extra_columns=["query"], mode="rerank")
            form.query_frame(extra_columns=["query"], mode="retrieve")
        is_rerank = form.mode == "rerank"
        frame = inp.drop(columns=[name for name in MEASURED if name in inp.columns])
        frame = frame.astype({name: str for name in ("qid", "docno") if name in frame.columns})
        names = ["qid", "docno"] if is_rerank else ["qid"]
        twice = frame[frame.duplicated(names)]
        if len(twice):
            row = ", ".join(f"{name} {twice.iloc[0][name]!r}" for name in names)
            got = f"{len(twice):,} rows are there twice, such as {row}"
            fix = f"drop_duplicates({names}), or give queries ids of their own."
            raise InputError(got, expected=f"one row per {' and '.join(names)}", fix=fix)
        unique = frame.drop_duplicates(["qid", "query"])
        queries = [_query(*row) for row in zip(unique["qid"], unique["query"], strict=True)]
        if not is_rerank:
            results = _frame(self._backend.run(queries, self.k), pt.model.FIRST_RANK)
            return frame.merge(results, on="qid")
        candidates = {query: set(group["docno"]) for query, group in frame.groupby("qid")}
        most = max(map(len, candidates.values()), default=1)
        index = self._backend.index
        depth = max(most, self.k if index is None else len(_ids_in(index)))
        run = self._backend.rerank(queries, candidates, most, depth)
        results = _frame(run, pt.model.FIRST_RANK).merge(frame, on=["qid", "docno"])
        return results[[*frame.columns, *MEASURED]]


def _frame(run: Run, first_rank: int) -> Foreign:
    """Return a run as rows of qid, docno, score and rank."""
    import pandas as pd

    rows = [
        (qid, document, score, rank)
        for qid, scores in run.items()
        for rank, (document, score) in enumerate(scores.items(), start=first_rank)
    ]
    types = {"qid": str, "docno": str, "score": float, "rank": int}
    return pd.DataFrame(rows, columns=list(types)).astype(types)
