"""Documents that an index holds already: the same ones are done, changed ones are refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from argus.data.types import FloatArray, View
from argus.encoders.rows import UNIT_TOLERANCE
from argus.errors import InputError
from argus.indexes.table import first_of
from argus.indexes.views import ORIGINAL, ViewIndex


def known_documents(
    index: ViewIndex, views: Sequence[View], vectors: FloatArray | None = None
) -> frozenset[str]:
    """Return the ids of documents that an index holds as they are; InputError for changed ones.

    vectors: a row per view, where they are a person's own: they have to be the same, too.
    """
    texts = index.texts(ORIGINAL)
    there = dict(zip(texts["doc_id"], texts["text"], strict=True))
    changed = sorted(v.doc_id for v in views if there.get(v.doc_id, v.text) != v.text)
    known = frozenset(v.doc_id for v in views if v.doc_id in there)
    if vectors is not None and known and not changed:
        changed = _of_other_vectors(index, views, vectors)
    if changed:
        raise InputError(
            f"{len(changed)} of the documents are in it already with another text or "
            f"vector: {first_of(changed)}",
            expected="new documents, or those of the index as they are",
            fix="Leave them out, or delete them first with `argus index delete`.",
            where=index.path,
        )
    return known


def _of_other_vectors(index: ViewIndex, views: Sequence[View], vectors: FloatArray) -> list[str]:
    """Return the documents whose vector in an index is another one than here."""
    snapshot = index.snapshot(ORIGINAL)
    rows = {view.doc_id: row for row, view in enumerate(snapshot.views)}
    return [
        view.doc_id
        for view, vector in zip(views, vectors, strict=True)
        if view.doc_id in rows
        and not np.allclose(vector, snapshot.vectors[rows[view.doc_id]], atol=UNIT_TOLERANCE)
    ]
