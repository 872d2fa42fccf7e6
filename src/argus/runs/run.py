"""Describe one run of one job: its settings and the outcome of each item."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from typing_extensions import TypedDict

from argus.data import tables
from argus.data.folders import PARTS, ManifestSection
from argus.data.reading import WRITTEN, parse_json, read_own, read_record
from argus.errors import InputError, Location
from argus.runs.figures import TRACKED, Tracked, Values

if TYPE_CHECKING:
    import pyarrow as pa

RUN, ITEMS = "run.json", "items.parquet"
ID = "id"
AGAIN = "Remove it and take another run; argus gate --history lists them."
MOST = 100_000  # items of one run that are kept


class RunRecord(TypedDict):
    """run.json: a run without its items. settings: the whole configuration of the job."""

    key: str  # a hash of its output: equal runs are recorded once
    number: int  # in the order of recording, from 1: clocks may run backwards. 0: not recorded.
    job: str
    started: str
    finished: str
    argus: str
    corpus: str | None  # SHA-256
    encoder: str | None
    settings: dict[str, object]
    means: dict[str, float]  # of each figure, over the items that were measured


@dataclass(frozen=True)
class JobRun:
    """A run, from its record or from a folder of results. place: where it was read."""

    record: RunRecord
    place: Path
    _items: Mapping[str, Mapping[str, float | None]] | None = field(default=None, repr=False)

    @property
    def job(self) -> str:
        """Its name in summary.json."""
        return self.record["job"]

    @property
    def name(self) -> str:
        """Its name: the number and the job."""
        return f"{self.record['number']:06d}-{self.job}"

    @cached_property
    def items(self) -> Mapping[str, Mapping[str, float | None]]:
        """Each item's value by figure. None means that it was not measured.

        Raises InputError where they were damaged: a value outside of 0..1, an item twice.
        """
        if self._items is not None:
            return self._items
        import pyarrow as pa

        path = self.place / ITEMS
        try:
            table = tables.read_table(path)
            ids = table[ID].to_pylist()
            columns = {n: table[n].to_pylist() for n in table.column_names if n != ID}
        except (OSError, KeyError, pa.ArrowException) as error:
            raise _damaged(path, str(error).partition("\n")[0]) from error
        if self.job not in TRACKED or TRACKED[self.job].unique:
            tables.require_unique(ids, path, fix=AGAIN)
        for name, values in columns.items():
            tables.require_shares(ids, values, path, name, fix=AGAIN)
        return {name: dict(zip(ids, values, strict=True)) for name, values in columns.items()}

    @classmethod
    def at(cls, folder: Path) -> JobRun:
        """Read a recorded run. Raises InputError where the record is damaged."""
        path = folder / RUN
        try:
            content = parse_json(read_own(path))
        except (OSError, ValueError) as error:
            raise _damaged(path, str(error)) from error
        record = read_record(RunRecord, content, where=path)
        for name, mean in record["means"].items():
            if not tables.is_share(mean):
                raise _damaged(path, f"the mean of {name!r} is {mean}")
        return cls(record, folder)


def run_of_results(
    folder: Path, job: str, manifest: ManifestSection, summary: object
) -> JobRun | None:
    """Return the run whose results lie in a folder, or None of a job that is not compared.

    Of more than MOST items a part is taken, by their ids: the same part in every run. Raises
    InputError where its table cannot be read, has a value outside of 0..1, or an item twice.
    """
    import pyarrow as pa

    tracked = TRACKED.get(job)
    path = folder / f"{tracked.table}.parquet" if tracked else None
    if tracked is None or path is None or not path.is_file():
        return None
    if not set(tracked.id) <= set(tables.open_parquet(path, fix=WRITTEN).schema_arrow.names):
        return None  # another job wrote a table of that name since
    items: dict[str, dict[str, float | None]] = {}
    read: list[str] = []
    try:
        for ids, table in _parts(path, tracked):
            read += ids
            for name, values in tracked.read(table).items():
                tables.require_shares(ids, values, path, name)
                items.setdefault(name, {}).update(zip(ids, values, strict=True))
    except (OSError, KeyError, pa.ArrowException) as error:
        raise _damaged(path, str(error).partition("\n")[0]) from error
    if tracked.unique:
        tables.require_unique(read, path, " → ".join(tracked.id))
    measured = {n: v for n, v in items.items() if any(x is not None for x in v.values())}
    return JobRun(_record(job, manifest, summary, measured), folder, measured)


def _parts(path: Path, tracked: Tracked) -> Iterator[tuple[list[str], pa.Table]]:
    """Yield the ids and rows of a table that could be measured, piece by piece."""
    import pyarrow as pa

    n_rows, step = tables.open_parquet(path, fix=WRITTEN).metadata.num_rows, 1
    while n_rows > MOST * step:
        step *= 2  # so that a part of a larger table lies within that of a smaller one
    for batch in tables.read_batches(path, tracked.columns, rows=MOST, fix=WRITTEN):
        table = pa.Table.from_batches([batch])
        columns = [table[name].to_pylist() for name in tracked.id]
        ids = [" → ".join(map(str, row)) for row in zip(*columns, strict=True)]
        states = table["state"].to_pylist() if "state" in table.column_names else [""] * len(ids)
        rows = [
            i
            for i, (id_, state) in enumerate(zip(ids, states, strict=True))
            if state != "not applicable" and (step == 1 or crc32(id_.encode()) % step == 0)
        ]
        yield [ids[i] for i in rows], table.take(pa.array(rows, pa.int64()))


def key_of(job: str, manifest: object, summary: object) -> str:
    """Return a key unique to a run: a hash of its output.

    Not of which tables are its own: a later job may take one of them over.
    """
    if isinstance(manifest, Mapping):
        manifest = {name: value for name, value in manifest.items() if name != PARTS}
    written = json.dumps([job, manifest, summary], sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def _record(
    job: str,
    manifest: ManifestSection,
    summary: object,
    items: Mapping[str, Mapping[str, float | None]],
) -> RunRecord:
    inputs = manifest["inputs"]
    corpus = inputs.get("corpus") or inputs.get("records")
    return {
        "key": key_of(job, manifest, summary),
        "number": 0,
        "job": job,
        "started": manifest["started"],
        "finished": manifest["finished"],
        "argus": manifest["argus"],
        "corpus": corpus.get("sha256") if corpus else None,
        "encoder": manifest["encoder"].get("fingerprint"),
        "settings": manifest["config"],
        "means": {name: _mean(list(values.values())) for name, values in items.items()},
    }


def _mean(values: Values) -> float:
    measured = [v for v in values if v is not None]
    return round(sum(measured) / len(measured), 6)


def _damaged(path: Path, what: str) -> InputError:
    return InputError(
        f"cannot be read ({what})",
        expected="a run as Argus recorded it",
        fix=AGAIN,
        where=Location(path),
    )
