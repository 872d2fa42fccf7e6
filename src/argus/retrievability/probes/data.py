"""Data that a probe is fitted on: the scores of an audit's folder and their vectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from argus.data.folders import MANIFEST, SUMMARY, check_one_run, read_section
from argus.data.tables import open_parquet, read_records, require_shares, require_unique
from argus.data.types import FloatArray, State
from argus.encoders import EmbeddingStore, stored_fingerprint
from argus.encoders.store import HEADER, stored_dim
from argus.errors import InputError, Location
from argus.retrievability.hypergeometric import hit_probability
from argus.retrievability.pair_table import FILE as PAIRS
from argus.retrievability.pair_table import read_pairs


class AuditFile(TypedDict):
    """A file that the audit read."""

    file: str
    sha256: str


class AuditSettings(TypedDict):
    """Settings of an audit that choose its entities and relations."""

    limit: NotRequired[int | None]
    relations: NotRequired[str | None]


class AuditEncoder(TypedDict):
    """Encoder of the vectors that the audit scored, and their place."""

    fingerprint: str
    store: NotRequired[str]
    dim: NotRequired[int]


class AuditOrigin(TypedDict):
    """Fields that a fit takes of the audit's section of manifest.json."""

    inputs: dict[str, AuditFile]
    config: AuditSettings
    encoder: AuditEncoder


class AuditHeadline(TypedDict):
    """Fields that a fit takes of the audit's section of summary.json."""

    k: int
    pool: int
    pooling: str


class Row(TypedDict):
    """Columns that a fit takes of an entity, from retrievability.parquet."""

    id: str
    label: str
    rps: float
    related: int
    vector: str
    """Key in the store, in hexadecimal."""
    state: str


AGAIN = "Run argus research audit again with the same --out; what was embedded is kept."


@dataclass(frozen=True)
class Audited:
    """The scored entities of an audit, ordered by id."""

    ids: list[str]
    labels: list[str]
    rps: npt.NDArray[np.float64]
    related: npt.NDArray[np.int64]
    hit_variance: npt.NDArray[np.float64]
    """Unbiased variance of the hit probabilities over T_x. NaN for fewer than two, or without."""
    keys: list[bytes]
    """Key of each entity's vector in the audit's store."""
    vectors: FloatArray
    """Shape (n, dim)."""
    fingerprint: str
    pooling: str
    k: int
    pool: int
    origin: AuditOrigin


def read_audit(folder: Path) -> Audited:
    """Read the audit in `folder`.

    Raises InputError when there is none, when it was made before audits kept the keys of vectors,
    and when its store of vectors is gone.
    """
    origin, headline = _sections(folder)
    table = folder / "retrievability.parquet"
    entities = read_records(Row, table)
    rows = sorted((r for r in entities if r["state"] == State.MEASURED), key=lambda row: row["id"])
    if not rows:
        raise InputError(
            "no entity in it has a score",
            expected="scored entities to learn from",
            fix="See in its report why; then audit again.",
            where=table,
        )
    ids = [row["id"] for row in rows]
    require_unique(ids, table)
    require_shares(ids, [row["rps"] for row in rows], table, "rps")
    keys = [_key(row, table) for row in rows]
    k, pool, encoder = headline["k"], headline["pool"], origin["encoder"]
    return Audited(
        ids=ids,
        labels=[row["label"] for row in rows],
        rps=np.array([row["rps"] for row in rows], np.float64),
        related=np.array([row["related"] for row in rows], np.int64),
        hit_variance=_hit_variance(folder / PAIRS, ids, k=k, pool=pool),
        keys=keys,
        vectors=_vectors(folder, encoder, keys),
        fingerprint=encoder["fingerprint"],
        pooling=headline["pooling"],
        k=k,
        pool=pool,
        origin=origin,
    )


