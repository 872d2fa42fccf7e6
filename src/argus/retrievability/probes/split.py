"""Train, validation and test entities: by a hash of their content, not by position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.errors import InputError

TRAIN, VALIDATION, TEST = "train", "validation", "test"
SHARES = {TRAIN: 0.8, VALIDATION: 0.1, TEST: 0.1}
MIN_ENTITIES = 10
"""Fewer in the validation or the test split say nothing about a probe."""


def split_entities(
    ids: Sequence[str], vectors: Sequence[bytes], *, seed: int
) -> npt.NDArray[np.str_]:
    """Return "train", "validation" or "test" per entity, about 80/10/10, shape (n,).

    vectors: identity of each entity's vector. Entities with one id, or with one vector (the
    same text under two ids), are duplicates and share a split. It depends on ids, vectors and seed
    alone: not on the order of rows, and but for duplicates not on which other entities there are.
    Raises InputError when validation or test get fewer than MIN_ENTITIES.
    """
    first: dict[bytes, str] = {}
    for id_, vector in sorted(zip(ids, vectors, strict=True)):
        first.setdefault(vector, id_)
    groups = [first[vector] for vector in vectors]
    draws = np.array([_draw(group, seed) for group in groups])
    edges = np.cumsum(list(SHARES.values()))[:-1]
    parts = np.array(list(SHARES))[np.searchsorted(edges, draws, side="right")]
    fewest = min((int((parts == name).sum()) for name in (VALIDATION, TEST)), default=0)
    if fewest < MIN_ENTITIES:
        raise InputError(
            f"{len(ids)} scored entities leave {fewest} to validate or test on",
            expected=f"at least {MIN_ENTITIES} in each, of some {MIN_ENTITIES * 15} scored",
            fix="Audit a larger corpus, or give more relations, so that more entities are scored.",
            where="--audit",
        )
    return parts


def _draw(group: str, seed: int) -> float:
    """Return a uniform number in [0, 1) that belongs to the entity and the seed."""
    return int.from_bytes(content_hash(group, str(seed), size=8)) / 2**64
