"""How a state of an index is searched: the blend, the correction and the λ of its remedies.

`index.json` names them; their numbers lie in `remedies/ID/`. Where several are there, the latest of
each kind counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.tables import read_table, write_table
from argus.data.types import FloatArray, IntArray
from argus.data.writing import replacing
from argus.errors import InputError
from argus.indexes.blend import Blend
from argus.indexes.correction import FILE as CORRECTION
from argus.indexes.correction import FIX, QueryCorrection, read_correction
from argus.indexes.recipes import REMEDIES, Recipe
from argus.indexes.remedy_views import ORIGINAL
from argus.indexes.snapshot import Snapshot

DOCUMENTS = "documents.parquet"
REMEDY = b"remedy"


@dataclass(frozen=True)
class DocumentNumbers:
    """What a blend keeps per document: hubness, and smoothed vectors where it smooths."""

    ids: list[str]
    hubness: FloatArray
    """(n_documents,), r(d)."""
    smoothed: FloatArray | None = None
    """(n_documents, dim), unit rows in place of the documents' own."""
    added: IntArray | None = None
    """Number of the commit that each document came with; one that was put in anew is another."""
    file: Path | None = None
    """Where they were read."""
    position: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", {doc: i for i, doc in enumerate(self.ids)})

    def of(self, columns: Any) -> dict[str, int]:
        """Return the position of each document that is still the one that was measured.

        columns: an Arrow table of views with `doc_id, kind, added`. Raises InputError where a
        document that was there when the latest one came was not measured: the numbers are others'.
        """
        if self.added is None:
            return self.position
        import pyarrow.compute as pc

        own = columns.filter(pc.equal(columns["kind"], ORIGINAL))
        came = list(zip(own["doc_id"].to_pylist(), own["added"].to_pylist(), strict=True))
        at, last = self.position, int(self.added.max(initial=0))
        known = {doc: at[doc] for doc, n in came if doc in at and self.added[at[doc]] == n}
        lacking = [doc for doc, n in came if n <= last and doc not in known]
        if lacking:
            raise InputError(
                f"lacks {len(lacking)} of {len(came)} documents of the index, {lacking[0]!r} first",
                expected="the numbers of the blend in this index",
                fix=FIX,
                where=self.file,
            )
        return known

    def hubness_of(self, doc_ids: Sequence[str], position: Mapping[str, int]) -> FloatArray:
        """Return r(d) of these documents; of one that came later, the mean."""
        mean = float(self.hubness.mean()) if len(self.hubness) else 0.0
        known = (position.get(doc) for doc in doc_ids)
        return np.array([mean if i is None else self.hubness[i] for i in known], np.float32)

    def smooth(self, columns: Any, vectors: FloatArray) -> None:
        """Put smoothed vectors in the place of the documents' own, in `vectors`, (n_views, dim).

        columns: an Arrow table of `doc_id, kind, added` in that order. Documents that came later
        stay.
        """
        if self.smoothed is None:
            return
        position = self.of(columns)
        kinds, documents = columns["kind"].to_pylist(), columns["doc_id"].to_pylist()
        for row, (kind, doc) in enumerate(zip(kinds, documents, strict=True)):
            if kind == ORIGINAL and doc in position:
                vectors[row] = self.smoothed[position[doc]]

    def save(self, folder: Path) -> None:
        """Write `documents.parquet`, whole or not at all."""
        import pyarrow as pa

        columns = {"doc_id": pa.array(self.ids, pa.string()), "hubness": self.hubness}
        if self.added is not None:
            columns["added"] = pa.array(self.added, pa.int64())
        if self.smoothed is not None:
            flat = pa.array(self.smoothed.reshape(-1), pa.float32())
            width = self.smoothed.shape[1]
            columns["smoothed"] = pa.FixedSizeListArray.from_arrays(flat, width)
        table = pa.table(columns).replace_schema_metadata({REMEDY: folder.name})
        with replacing(folder / DOCUMENTS) as temporary:
            write_table(table, temporary)


