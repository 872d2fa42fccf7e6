"""What a blend is made of: sentence views with their vectors, and numbers per document.

It knows documents, their vectors and an encoder; where what it makes is kept (an index, a store) is
another's matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import Document, FloatArray, IntArray, View
from argus.encoders import EmbeddingStore, Encoder, embed
from argus.encoders import documents as as_documents
from argus.errors import ArgusError, InputError
from argus.indexes.blend import BLEND, Blend
from argus.indexes.prescribed import DocumentNumbers
from argus.remedies.blend.config import SentenceSettings
from argus.remedies.blend.hubness import draw_sample, hubness
from argus.remedies.blend.sentences import SentenceViews, sentence_views
from argus.remedies.blend.smoothing import smoothed


@dataclass(frozen=True)
class BlendPlan:
    """A blend, how its views are made, and the id that it has as a remedy of its documents."""

    blend: Blend
    sentences: SentenceSettings
    remedy: str

    @classmethod
    def of(
        cls,
        blend: Blend,
        sentences: SentenceSettings,
        documents: Sequence[Document],
        parents: Mapping[str, str] | None = None,
    ) -> BlendPlan:
        """Return the plan; equal blends of equal documents share an id.

        Raises InputError for a blend with every part off.
        """
        if not (blend.sentences or blend.per_document or blend.bm25):
            raise InputError(
                "a blend with every part off",
                expected="one part at least: λ below 1, or hubs, BM25 or smoothing above 0",
                fix="Leave the options out for λ = 0.7, hubs 0.1, BM25 0.2.",
                where="--lambda",
            )
        parts = [repr(blend), repr(sentences)]
        for d in documents:
            parts += [d.id, d.text, d.title, str(d.metadata.get("added", ""))]
        for chunk, parent in (parents or {}).items():
            parts += [chunk, parent]
        return cls(blend, sentences, f"{BLEND}-{content_hash(*parts, size=4).hex()}")


@dataclass(frozen=True)
class Making:
    """What came of it. Views are those with a vector; none where sentences are off."""

    views: list[View]
    vectors: FloatArray
    """(n_views, dim), unit rows."""
    proposal: SentenceViews
    failed: int
    """Sentences that could not be embedded."""
    sample: int
    """Sentences on which hubness was measured."""
    numbers: DocumentNumbers | None
    """None where the blend keeps none."""


def make_blend(
    plan: BlendPlan,
    documents: Sequence[Document],
    vectors: FloatArray,
    encoder: Encoder,
    store: EmbeddingStore,
    parents: Mapping[str, str] | None = None,
) -> Making:
    """Make the views of a blend and its numbers; what was embedded is kept in `store`.

    vectors: (n_documents, dim), unit rows, the documents' own. parents: the document of a chunk;
    sentences of its siblings make a chunk no hub. Raises ArgusError where no sentence
    can be embedded.
    """
    blend, settings = plan.blend, plan.sentences
    proposal = sentence_views(documents, plan.remedy, settings.max_views)
    texts = [view.text for view in proposal.views] if blend.sentences else []
    embedded = embed(as_documents(texts), encoder, store, what="sentences")
    if texts and not embedded.ok.any():
        raise ArgusError(
            f"none of {len(texts):,} sentences could be embedded "
            f"({next(iter(embedded.failures.values()))}), so nothing was added."
        )
    views = [view for view, ok in zip(proposal.views, embedded.ok, strict=False) if ok]
    numbers, sample = None, 0
    if blend.per_document:
        hubs = np.zeros(len(documents), np.float32)
        if blend.hubs:
            sentences, holders = _sample(proposal, vectors, encoder, store, settings.seed)
            if parents:
                holders = _with_siblings(holders, [parents.get(d.id, d.id) for d in documents])
            hubs, sample = hubness(vectors, sentences, holders), len(holders)
        numbers = DocumentNumbers(
            [d.id for d in documents],
            hubs,
            smoothed(vectors, blend.smoothing) if blend.smoothing else None,
            _commits(documents),
        )
    return Making(views, embedded.vectors, proposal, len(embedded.failures), sample, numbers)


def _with_siblings(holders: Sequence[IntArray], parents: Sequence[str]) -> list[IntArray]:
    """Return with those that hold a sentence all chunks of their documents."""
    of: dict[str, list[int]] = {}
    for position, parent in enumerate(parents):
        of.setdefault(parent, []).append(position)
    return [
        np.array(sorted({i for position in held.tolist() for i in of[parents[position]]}))
        for held in holders
    ]


def _commits(documents: Sequence[Document]) -> IntArray | None:
    """Return the number of the commit that each document came with, where an index says it."""
    if any("added" not in d.metadata for d in documents):
        return None
    return np.array([d.metadata["added"] for d in documents], np.int64)


def _sample(
    proposal: SentenceViews, own: FloatArray, encoder: Encoder, store: EmbeddingStore, seed: int
) -> tuple[FloatArray, list[IntArray]]:
    """Return the vectors of the sentences that hubness is measured on, and who holds each.

    Drawn from views, which are embedded where sentences are on, and documents of one sentence.
    """
    of_views, whole = len(proposal.views), list(proposal.whole)
    drawn = draw_sample(of_views + len(whole), seed)
    views = drawn[drawn < of_views].tolist()
    documents = [whole[i - of_views] for i in drawn[drawn >= of_views]]
    texts = [proposal.views[i].text for i in views]
    embedded = embed(as_documents(texts), encoder, store, what="sentences")
    holders = [proposal.holders[i] for i, ok in zip(views, embedded.ok, strict=True) if ok]
    holders += [proposal.whole[position] for position in documents]
    vectors = np.concatenate([embedded.vectors, own[documents]]) if documents else embedded.vectors
    return vectors, [np.array(of) for of in holders]
