"""From an index on disk and the encoder it names to a retriever: queries in, run out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from argus.data.documents import check_unique, listed
from argus.data.types import FloatArray, Query, Run
from argus.encoders import Encoder, EncoderConfig, as_config, load_encoder
from argus.encoders.keys import check_pair
from argus.encoders.remote_code import check_code
from argus.encoders.spread import on_engine
from argus.engine import Engine
from argus.errors import InputError
from argus.indexes.blend import SENTENCE
from argus.indexes.fold import RELEVANCE_WEIGHT, SCENARIO, TopDocuments, check_weight
from argus.indexes.header import FILE, cosines
from argus.indexes.hybrid import (
    BM25_WEIGHT,
    FUSION,
    Fusion,
    check_fusion,
    fuse_with_bm25,
    question_weights,
)
from argus.indexes.lexical import Hits, LexicalIndex
from argus.indexes.prescribed import ActiveRecipe
from argus.indexes.saved_words import words_of
from argus.indexes.snapshot import check_k
from argus.indexes.spec import IndexSpec, parse_index_spec
from argus.indexes.views import BEFORE, ViewIndex
from argus.indexes.weighing import DENSE
from argus.indexes.words import STEMMED

FUSED_DEPTH = 100
"""How many documents of each ranking are fused, or k where that is more."""


class IndexRetriever:
    """Searches one state of an index: dense, or dense and BM25 over the same views, fused.

    exact: None searches as the index is served, approximately where it has an approximate index;
    True and False say which. What lies in memory makes no difference. weight: λ, what a document's
    own score counts against that of its best scenario; None as the index says, else 0.7. hybrid:
    how BM25 is fused; None does as the index says (fused under a blend with BM25, else not at all),
    "dense" never. A remedy's correction of queries is applied to them. Raises InputError for an
    unknown `as_of` or fusion, FingerprintMismatch when `encoder` is not the one that made the
    index, or that was named for queries where its vectors came from a file.
    """

    def __init__(
        self,
        index: ViewIndex,
        encoder: Encoder,
        as_of: str | None = None,
        hybrid: str | None = None,
        exact: bool | None = None,
        weight: float | None = None,
    ) -> None:
        index.header.check_queries(encoder.fingerprint, index.path)
        index.condition(as_of)  # an unknown remedy is an error now, not at the first query
        self.index, self.encoder, self.as_of = index, encoder, as_of
        if self.recipe.correction is not None:
            self.recipe.correction.check_fingerprint(encoder.fingerprint, index.path)
        self._hybrid = check_hybrid(hybrid)
        self.exact = exact
        self._weight = None if weight is None else check_weight(weight)
        self._lexical: tuple[tuple[str, int], LexicalIndex] | None = None

    def over(self, index: ViewIndex) -> IndexRetriever:
        """Return what searches another version of the index in the same way."""
        return IndexRetriever(
            index, self.encoder, self.as_of, self._hybrid, self.exact, self._weight
        )

    @property
    def recipe(self) -> ActiveRecipe:
        """What remedies say of the search."""
        return self.index.recipe(self.as_of)

    @property
    def weight(self) -> float:
        """λ of documents against their scenarios."""
        return self.index.weight(self.as_of) if self._weight is None else self._weight

    @property
    def hybrid(self) -> Fusion | None:
        """How BM25 is fused; None where it is not."""
        if self._hybrid is not None:
            return None if self._hybrid == DENSE else check_fusion(self._hybrid)
        blend = self.recipe.blend
        return FUSION if blend is not None and blend.bm25 else None

    @property
    def bm25(self) -> float:
        """What BM25 counts where it is fused by `min-max`; see `question_weight`."""
        blend = self.recipe.blend
        return blend.bm25 if blend is not None and blend.bm25 else BM25_WEIGHT

    @property
    def name(self) -> str:
        """What this ranks by, for manifests and reports."""
        state = self.as_of or "now"
        dense = "dense" if self.weight == RELEVANCE_WEIGHT else f"dense with λ = {self.weight:g}"
        dense = "+".join([dense, *self.recipe.remedies])
        ranking = dense if self.hybrid is None else f"{self.hybrid}({dense}, bm25)"
        mode = "" if self.searches_exactly() else "approximate "
        return f"{mode}{ranking} of {self.index.path.name}@{state}"

    def searches_exactly(self) -> bool:
        """Return whether every vector is compared; else the approximate index chooses some.

        That index has the documents' own vectors: where a blend smooths them, all are compared
        unless `exact` is False.
        """
        if self.exact is not None:
            return self.exact
        numbers = self.recipe.numbers
        return not self.index.has_ann() or (numbers is not None and numbers.smoothed is not None)

    @property
    def warning(self) -> str | None:
        """What is doubtful about asking this index with this encoder; None where nothing is.

        Vectors from a file that its encoder does not make can still be made for its queries (two
        towers, another length or prefix); documents alone cannot tell.
        """
        foreign = self.index.header.foreign
        if foreign is None:
            return None
        return (
            f"the vectors of {self.index.path} are not what {foreign.encoder} makes of its "
            f"documents ({cosines(foreign)}): results mean something only if they were made for "
            "queries of that encoder"
        )

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return the k best documents per query; a query without text finds none."""
        with_text = [q for q in queries if q.text.strip()]
        run: Run = {q.id: {} for q in queries}
        check_unique(queries)
        if not with_text:
            check_k(k)
            return run
        return run | self.rank(with_text, self._encode([q.text for q in with_text]), k)

    def rank(self, queries: Sequence[Query], vectors: FloatArray, k: int) -> Run:
        """Return the k best documents of queries with text; vectors: (n_queries, dim)."""
        check_k(k)
        ids = [q.id for q in queries]
        if self.hybrid is None:
            return self.nearest(vectors, k).run(ids)
        depth = max(k, FUSED_DEPTH)
        dense = self.nearest(vectors, depth).run(ids)
        words = self.lexical().search([q.text for q in queries], depth)
        return fuse_with_bm25(dense, words.run(ids), k, self.hybrid, self.bm25_weights(words, ids))

    def bm25_weights(self, words: Hits, query_ids: Sequence[str]) -> dict[str, float]:
        """Return what BM25 counts for each query, by what it brings back."""
        return question_weights(self.bm25, query_ids, words.coverage)

    def search_views(self, texts: Sequence[str], k: int) -> TopDocuments:
        """Return dense results with the views that won."""
        check_k(k)
        return self.nearest(self._encode(listed(texts, "texts")), k)

    def _encode(self, texts: Sequence[str]) -> FloatArray:
        return np.asarray(self.encoder.encode_queries(texts), np.float32)

    def nearest(self, vectors: FloatArray, k: int) -> TopDocuments:
        """Return the dense results of vectors, (n_queries, dim), with the views that won."""
        exact = self.searches_exactly()
        queries = self.recipe.correct(vectors)
        return self.index.search(queries, k, self.as_of, exact=exact, weight=self.weight)

    def lexical(self) -> LexicalIndex:
        """Return BM25 over the views of this state, saved once per version of the index.

        Without scenarios and sentences, which λ weighs: λ = 1 searches documents alone.
        """
        key = (self.index.made, self.index.version)
        if self._lexical is None or self._lexical[0] != key:
            words = words_of(self.index, self.as_of, (SCENARIO, SENTENCE), STEMMED)
            self._lexical = (key, words)
        return self._lexical[1]


