"""Cells of a suite: one retriever under one remedy on one task, each in a file of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from argus.data.provenance import content_hash
from argus.data.reading import parse_json, read_own, read_record
from argus.data.texts import cut_name, plain_name
from argus.data.writing import write_whole
from argus.errors import InputError

Rank = int | None  # of the first relevant document; None where it is not among the k


class CellRecord(TypedDict):
    """What a cell came to. inputs: a hash of all that it depends on.

    reason: why it failed; of one that was measured, what is doubtful about it, if anything.
    """

    retriever: str
    remedy: str
    task: str
    inputs: str
    state: Literal["measured", "failed"]
    reason: str
    measures: dict[str, float]
    per_query: dict[str, dict[str, float]]
    ranks: dict[str, Rank]
    documents: int
    queries_failed: int
    seconds: float


@dataclass(frozen=True)
class Cell:
    """A cell by its names."""

    retriever: str
    remedy: str
    task: str

    def __str__(self) -> str:
        return f"{self.retriever} x {self.remedy} x {self.task}"

    @property
    def file(self) -> str:
        """The name of its file: its own names, as far as a file may be called so, and a hash."""
        names = (self.retriever, self.remedy, self.task)
        text = cut_name("--".join(plain_name(name)[:40] for name in names))
        return f"{text}-{content_hash(*names, size=4).hex()}.json"


class KeptCells:
    """The cells in a folder. A cell whose inputs changed is none."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)

    def read(self, cell: Cell, inputs: str) -> CellRecord | None:
        """Return a cell that was measured with these inputs; None where there is none."""
        file = self.home / cell.file
        if not file.is_file():
            return None
        try:
            record = read_record(CellRecord, parse_json(read_own(file)), where=file)
        except (ValueError, InputError):
            return None  # damaged: it is measured again
        same = record["inputs"] == inputs and record["state"] == "measured"
        return record if same else None

    def write(self, record: CellRecord) -> None:
        """Write a cell, at once and whole."""
        cell = Cell(record["retriever"], record["remedy"], record["task"])
        write_whole(self.home / cell.file, json.dumps(record, allow_nan=False))


def failed(cell: Cell, inputs: str, reason: str) -> CellRecord:
    """Return a cell that could not be measured."""
    return {
        "retriever": cell.retriever, "remedy": cell.remedy, "task": cell.task, "inputs": inputs,
        "state": "failed", "reason": reason, "measures": {}, "per_query": {}, "ranks": {},
        "documents": 0, "queries_failed": 0, "seconds": 0.0,
    }  # fmt: skip


class Cells(Mapping[Cell, CellRecord]):
    """All cells of a suite, by their names."""

    def __init__(self, records: Mapping[Cell, CellRecord]) -> None:
        self._records = dict(records)

    def __getitem__(self, cell: Cell) -> CellRecord:
        return self._records[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def measured(self, cell: Cell) -> CellRecord | None:
        """Return a cell that was measured; None for one that failed, or that there is not."""
        record = self._records.get(cell)
        return record if record is not None and record["state"] == "measured" else None
