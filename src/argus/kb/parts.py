"""What every split of a dump came to, on disk: what a killed build goes on with."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from typing_extensions import TypedDict

from argus.data.reading import parse_json, read_own
from argus.data.writing import replacing, write_whole


@dataclass(frozen=True)
class Part:
    """One split, read. damage: where and why the dump breaks off in it."""

    number: int
    tables: Mapping[str, pa.Table]
    counts: Mapping[str, int]
    damage: str | None = None


class _Note(TypedDict):
    """What is on disk of a part."""

    tables: list[str]
    counts: dict[str, int]
    damage: str | None


class DumpParts:
    """The parts of one dump under `work`: `TABLE/000012.parquet`, and a note of what is there.

    A part's note is written last: what has none is not whole, and is read again.
    """

    def __init__(self, work: Path, dump: str) -> None:
        self._work, self._notes = work, work / f"{dump}-parts"
        self._notes.mkdir(parents=True, exist_ok=True)

    def numbers(self) -> set[int]:
        """Return which splits are there."""
        return {int(path.stem) for path in self._notes.glob("*.json")}

    def end(self) -> float:
        """Return the number of the part in which the dump breaks off; infinity if in none."""
        return min((n for n in self.numbers() if self._note(n)["damage"] is not None), default=inf)

    def add(self, part: Part) -> None:
        """Write a part."""
        for name, table in part.tables.items():
            home = self._work / name
            home.mkdir(exist_ok=True)
            with replacing(home / f"{part.number:06d}.parquet") as temporary:
                pq.write_table(table, temporary, compression="zstd")
        note: _Note = {
            "tables": list(part.tables),
            "counts": dict(part.counts),
            "damage": part.damage,
        }
        write_whole(self._notes / f"{part.number:06d}.json", json.dumps(note))

    def settle(self) -> tuple[Counter[str], str | None]:
        """Return the counts over all parts, and the damage; parts behind it are taken away."""
        counts: Counter[str] = Counter()
        damage: str | None = None
        for path in sorted(self._notes.glob("*.json")):
            note = self._note(int(path.stem))
            if damage is not None:
                for name in note["tables"]:
                    (self._work / name / f"{path.stem}.parquet").unlink(missing_ok=True)
                path.unlink()
                continue
            counts.update(note["counts"])
            damage = note["damage"]
        return counts, damage

    def _note(self, number: int) -> _Note:
        path = self._notes / f"{number:06d}.json"
        note: _Note = parse_json(read_own(path))
        return note
