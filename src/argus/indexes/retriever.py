"""Search an index by vectors, or by vectors and BM25 fused, and return documents with their texts.

`IndexRetriever`: queries -> a run (query -> document -> score). `search_index`: one question -> the
k best documents, each with its text and the text that matched. `argus explain`, `argus evaluate`
and `argus serve` search through it. Vectors are compared in `argus.indexes.snapshot`, words in
`argus.indexes.lexical`, and both are joined in `argus.indexes.fusion`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import TypedDict

from argus.data.documents import check_unique
from argus.data.types import FloatArray, Query, Run
from argus.encoders import Encoder, EncoderConfig, as_config, load_encoder
from argus.encoders.embed import on_engine
from argus.encoders.load import check_named
from argus.engine import Engine
from argus.errors import InputError
from argus.indexes.blend import DENSE, RELEVANCE_WEIGHT, SENTENCE, TEXT, Fusion, check_weight
from argus.indexes.fold import SCENARIO, TopDocuments
from argus.indexes.fusion import BM25_WEIGHT, check_fusion, fuse_with_bm25, question_weights
from argus.indexes.header import FILE, IndexSpec, parse_index_spec
from argus.indexes.lexical import STEMMED, Hits, LexicalIndex, check_query, words_of
from argus.indexes.recipe import ActiveRecipe
from argus.indexes.snapshot import check_k
from argus.indexes.views import ViewIndex, matched_scenario, served
from argus.settings import TOP_K

# Documents of each ranking to fuse, or k where that is more.
FUSED_DEPTH = 100


class Hit(TypedDict):
    """One result: the document's own text, and the view that found it.

    id: id of the document.
    view: id of the view that was found; None where a fusion ranked.
    kind: kind of that view; None where it is not known.
    text: text of the document.
    scenario: the scenario that found it: view (id of its view), main_topic, information_need,
    explanation (how the document serves the need); None without one.
    """

    rank: int
    id: str
    score: float
    view: str | None
    kind: str | None
    text: str
    title: str
    scenario: dict[str, str] | None


class IndexRetriever:
    """Searches one state of an index: dense, or dense and BM25 over the same views, fused.

    weight: λ, the weight of a document's own score against its best scenario. None: as the index
    says, else 0.7. hybrid: how BM25 is fused. None: as the index says (fused under a blend with
    BM25, else not at all), "dense" never. A remedy's correction of queries is applied to them.
    Raises InputError for an unknown `as_of` or fusion, EncoderMismatch when `encoder` is not the
    one that made the index.
    """

    def __init__(
        self,
        index: ViewIndex,
        encoder: Encoder,
        as_of: str | None = None,
        hybrid: str | None = None,
        weight: float | None = None,
    ) -> None:
        index.header.check_queries(encoder.fingerprint, index.path)
        index.condition(as_of)  # an unknown remedy is an error now, not at the first query
        self.index, self.encoder, self.as_of = index, encoder, as_of
        if self.recipe.correction is not None:
            self.recipe.correction.check_fingerprint(encoder.fingerprint, index.path)
        self._hybrid = check_hybrid(hybrid)
        self._weight = None if weight is None else check_weight(weight)
        self._lexical: tuple[tuple[str, int], LexicalIndex] | None = None

    def over(self, index: ViewIndex) -> IndexRetriever:
        """Return a retriever that searches another version of the index in the same way."""
        return IndexRetriever(index, self.encoder, self.as_of, self._hybrid, self._weight)

    @property
    def recipe(self) -> ActiveRecipe:
        """Search settings of remedies in this state."""
        return self.index.recipe(self.as_of)

    @property
    def weight(self) -> float:
        """λ of documents against their scenarios."""
        return self.index.weight(self.as_of) if self._weight is None else self._weight

    @property
    def hybrid(self) -> Fusion | None:
        """The fusion with BM25, or None without one."""
        if self._hybrid is not None:
            return None if self._hybrid == DENSE else check_fusion(self._hybrid)
        blend = self.recipe.blend
        return blend.fusion if blend is not None and blend.bm25 else None

    @property
    def name(self) -> str:
        """A name of this ranking, for manifests and reports."""
        dense = "dense" if self.weight == RELEVANCE_WEIGHT else f"dense with λ = {self.weight:g}"
        dense = "+".join([dense, *self.recipe.remedies])
        ranking = dense if self.hybrid is None else f"{self.hybrid}({dense}, bm25)"
        return f"{ranking} of {self.index.path.name}@{self.as_of or 'now'}"

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return the k best documents per query. A query without text finds none."""
        with_text = [q for q in queries if q.text.strip()]
        run: Run = {q.id: {} for q in queries}
        check_unique(queries)
        check_k(k)
        if not with_text:
            return run
        vectors = self.encoder.encode_queries([q.text for q in with_text])
        return run | self.rank(with_text, np.asarray(vectors, np.float32), k)

    def rank(self, queries: Sequence[Query], vectors: FloatArray, k: int) -> Run:
        """Return the k best documents of queries with text. vectors: (n_queries, dim)."""
        check_k(k)
        ids = [q.id for q in queries]
        if self.hybrid is None:
            return self.nearest(vectors, k).run(ids)
        depth = max(k, FUSED_DEPTH)
        dense = self.nearest(vectors, depth).run(ids)
        words = self.lexical().search([q.text for q in queries], depth)
        return fuse_with_bm25(dense, words.run(ids), k, self.hybrid, self.bm25_weights(words, ids))

    def bm25_weights(self, words: Hits, query_ids: Sequence[str]) -> dict[str, float]:
        """Return the weight of BM25 for each query, by its results (`question_weights`)."""
        blend = self.recipe.blend
        bm25 = blend.bm25 if blend is not None and blend.bm25 else BM25_WEIGHT
        if blend is not None and not blend.by_question:
            return dict.fromkeys(query_ids, bm25)
        return question_weights(bm25, query_ids, words.coverage)

    def nearest(self, vectors: FloatArray, k: int) -> TopDocuments:
        """Return the dense results of vectors, (n_queries, dim), with the views that won."""
        queries = self.recipe.correct(vectors)
        return self.index.search(queries, k, self.as_of, weight=self.weight)

    def lexical(self) -> LexicalIndex:
        """Return BM25 over the views of this state, saved once per version of the index.

        Without scenarios and sentences, which λ weighs: λ = 1 searches documents alone.
        """
        key = (self.index.made, self.index.version)
        if self._lexical is None or self._lexical[0] != key:
            blend = self.recipe.blend
            unread = () if blend is not None and blend.sentences else (TEXT,)
            words = words_of(self.index, self.as_of, (SCENARIO, SENTENCE, *unread), STEMMED)
            self._lexical = (key, words)
        return self._lexical[1]


