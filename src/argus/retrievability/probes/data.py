"""Read the data that a probe is fitted on: scores of an audit's folder, their vectors, splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from argus.data.folders import MANIFEST, SUMMARY, ArtifactFolder, check_one_run
from argus.data.provenance import content_hash
from argus.data.reading import reading
from argus.data.tables import read_table
from argus.data.types import FloatArray, State
from argus.encoders import EmbeddingStore, stored_fingerprint
from argus.encoders.store import stored_dim
from argus.errors import InputError, Location
from argus.retrievability.audit.config import Pooling
from argus.retrievability.hypergeometric import hit_probability
from argus.retrievability.pairs import FILE as PAIRS
from argus.retrievability.pairs import read_pairs

AGAIN = "Run argus research audit again with the same --out; what was embedded is kept."
TRAIN, VALIDATION, TEST = "train", "validation", "test"
SHARES = {TRAIN: 0.8, VALIDATION: 0.1, TEST: 0.1}
MIN_ENTITIES = 10  # fewer in the validation or the test split say nothing about a probe
COLUMNS = ("id", "label", "rps", "related", "vector", "state")


@dataclass(frozen=True)
class Audited:
    """The scored entities of an audit, ordered by id. Arrays have shape (n, ...).

    hit_variance: unbiased variance of the hit probabilities over T_x. NaN for fewer than two.
    keys: key of each entity's vector in the audit's store. origin: what a fit notes of the audit:
    inputs (by name, file and hash), relations and limit.
    """

    ids: list[str]
    labels: list[str]
    rps: npt.NDArray[np.float64]
    related: npt.NDArray[np.int64]
    hit_variance: npt.NDArray[np.float64]
    keys: list[bytes]
    vectors: FloatArray
    fingerprint: str
    pooling: str
    k: int
    pool: int
    origin: dict[str, Any]


def read_audit(folder: Path) -> Audited:
    """Read the audit in `folder`.

    Raises InputError when there is none, when it is damaged, and when its store of vectors is gone.
    """
    table, expected = folder / "retrievability.parquet", "what argus research audit wrote"
    manifest, summary = (
        ArtifactFolder(folder).read_json(name).get("audit") for name in (MANIFEST, SUMMARY)
    )
    if manifest is None or summary is None or not table.is_file():
        raise InputError(
            "no audit in it",
            expected="a folder that argus research audit wrote",
            fix="Check --audit, or run argus research audit --out DIR first.",
            where=folder,
        )
    place = Location(folder / SUMMARY, field="audit")
    with reading(place, "is damaged", expected=expected, fix=AGAIN):
        k, pool, pooling = summary["k"], summary["pool"], summary["pooling"]
        if not (k >= 1 and pool >= 1 and pooling in get_args(Pooling)):
            raise ValueError(f"k={k}, pool={pool}, pooling={pooling}")
    place = Location(folder / MANIFEST, field="audit")
    with reading(place, "is damaged", expected=expected, fix=AGAIN):
        store, fingerprint = (
            folder / manifest["encoder"]["store"],
            manifest["encoder"]["fingerprint"],
        )
        config = {name: manifest["config"].get(name) for name in ("relations", "limit")}
        inputs = {
            name: {"file": Path(one["file"]), "sha256": one["sha256"]}
            for name, one in manifest["inputs"].items()
        }
    check_one_run(folder, "audit")
    with reading(table, "is damaged", expected=expected, fix=AGAIN):
        entities = read_table(table, COLUMNS).to_pylist()
        rows = sorted(
            (row for row in entities if row["state"] == State.MEASURED), key=lambda row: row["id"]
        )
        ids = [row["id"] for row in rows]
        rps = np.array([float(row["rps"]) for row in rows], np.float64)
        related = np.array([int(row["related"]) for row in rows], np.int64)
        keys = [bytes.fromhex(row["vector"]) for row in rows]
    if not rows:
        raise InputError(
            "no entity in it has a score",
            expected="scored entities to learn from",
            fix="See in its report why; then audit again.",
            where=table,
        )
    return Audited(
        ids=ids,
        labels=[row["label"] for row in rows],
        rps=rps,
        related=related,
        hit_variance=_hit_variance(folder / PAIRS, ids, k=k, pool=pool),
        keys=keys,
        vectors=_vectors(store, fingerprint, keys),
        fingerprint=fingerprint,
        pooling=pooling,
        k=k,
        pool=pool,
        origin={"inputs": inputs, **config},
    )


def _hit_variance(path: Path, ids: list[str], *, k: int, pool: int) -> npt.NDArray[np.float64]:
    """Return the variance of each entity's hits, from the pairs that the audit scored."""
    n, pairs = len(ids), read_pairs(path, ids)
    scored = pairs.pool >= pool - 1
    owner = pairs.entity[scored]
    hits = hit_probability(pairs.above[scored], pairs.pool[scored], k=k, draws=pool - 1)
    related = np.bincount(owner, minlength=n)
    mean = np.bincount(owner, weights=hits, minlength=n) / np.maximum(related, 1)
    squares = np.bincount(owner, weights=(hits - mean[owner]) ** 2, minlength=n)
    return np.where(related > 1, squares / np.maximum(related - 1, 1), np.nan)


def _vectors(path: Path, fingerprint: str, keys: list[bytes]) -> FloatArray:
    again = f"Put it back. Or: {AGAIN[0].lower()}{AGAIN[1:]}"
    if stored_fingerprint(path) is None:
        raise InputError(
            "the store of the audit's vectors is not there",
            expected="the folder that the audit wrote them into", fix=again, where=path,
        )  # fmt: skip
    dim = stored_dim(path)
    with EmbeddingStore(path, fingerprint=fingerprint, dim=dim, writes=False) as store:
        if missing := int((store.rows(keys) < 0).sum()):
            raise InputError(
                f"lacks the vectors of {missing} of {len(keys)} scored entities",
                expected="every vector that the audit scored", fix=AGAIN, where=path,
            )  # fmt: skip
        return store.gather(keys)


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
    hashes = (content_hash(first[vector], str(seed), size=8) for vector in vectors)
    draws = np.array([int.from_bytes(digest) / 2**64 for digest in hashes])
    edges = np.cumsum(list(SHARES.values()))[:-1]
    parts = np.array(list(SHARES))[np.searchsorted(edges, draws, side="right")]
    fewest = min(int((parts == name).sum()) for name in (VALIDATION, TEST))
    if fewest < MIN_ENTITIES:
        raise InputError(
            f"{len(ids)} scored entities leave {fewest} to validate or test on",
            expected=f"at least {MIN_ENTITIES} in each, of some {MIN_ENTITIES * 15} scored",
            fix="Audit a larger corpus, or give more relations, so that more entities are scored.",
            where="--audit",
        )
    return parts
