"""Read and apply the search settings that remedies wrote into an index: blend, query correction, λ.

index.json names them, and a correction lies in `remedies/ID/`. `ActiveRecipe` holds those that
count when an index is searched: the latest of each kind. A correction moves the query vector,
`q' = unit(q + α·U Wᵀ q)`, at low rank and a cost of 2·rank·dim multiplications. Documents stay as
they are, so an index, a vector store or another program can search with corrected queries.
`argus.indexes.blend` defines the weights, and `argus tune apply` computes the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from argus.data.provenance import content_hash
from argus.data.reading import read_arrays, reading
from argus.data.types import FloatArray
from argus.data.writing import replacing
from argus.encoders.protocol import unit_rows
from argus.errors import EncoderMismatch, InputError
from argus.indexes.blend import REMEDIES, Blend, Recipe
from argus.indexes.header import FILE as HEADER
from argus.indexes.header import read_header

CORRECTION = "correction.npz"
FIX = "Roll the remedy back and run it again, or restore the file from a copy."


@dataclass(frozen=True)
class QueryCorrection:
    """A low-rank move of queries.

    u, w: (dim, rank) float32. alpha: 0 changes nothing. fingerprint: of the encoder.
    """

    u: FloatArray
    w: FloatArray
    alpha: float
    fingerprint: str

    @property
    def identity(self) -> str:
        """A hash of all numbers."""
        numbers = [np.ascontiguousarray(part).data for part in (self.u, self.w)]
        return content_hash(self.fingerprint, repr(self.alpha), *numbers).hex()

    def apply(self, queries: FloatArray) -> FloatArray:
        """Return corrected queries, (n, dim) unit rows, the queries themselves if α is 0."""
        if not self.alpha or not len(queries):
            return queries
        moved = queries + np.float32(self.alpha) * ((queries @ self.w) @ self.u.T)
        return unit_rows(np.asarray(moved, np.float32))

    def check_fingerprint(self, fingerprint: str, where: Path) -> None:
        """Raise EncoderMismatch unless this encoder embeds the queries that are corrected."""
        if fingerprint != self.fingerprint:
            raise EncoderMismatch(where, stored=self.fingerprint, given=fingerprint)

    def save(self, file: Path) -> None:
        """Write it as .npz, whole or not at all."""
        with replacing(file) as temporary, temporary.open("wb") as handle:
            np.savez(
                handle, u=self.u, w=self.w, alpha=np.float64(self.alpha),
                fingerprint=np.array(self.fingerprint),
            )  # fmt: skip


def read_correction(file: Path) -> QueryCorrection:
    """Read a file of `QueryCorrection.save`. Raises InputError for anything else."""
    arrays = read_arrays(file, fix=FIX)
    expected = "a .npz file of u, w, alpha, fingerprint, as Argus wrote it"
    with reading(file, "cannot be read as a correction of queries", expected=expected, fix=FIX):
        u, w, alpha = (arrays[name] for name in ("u", "w", "alpha"))
        if u.ndim != 2 or u.shape != w.shape:
            raise ValueError(f"arrays of shapes {u.shape} and {w.shape}")
        if not all(np.isfinite(one).all() for one in (u, w, alpha)):
            raise ValueError("numbers that are not finite")
        u, w = u.astype(np.float32), w.astype(np.float32)
        return QueryCorrection(u, w, float(alpha.item()), str(arrays["fingerprint"]))


def find_correction(path: Path) -> Path:
    """Return the file of a correction: itself, in the folder of a remedy, or an index's latest.

    Raises InputError where there is none.
    """
    if path.is_file():
        return path
    if (path / CORRECTION).is_file():
        return path / CORRECTION
    if (path / HEADER).is_file():
        latest = [r.remedy for r in read_header(path).recipes if r.corrects][-1:]
        if latest:
            return path / REMEDIES / latest[0] / CORRECTION
    expected = (
        f"{CORRECTION}, the folder of a remedy that holds one, or an index that is searched so"
    )
    fix = "Learn one: argus tune apply adapt --index INDEX --profiles PATH."
    raise InputError("no correction of queries", expected=expected, fix=fix, where=path)


@dataclass(frozen=True)
class ActiveRecipe:
    """Search settings that count in one state of an index.

    remedies: ids of those that brought blend and correction. weight: λ of documents against their
    scenarios, None where no remedy sets it. sentences_of: remedies whose sentences count.
    """

    blend: Blend | None = None
    correction: QueryCorrection | None = None
    remedies: tuple[str, ...] = ()
    weight: float | None = None
    sentences_of: tuple[str, ...] = ()

    @classmethod
    def of(cls, recipes: Sequence[Recipe], index: Path) -> ActiveRecipe:
        """Return the latest blend, correction and λ among recipes."""
        blends = [r for r in recipes if r.blend is not None][-1:]
        corrections = [r for r in recipes if r.corrects][-1:]
        blend = correction = None
        sentences: tuple[str, ...] = ()
        for recipe in blends:
            blend = recipe.blend
            assert blend is not None
            if blend.sentences:
                sentences = (recipe.remedy, *recipe.relied_on)
        for recipe in corrections:
            correction = read_correction(index / REMEDIES / recipe.remedy / CORRECTION)
        used = tuple(dict.fromkeys(r.remedy for r in [*blends, *corrections]))
        weight = next((r.weight for r in reversed(recipes) if r.weight is not None), None)
        return cls(blend, correction, used, weight, sentences)

    def correct(self, queries: FloatArray) -> FloatArray:
        """Return the vectors to search with, (n, dim)."""
        return queries if self.correction is None else self.correction.apply(queries)