def check_hybrid(hybrid: str | None) -> str | None:
    """Return how BM25 is fused. Raises InputError unless it is a fusion, "dense" or None."""
    return hybrid if hybrid in (None, DENSE) else check_fusion(str(hybrid))


def open_retriever(
    spec: str | Path | IndexSpec,
    encoder: Encoder | EncoderConfig | str | None = None,
    *,
    hybrid: str | None = None,
    device: str | None = None,
    weight: float | None = None,
) -> IndexRetriever:
    """Open `PATH[@as_of]` with the encoder that the index names, or with the one given.

    Raises InputError for a path that is no index, an unknown state, or an index that does not name
    an encoder. Raises EncoderMismatch for the wrong encoder.
    """
    spec = parse_index_spec(spec)
    index = ViewIndex.open(spec.path)
    index.condition(spec.as_of)  # before the encoder is loaded
    model = encoder_of(index, encoder, device)
    return IndexRetriever(index, model, spec.as_of, hybrid, weight)


def encoder_of(
    index: ViewIndex,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
    engine: Engine | None = None,
) -> Encoder:
    """Return `encoder`, loaded if need be, or the one that the index names.

    engine: where `embed` has batches embedded. Raises InputError where the index names no encoder,
    or one that would have a key sent, or code run, by the word of the index alone.
    """
    if encoder is not None:
        encoder = as_config(encoder)
        if not isinstance(encoder, EncoderConfig):
            return on_engine(encoder, engine)
    else:
        file = index.path / FILE
        if not index.header.encoder.get("model"):
            got = f"does not name an encoder that can be loaded (its vectors: {index.fingerprint})"
            fix = "Give the encoder that made it (--encoder)."
            raise InputError(got, expected="an encoder", fix=fix, where=index.path)
        encoder = EncoderConfig(**index.header.encoder)
        check_named(encoder, file)
    if device is not None:
        encoder = replace(encoder, device=device)
    return on_engine(load_encoder(encoder), engine, encoder)


