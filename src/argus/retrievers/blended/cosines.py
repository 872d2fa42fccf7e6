"""What the scores of a store are as cosines: told by records whose vectors are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray
from argus.encoders.protocol import unit_rows
from argus.errors import InputError
from argus.stores.protocol import Records, Store
from argus.stores.records import whole_rows

Float64Array = npt.NDArray[np.float64]
Cosines = Callable[[Float64Array], Float64Array]
QUERIES, RESULTS = 4, 16
"""Searches by which the scores of a store are told, and results of each."""
NOISE = 0.5
TOLERANCE = 0.02
"""How far a score may be from a cosine, as quantised vectors make it."""

WAYS: tuple[Cosines, ...] = (
    lambda scores: scores,
    lambda scores: 1 + scores,
    lambda scores: 1 + scores / 2,
    lambda scores: 1 - scores * scores / 2,
)
"""From a cosine itself, and with its sign turned a cosine distance, a squared and a plain L2."""


def cosines_of(store: Store, page: Records) -> Cosines:
    """Return what makes cosines of a store's scores. page: some of its records.

    Raises InputError where no known way does.
    """
    pairs = np.array(list(_pairs(store, page)), np.float64).reshape(-1, 2)
    if not len(pairs):
        raise _no_cosines(store, "no record is found near its own vector")
    scores, cosines = pairs.T
    off = [float(np.abs(way(scores) - cosines).max()) for way in WAYS]
    best = int(np.argmin(off))
    if off[best] > TOLERANCE:
        raise _no_cosines(store, f"scores are {off[best]:.3f} off a cosine, whatever they are")
    return WAYS[best]


def _pairs(store: Store, page: Records) -> Iterator[tuple[float, float]]:
    """Yield score and cosine of results whose vectors are known, for queries near some of them."""
    rows, _ = whole_rows(page, range(len(page.ids)))
    if not rows:
        return
    rng = np.random.default_rng(0)
    some = rng.choice(rows, QUERIES)
    noise = unit_rows(rng.normal(size=(QUERIES, page.vectors.shape[1])).astype(np.float32))
    queries: FloatArray = unit_rows(unit_rows(page.vectors[some]) + np.float32(NOISE) * noise)
    vectors = {page.ids[row]: unit_rows(page.vectors[row : row + 1])[0] for row in rows}
    for query, hits in zip(queries, store.search(queries, RESULTS), strict=True):
        for id_, score in hits:
            if id_ in vectors:
                yield score, float(vectors[id_].astype(float) @ query.astype(float))


def _no_cosines(store: Store, why: str) -> InputError:
    return InputError(
        f"does not score by cosine: {why}",
        expected="unit vectors that are ranked by cosine, dot product or L2",
        fix="Write the records into a collection that ranks by cosine.",
        where=store.name,
    )
