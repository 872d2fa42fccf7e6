"""Where one document would come for one question under a blend that an index does not have.

Nothing is written: the sentences of a few documents are embedded in memory, and searched beside the
views that the index holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from argus.data.types import Document, FloatArray, Query, View
from argus.encoders.protocol import COSINE
from argus.errors import InputError
from argus.indexes.blend import Blend
from argus.indexes.originals import titled
from argus.indexes.retriever import FUSED_DEPTH, IndexRetriever
from argus.indexes.snapshot import Snapshot, rows_to_views
from argus.indexes.views import ORIGINAL
from argus.remedies.blend.config import SentenceSettings
from argus.remedies.blend.parts import Searched, check_cosine
from argus.remedies.blend.sentences import sentence_views

NEAREST = 20
"""Documents that come first now whose sentences count beside the wanted one's."""
SENTENCES = 400
"""Sentences that are embedded at most: a second or two of one question."""
WITHOUT_HUBS = Blend(hubs=0)
"""The default blend less its hub correction, which takes sentences of the whole corpus."""


@dataclass(frozen=True, slots=True)
class BlendPreview:
    """Where the document would come.

    rank: None beyond `depth`, how many documents of each ranking are fused. documents: those whose
    sentences count, the wanted one among them; sentences: how many were embedded. A document of
    one sentence has none beside its own text.
    """

    rank: int | None
    depth: int
    documents: int
    sentences: int


def can_preview(retriever: IndexRetriever) -> bool:
    """Return whether a blend could be added to what is searched, and is not there."""
    return retriever.recipe.blend is None and retriever.index.header.similarity == COSINE


def preview_blend(
    query: str, doc_id: str, retriever: IndexRetriever, k: int = 10, blend: Blend = WITHOUT_HUBS
) -> BlendPreview | None:
    """Return where a document would come under a blend; None where the search has one already.

    Sentences of the document and of the NEAREST that come first now count, all others are scored by
    what the index holds of them: a document far behind may rise, too, so a rank can be too good.
    Candidates are the first FUSED_DEPTH (or k) by vectors. Raises InputError for a document that is
    not in the index, for a blend with hubs or smoothing, and for an index that does not rank by
    cosine, whose search no blend can be added to.
    """
    _check(retriever, blend)
    if retriever.recipe.blend is not None:
        return None
    snapshot, depth = retriever.index.snapshot(retriever.as_of), max(k, FUSED_DEPTH)
    snapshot.positions([doc_id])  # an unknown document is an error now
    question = [Query("query", query)]
    vector = np.asarray(retriever.encoder.encode_queries([query]), np.float32)
    corrected = retriever.recipe.correct(vector)
    near = snapshot.search(corrected, depth, retriever.weight).doc_ids[0]
    first = dict.fromkeys([doc_id, *retriever.rank(question, vector, NEAREST)["query"]])
    views, n_documents = _sentences_of(snapshot, first)
    candidates = _views_of(snapshot, dict.fromkeys([*first, *near]))
    small = _with(snapshot, candidates, views, retriever)
    searched = Searched(small.blended(blend), retriever.lexical(), retriever.weight)
    ranked = list(searched.run(question, corrected, depth, blend)["query"])
    return BlendPreview(
        ranked.index(doc_id) + 1 if doc_id in ranked else None,
        depth,
        n_documents,
        len(views),
    )


def _check(retriever: IndexRetriever, blend: Blend) -> None:
    check_cosine(retriever.index.header.similarity, retriever.index.path)
    if blend.per_document:
        raise InputError(
            f"hubs {blend.hubs:g}, smoothing {blend.smoothing:g}",
            expected="0: both are measured on the whole corpus",
            fix="Add the blend itself, which measures them: argus remedy blend.",
            where="blend",
        )


def _sentences_of(snapshot: Snapshot, doc_ids: Iterable[str]) -> tuple[list[View], int]:
    """Return sentence views of the first documents, as many as may be embedded, and of how many.

    The first document's all count, whatever their number.
    """
    sentences: list[View] = []
    n_documents = 0
    for doc_id in doc_ids:
        own = [view for view in _views_of(snapshot, [doc_id]) if view[1].kind == ORIGINAL]
        documents = [titled(Document(doc_id, v.text, v.source or "")) for _, v in own[:1]]
        views = sentence_views(documents, "preview", SentenceSettings().max_views).views
        if sentences and len(sentences) + len(views) > SENTENCES:
            break
        sentences += views
        n_documents += 1
    return sentences, n_documents


def _views_of(snapshot: Snapshot, doc_ids: Iterable[str]) -> list[tuple[int, View]]:
    """Return the views of documents with their rows."""
    return [one for doc_id in doc_ids for one in _rows(snapshot, doc_id)]


def _rows(snapshot: Snapshot, doc_id: str) -> Iterator[tuple[int, View]]:
    rows = snapshot.rows_of(doc_id)
    return zip(rows, rows_to_views(snapshot.columns.slice(rows.start, len(rows))), strict=True)


def _with(
    snapshot: Snapshot,
    candidates: Sequence[tuple[int, View]],
    sentences: Sequence[View],
    retriever: IndexRetriever,
) -> Snapshot:
    """Return a snapshot of the candidates' views and some sentences."""
    vectors: FloatArray = snapshot.vectors[[row for row, _ in candidates]]
    if sentences:
        embedded = retriever.encoder.encode_documents([view.text for view in sentences])
        vectors = np.concatenate([vectors, np.asarray(embedded, np.float32)])
    return Snapshot.of([*(view for _, view in candidates), *sentences], vectors)