def search_index(
    query: str,
    spec: str | Path | IndexSpec,
    *,
    k: int = TOP_K,
    hybrid: str | None = None,
    weight: float | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
) -> dict[str, Any]:
    """Answer one question: the k best documents, each with its text and the view that found it.

    query: question that was asked.
    index: the index, with its state.
    ranked_by: name of the ranking.
    warning: doubt about vectors of one's own, or None.
    results: documents, best first (`Hit`). A hybrid ranking has no single view of a document.
    """
    check_k(k)
    check_query(query)
    retriever = open_retriever(spec, encoder, hybrid=hybrid, device=device, weight=weight)
    (hits,) = hits_of(retriever, [query], k)
    warning = None
    if retriever.index.header.foreign:
        warning = (
            f"the vectors of {retriever.index.path} are not what its encoder makes of its "
            "documents: results mean something only if they were made for its queries"
        )
    return {
        "query": query,
        "index": str(parse_index_spec(spec)),
        "ranked_by": retriever.name,
        "warning": warning,
        "results": hits,
    }


def hits_of(retriever: IndexRetriever, questions: Sequence[str], k: int) -> list[list[Hit]]:
    """Return the k best documents of each question: embedded at once, and searched at once.

    questions: texts with words in them. No question changes the answer of another.
    """
    if not questions:
        return []
    vectors = np.asarray(retriever.encoder.encode_queries(list(questions)), np.float32)
    queries = [Query(str(i), text) for i, text in enumerate(questions)]
    corrected = retriever.recipe.correct(vectors)
    snapshot = retriever.index.snapshot(retriever.as_of)
    if retriever.hybrid is None:
        top = retriever.nearest(vectors, k)
        run, best_views = top.run([query.id for query in queries]), top.view_ids
    else:  # no single view found a document
        run, best_views = retriever.rank(queries, vectors, k), []

    def hit(query: int, rank: int, doc: str, score: float) -> Hit:
        views = {view.id: view for view in snapshot.views_of(doc)}
        own = served([*views.values()])
        view = views[best_views[query][rank - 1]] if best_views else None
        matched = views.get(snapshot.best_scenario(corrected[query], doc))
        scenario = {"view": matched.id, **asdict(matched_scenario(matched))} if matched else None
        return {
            "rank": rank,
            "id": doc,
            "score": score,
            "view": view.id if view else None,
            "kind": view.kind if view else None,
            "text": own.text,
            "title": own.source,
            "scenario": scenario,
        }

    return [
        [hit(i, rank, *found) for rank, found in enumerate(run[query.id].items(), 1)]
        for i, query in enumerate(queries)
    ]


def own_texts(retriever: IndexRetriever, docs: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return title and own text of documents, of those that the index holds."""
    snapshot = retriever.index.snapshot(retriever.as_of)
    own = {doc: served(snapshot.views_of(doc)) for doc in docs if doc in snapshot}
    return {doc: (view.source, view.text) for doc, view in own.items()}