def read_numbers(folder: Path, dim: int) -> DocumentNumbers:
    """Read what `DocumentNumbers.save` wrote for an index; InputError for anything else."""
    import pyarrow as pa

    file = folder / DOCUMENTS
    try:
        table = read_table(file, fix=FIX)
        _check_documents(table, folder.name)
        hubness = table["hubness"].to_numpy().astype(np.float32)
        smoothed = added = None
        if "added" in table.column_names:
            added = table["added"].to_numpy()
        if "smoothed" in table.column_names:
            column = table["smoothed"].combine_chunks()
            smoothed = column.flatten().to_numpy().reshape(len(hubness), -1)
            if smoothed.shape[1] != dim:
                raise ValueError(f"vectors of {smoothed.shape[1]} numbers, not of {dim}")
        if not all(np.isfinite(n).all() for n in (hubness, smoothed) if n is not None):
            raise ValueError("numbers that are not finite")
        return DocumentNumbers(table["doc_id"].to_pylist(), hubness, smoothed, added, file)
    except (OSError, KeyError, ValueError, TypeError, pa.ArrowException) as error:
        raise InputError(
            f"cannot be read ({type(error).__name__}: {error})",
            expected="the numbers of a blend, as Argus wrote them",
            fix=FIX,
            where=file,
        ) from error


def _check_documents(table: Any, remedy: str) -> None:
    """Raise ValueError unless a table has documents, each once, and is of this remedy."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids, of = table["doc_id"], (table.schema.metadata or {}).get(REMEDY, remedy.encode())
    if of != remedy.encode():
        raise ValueError(f"numbers of {of.decode(errors='replace')}")
    if not pa.types.is_string(ids.type) or not len(ids) or len(pc.unique(ids)) < len(ids):
        raise ValueError(f"ids of type {ids.type}, none, or one twice")
    if any(table[name].null_count for name in table.column_names):
        raise ValueError("a cell without a value")
    if "added" in table.column_names and not pa.types.is_integer(table["added"].type):
        raise ValueError(f"numbers of commits of type {table['added'].type}")


@dataclass(frozen=True)
class ActiveRecipe:
    """What counts in one state of an index."""

    blend: Blend | None = None
    numbers: DocumentNumbers | None = None
    correction: QueryCorrection | None = None
    remedies: tuple[str, ...] = ()
    """Which remedies brought these."""
    weight: float | None = None
    """λ of documents against their scenarios, where a remedy says it."""
    sentences_of: tuple[str, ...] = ()
    """Remedies whose sentences count."""

    def correct(self, queries: FloatArray) -> FloatArray:
        """Return what is searched for: (n, dim)."""
        return queries if self.correction is None else self.correction.apply(queries)

    def over(self, columns: Any, vectors: FloatArray) -> Snapshot:
        """Return views, in the order of a snapshot, under this recipe."""
        snapshot = Snapshot(columns, vectors, self.blend)
        if self.numbers is not None:
            position = self.numbers.of(columns)
            snapshot.hubness = self.numbers.hubness_of(snapshot.doc_ids, position)
        return snapshot


def active(recipes: Sequence[Recipe], index: Path, dim: int) -> ActiveRecipe:
    """Return the latest blend, correction and λ among recipes, with their numbers."""
    blends = [r for r in recipes if r.blend is not None]
    corrections = [r for r in recipes if r.corrects]
    blend = numbers = correction = None
    sentences: tuple[str, ...] = ()
    if blends:
        blend = blends[-1].blend
        if blend is not None and blend.sentences:
            sentences = (blends[-1].remedy, *blends[-1].relied_on)
        if blend is not None and blend.per_document:
            numbers = read_numbers(index / REMEDIES / blends[-1].remedy, dim)
    if corrections:
        correction = read_correction(index / REMEDIES / corrections[-1].remedy / CORRECTION)
    used = dict.fromkeys(r.remedy for r in [*blends[-1:], *corrections[-1:]])
    weights = [r.weight for r in recipes if r.weight is not None]
    weight = weights[-1] if weights else None
    return ActiveRecipe(blend, numbers, correction, tuple(used), weight, sentences)