def check_hybrid(hybrid: str | None) -> str | None:
    """Return how BM25 is fused; InputError unless it is a fusion, "dense" or None."""
    return hybrid if hybrid in (None, DENSE) else check_fusion(str(hybrid))


def open_retriever(
    spec: str | Path | IndexSpec,
    encoder: Encoder | EncoderConfig | str | None = None,
    *,
    hybrid: str | None = None,
    exact: bool | None = None,
    device: str | None = None,
    weight: float | None = None,
) -> IndexRetriever:
    """Open `PATH[@as_of]` with the encoder that the index names, or with the one given.

    Raises InputError for what is no index, an unknown state, or an index that does not say which
    encoder it needs; FingerprintMismatch for the wrong encoder.
    """
    spec = parse_index_spec(spec)
    if weight is not None:
        check_weight(weight)
    check_hybrid(hybrid)
    index = ViewIndex.open(spec.path)
    index.condition(spec.as_of)  # before the encoder is loaded
    model = encoder_of(index, encoder, device)
    return IndexRetriever(index, model, spec.as_of, hybrid, exact, weight)


def before_and_after(index: ViewIndex, encoder: Encoder, remedy: str) -> list[IndexRetriever]:
    """Return what searches an index right before a remedy and right after it, as it is served."""
    return [IndexRetriever(index, encoder, state) for state in (f"{BEFORE}{remedy}", remedy)]


def encoder_of(
    index: ViewIndex,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
    engine: Engine | None = None,
) -> Encoder:
    """Return `encoder`, loaded if need be, or the one that the index names.

    engine: what `embed` has batches embedded on.
    """
    encoder = stored_encoder(index) if encoder is None else as_config(encoder)
    if not isinstance(encoder, EncoderConfig):
        return on_engine(encoder, engine)
    if device is not None:
        encoder = replace(encoder, device=device)
    loaded = load_encoder(encoder, stored=index.header.asked_with)
    return on_engine(loaded.encoder, engine, loaded.config)


def stored_encoder(index: ViewIndex) -> EncoderConfig:
    """Return the configuration in index.json; InputError when there is none, or it is broken.

    So it is where a key would be sent, or code be run, by the word of the index alone.
    """
    settings = index.header.encoder
    if not settings.get("model"):
        raise InputError(
            f"does not name an encoder that can be loaded (its vectors: {index.fingerprint})",
            expected="an encoder",
            fix="Give the encoder that made it (--encoder).",
            where=index.path,
        )
    try:
        config = EncoderConfig(**settings)
    except TypeError as error:
        raise InputError(
            f"encoder settings {settings} ({error})",
            expected="what Argus wrote",
            fix="Give the encoder (--encoder), or restore the file from a copy.",
            where=index.path / FILE,
        ) from error
    check_pair(config, index.path / FILE)
    check_code(config, index.path / FILE)
    return config
