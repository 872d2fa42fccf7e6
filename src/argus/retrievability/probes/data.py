"""Read the training data of RPS predictors from an audit, split it, and measure their errors.

The first and last step of `research probe fit`. `read_audit`: the folder of `research audit` -> the
vector and the score of each entity. `split_entities` cuts them into about 80/10/10 by vector.
`measure` compares predicted and measured scores: RMSE, correlations, F1 of bands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.folders import MANIFEST, SUMMARY, ArtifactFolder, check_one_run
from argus.data.provenance import content_hash
from argus.data.reading import reading
from argus.data.tables import read_table
from argus.data.types import FloatArray, State
from argus.encoders import EmbeddingStore
from argus.encoders.store import read_header
from argus.errors import InputError
from argus.retrievability import rps

AGAIN = "Run argus research audit again with the same --out; what was embedded is kept."
TRAIN, VALIDATION, TEST = "train", "validation", "test"
SHARES = {TRAIN: 0.8, VALIDATION: 0.1, TEST: 0.1}
MIN_ENTITIES = 10  # fewer in the validation or the test split say nothing about a probe
COLUMNS = ("id", "label", "rps", "related", "vector", "state")


@dataclass(frozen=True)
class Audited:
    """The scored entities of an audit, ordered by id. Arrays have shape (n, ...).

    keys: key of each entity's vector in the audit's store. origin: what a fit notes of the audit:
    inputs (by name, file and hash), relations and limit.
    """

    ids: list[str]
    labels: list[str]
    rps: npt.NDArray[np.float64]
    related: npt.NDArray[np.int64]
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
        fix = "Check --audit, or run argus research audit --out DIR first."
        raise InputError("no audit in it", expected=expected, fix=fix, where=folder)
    with reading(folder / SUMMARY, "is damaged", expected=expected, fix=AGAIN):
        k, pool, pooling = (summary[name] for name in ("k", "pool", "pooling"))
    with reading(folder / MANIFEST, "is damaged", expected=expected, fix=AGAIN):
        encoder = manifest["encoder"]
        store, fingerprint = folder / encoder["store"], encoder["fingerprint"]
        origin = {name: manifest["config"].get(name) for name in ("relations", "limit")}
        origin["inputs"] = {
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
        fix = "See in its report why; then audit again."
        raise InputError("no entity in it has a score", expected=expected, fix=fix, where=table)
    header, again = read_header(store), f"Put it back. Or: {AGAIN[0].lower()}{AGAIN[1:]}"
    if header is None:
        raise InputError(
            "the store of the audit's vectors is not there",
            expected="the folder that the audit wrote them into", fix=again, where=store,
        )  # fmt: skip
    with EmbeddingStore(store, fingerprint=fingerprint, dim=header["dim"]) as stored:
        if missing := int((stored.rows(keys) < 0).sum()):
            raise InputError(
                f"lacks the vectors of {missing} of {len(keys)} scored entities",
                expected="every vector that the audit scored, embedded here and not by a store",
                fix=AGAIN, where=store,
            )  # fmt: skip
        vectors = stored.gather(keys)
    return Audited(
        ids=ids, labels=[row["label"] for row in rows], rps=rps, related=related, keys=keys,
        vectors=vectors, fingerprint=fingerprint, pooling=pooling, k=k, pool=pool, origin=origin,
    )  # fmt: skip


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


BANDS = ["low", "mid", "high"]
Floats = npt.NDArray[np.float64]
Figures = dict[str, float | None]


def measure(labels: Floats, predicted: Floats) -> Figures:
    """Compare RPS with its prediction, both (n,), to six digits.

    A band that is never predicted has precision 0, and one that does not occur counts as 0 in
    macro figures, as in scikit-learn. Bands are those of `argus.retrievability.rps`.

    rmse: root mean squared error.
    mae: mean absolute error.
    pearson, spearman: correlations. None with a constant.
    macro_f1, macro_recall, macro_precision: of the bands, in the mean.
    weighted_precision, weighted_f1: of the bands, weighed by their size.
    accuracy: share whose band is right.
    """
    from scipy.stats import pearsonr, spearmanr
    from sklearn.metrics import precision_recall_fscore_support

    error = predicted - labels
    varies = len(labels) > 1 and min(np.ptp(labels), np.ptp(predicted)) > 0
    truth, guess = rps.band(labels), rps.band(predicted)
    macro, weighted = (
        precision_recall_fscore_support(
            truth, guess, labels=BANDS, average=average, zero_division=0
        )
        for average in ("macro", "weighted")
    )
    figures = {
        "rmse": np.sqrt(np.mean(error**2)),
        "mae": np.abs(error).mean(),
        "pearson": pearsonr(labels, predicted).statistic if varies else None,
        "spearman": spearmanr(labels, predicted).statistic if varies else None,
        "macro_f1": macro[2],
        "macro_recall": macro[1],
        "macro_precision": macro[0],
        "weighted_precision": weighted[0],
        "weighted_f1": weighted[2],
        "accuracy": (truth == guess).mean(),
    }
    return {n: None if f is None else round(float(f), 6) for n, f in figures.items()}
