"""A correction of the query side: `q' = unit(q + α·U Wᵀ q)`, of low rank.

Documents stay as they are, so whoever serves the vectors (an index, a store, another program) can
search with corrected queries. It costs 2·rank·dim multiplications per query.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from argus.data.provenance import content_hash
from argus.data.reading import read_arrays
from argus.data.types import FloatArray
from argus.data.writing import replacing
from argus.encoders.protocol import unit_rows
from argus.errors import FingerprintMismatch, InputError
from argus.indexes.header import FILE as HEADER
from argus.indexes.header import read_header
from argus.indexes.recipes import REMEDIES

FILE = "correction.npz"
ARRAYS = ("u", "w", "alpha", "fingerprint")
LARGEST = 2.0**60
"""A query that is moved farther than this has a length whose square float32 does not hold."""
FIX = "Roll the remedy back and run it again, or restore the file from a copy."


@dataclass(frozen=True)
class QueryCorrection:
    """u, w: (dim, rank) float32. alpha: 0 changes nothing. fingerprint: of the encoder."""

    u: FloatArray
    w: FloatArray
    alpha: float
    fingerprint: str

    @property
    def rank(self) -> int:
        """Number of directions."""
        return int(self.u.shape[1])

    @property
    def identity(self) -> str:
        """A hash of all that it does to queries."""
        numbers = [np.ascontiguousarray(part).data for part in (self.u, self.w)]
        return content_hash(self.fingerprint, repr(self.alpha), *numbers).hex()

    def scaled(self, alpha: float) -> QueryCorrection:
        """Return the same directions, followed as far as `alpha` says."""
        return replace(self, alpha=alpha)

    def apply(self, queries: FloatArray) -> FloatArray:
        """Return corrected queries, (n, dim) unit rows; with α = 0 the queries themselves.

        Raises InputError for queries of another dimension.
        """
        if not self.alpha or not len(queries):
            return queries
        if queries.shape[1] != len(self.u):
            raise InputError(
                f"a correction of vectors of {len(self.u)} numbers for queries of "
                f"{queries.shape[1]}",
                expected="both of one length",
                fix=FIX,
            )
        moved = queries + np.float32(self.alpha) * ((queries @ self.w) @ self.u.T)
        return unit_rows(np.asarray(moved, np.float32))

    def check_fingerprint(self, fingerprint: str, where: Path) -> None:
        """Raise FingerprintMismatch unless this encoder embeds the queries that are corrected."""
        if fingerprint != self.fingerprint:
            raise FingerprintMismatch(where, stored=self.fingerprint, given=fingerprint)

    def save(self, file: Path) -> None:
        """Write it as .npz, whole or not at all."""
        with replacing(file) as temporary, temporary.open("wb") as handle:
            np.savez(
                handle, u=self.u, w=self.w, alpha=np.float64(self.alpha),
                fingerprint=np.array(self.fingerprint),
            )  # fmt: skip


def read_correction(file: Path) -> QueryCorrection:
    """Read what `save` wrote; InputError for anything else."""
    arrays = read_arrays(file, fix=FIX)
    if missing := [name for name in ARRAYS if name not in arrays]:
        raise _damaged(file, f"no array {missing[0]!r}")
    u, w, alpha, fingerprint = (arrays[name] for name in ARRAYS)
    if not all(one.dtype.kind == "f" for one in (u, w, alpha)) or alpha.size != 1:
        raise _damaged(file, f"arrays of {u.dtype}, {w.dtype} and {alpha.dtype}")
    if u.ndim != 2 or u.shape != w.shape:
        raise _damaged(file, f"arrays of shapes {u.shape} and {w.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        by, left, right = (np.linalg.norm(one.astype(float).ravel()) for one in (alpha, u, w))
        sizes = np.array([by, left, right, left * right, by * left * right])
    if not (sizes < LARGEST).all():
        raise _damaged(file, f"not finite, or too large: alpha = {float(alpha.item()):g}")
    return QueryCorrection(
        u.astype(np.float32), w.astype(np.float32), float(alpha.item()), str(fingerprint)
    )


def find_correction(path: Path) -> Path:
    """Return the file of a correction: itself, in the folder of a remedy, or an index's latest.

    Raises InputError where there is none.
    """
    if path.is_file():
        return path
    if (path / FILE).is_file():
        return path / FILE
    if (path / HEADER).is_file():
        latest = [r.remedy for r in read_header(path).recipes if r.corrects][-1:]
        if latest:
            return path / REMEDIES / latest[0] / FILE
    raise InputError(
        "no correction of queries",
        expected=f"{FILE}, the folder of a remedy that holds one, or an index that is searched so",
        fix="Learn one: argus remedy adapt --index INDEX --profiles PATH.",
        where=path,
    )


def _damaged(file: Path, problem: str) -> InputError:
    return InputError(
        f"cannot be read as a correction of queries ({problem})",
        expected=f"a .npz file of {', '.join(ARRAYS)}, as Argus wrote it",
        fix=FIX,
        where=file,
    )
