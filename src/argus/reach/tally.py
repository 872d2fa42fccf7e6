"""Which records come back by slice of their payload, counted as they are asked for."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from argus.data.artifacts import ArtifactFolder
from argus.data.payload import PayloadField, Value
from argus.data.types import Document
from argus.measures.slices import (
    Sliced,
    SliceShare,
    Slicing,
    Trials,
    slice_figures,
    slice_shares,
    slice_table,
    slicing,
    worst_first,
)
from argus.stores.protocol import Payload, Store

FILE = "reach_slices"
"""The table of shares."""
LOOKED_AT = 20
"""Pages of records in which a field has to be."""


@dataclass
class FieldTally:
    """The values of one field, each combination kept once; four bytes a record beside them."""

    path: PayloadField
    combinations: dict[tuple[Value, ...], int] = field(default_factory=dict)
    """Values of a record to their number."""
    numbers: array[int] = field(default_factory=lambda: array("i"))
    """Of each record."""

    def count(self, document: Document) -> None:
        """Count one record."""
        values = tuple(self.path.values(document))
        self.numbers.append(self.combinations.setdefault(values, len(self.combinations)))

    def slicing(self) -> tuple[Slicing, np.ndarray]:
        """Return the slices of the combinations, and the combination of each record."""
        of = np.frombuffer(self.numbers, np.int32).astype(np.int64)
        times = np.bincount(of, minlength=len(self.combinations)).tolist()
        return slicing(self.path.name, list(self.combinations), times), of


@dataclass
class Tally:
    """Records that were asked for: whether each came back, and its values."""

    fields: Sequence[FieldTally] = ()
    reached: array[int] = field(default_factory=lambda: array("b"))

    @classmethod
    def of(cls, names: Sequence[str]) -> Tally:
        """Return an empty one, of no records; InputError for what is no path."""
        parsed = (PayloadField.parse(name, "--by") for name in dict.fromkeys(names))
        return cls([FieldTally(one) for one in parsed])

    def count(self, id_: str, payload: Payload, has_reached: bool) -> None:
        """Count a record that was asked for."""
        if self.fields:
            document = Document(id_, "", "", payload)
            for one in self.fields:
                one.count(document)
            self.reached.append(has_reached)

    def write(self, folder: ArtifactFolder) -> Sliced:
        """Write the table of shares; return the summary's part."""
        if not self.fields or not self.reached:
            return {}
        values = np.frombuffer(self.reached, np.int8).astype(np.float64)
        slices: list[Slicing] = []
        shares: list[SliceShare] = []
        for one in self.fields:
            sliced, of = one.slicing()
            slices.append(sliced)
            shares += slice_shares([sliced], Trials("reached by their own vectors", of, values))
        shares = worst_first(shares)
        folder.write_table(FILE, slice_table(shares), csv=True)
        return {"slices": slice_figures(slices, shares)}


def require_fields(store: Store, names: Sequence[str], size: int) -> None:
    """Raise InputError for a field that none of the store's first records has."""
    missing = {name: PayloadField.parse(name, "--by") for name in names}
    seen: list[Document] = []
    for records in islice(store.iterate(size), LOOKED_AT) if missing else ():
        page = [Document(id_, "", "", payload) for id_, _, payload in records.rows()]
        missing = {n: f for n, f in missing.items() if not any(map(f.is_in, page))}
        if not missing:
            return
        seen += page[:size]
    for one in missing.values():
        raise one.absent(seen)