def _key(row: Row, table: Path) -> bytes:
    """Return the key of an entity's vector. InputError where it is none, or there is no score."""
    for name in ("rps", "related", "vector"):
        if row.get(name) is None:
            raise _damaged(table, name, f"nothing for {row['id']!r}, which was measured")
    try:
        return bytes.fromhex(row["vector"])
    except ValueError as error:
        raise _damaged(table, "vector", f"{row['vector']!r:.80} for {row['id']!r}") from error


def _damaged(path: Path, field: str, what: str) -> InputError:
    return InputError(
        what,
        expected="what argus research audit wrote",
        fix=AGAIN,
        where=Location(path, field=field),
    )


def _sections(folder: Path) -> tuple[AuditOrigin, AuditHeadline]:
    """Return the fields of the audit's manifest and summary, checked."""
    origin = read_section(AuditOrigin, folder, "audit", of=MANIFEST)
    headline = read_section(AuditHeadline, folder, "audit")
    table = folder / "retrievability.parquet"
    if origin is None or headline is None or not table.is_file():
        raise InputError(
            "no audit in it",
            expected="a folder that argus research audit wrote",
            fix="Check --audit, or run argus research audit --out DIR first.",
            where=folder,
        )
    if "vector" not in open_parquet(table).schema_arrow.names or "store" not in origin["encoder"]:
        raise InputError(
            "an audit that does not say where its vectors are",
            expected='the column "vector", and the store in manifest.json',
            fix=AGAIN,
            where=table,
        )
    for name, value in (("k", headline["k"]), ("pool", headline["pool"])):
        if value < 1:
            raise _damaged(folder / SUMMARY, f"audit.{name}", f"{name}={value}")
    check_one_run(folder, "audit")
    return origin, headline


def _hit_variance(path: Path, ids: list[str], *, k: int, pool: int) -> npt.NDArray[np.float64]:
    """Return the variance of each entity's hits, from the pairs that the audit scored."""
    n = len(ids)
    if not path.is_file():
        return np.full(n, np.nan)
    pairs = read_pairs(path, ids)
    scored = pairs.pool >= pool - 1
    owner = pairs.entity[scored]
    hits = hit_probability(pairs.above[scored], pairs.pool[scored], k=k, draws=pool - 1)
    related = np.bincount(owner, minlength=n)
    mean = np.bincount(owner, weights=hits, minlength=n) / np.maximum(related, 1)
    squares = np.bincount(owner, weights=(hits - mean[owner]) ** 2, minlength=n)
    return np.where(related > 1, squares / np.maximum(related - 1, 1), np.nan)


def _vectors(folder: Path, encoder: AuditEncoder, keys: list[bytes]) -> FloatArray:
    path = folder / encoder["store"]
    if stored_fingerprint(path) is None:
        raise InputError(
            "the store of the audit's vectors is not there",
            expected="the folder that the audit wrote them into",
            fix=f"Put it back. Or: {AGAIN[0].lower()}{AGAIN[1:]}",
            where=path,
        )
    dim, fingerprint = _dim(folder / MANIFEST, path, encoder), encoder["fingerprint"]
    with EmbeddingStore(path, fingerprint=fingerprint, dim=dim, writes=False) as store:
        store.forget_broken(keys)
        missing = int((store.rows(keys) < 0).sum())
        if missing:
            raise InputError(
                f"lacks the vectors of {missing} of {len(keys)} scored entities",
                expected="every vector that the audit scored",
                fix=AGAIN,
                where=path,
            )
        return store.gather(keys)


def _dim(manifest: Path, store: Path, encoder: AuditEncoder) -> int:
    """Return the length of the audit's vectors, on which manifest and store agree."""
    stored = stored_dim(store)
    dim = encoder.get("dim", stored)
    if not isinstance(dim, int) or dim < 1 or dim != stored:
        raise InputError(
            f"says vectors of dim {dim}, {store / HEADER} of {stored}",
            expected="one dimension",
            fix=f"Restore the file that was changed. Or: {AGAIN[0].lower()}{AGAIN[1:]}",
            where=manifest,
        )
    return dim
