"""What a source leaves behind: rows as they were read, for the alignment to make tables of.

A relation may lead to nobody here, or stand twice; `argus.knowledge.alignment.finish` drops it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.writing import replacing, writable
from argus.knowledge.alignment.raw_tables import RAW, raw_folder

ROWS_PER_PART = 50_000
STAGING = "raw.partial"
ADDED = "added"


class PartWriter:
    """Rows into `folder/part-00000.parquet` and on; a part takes its place when it is whole.

    `rows` counts what was given. Raises NotWritten where the disk takes no more.
    """

    def __init__(
        self, folder: Path, schema: pa.Schema, *, rows_per_part: int = ROWS_PER_PART
    ) -> None:
        self.folder, self.schema, self.rows_per_part = folder, schema, rows_per_part
        self.rows = 0
        self._parts = 0
        self._buffer: list[tuple[str | int | None, ...]] = []
        with writable(folder):
            folder.mkdir(parents=True)

    def add(self, *row: str | int | None) -> None:
        """Take one row, its values in the order of the schema."""
        self._buffer.append(row)
        self.rows += 1
        if len(self._buffer) >= self.rows_per_part:
            self.flush()

    def flush(self) -> None:
        """Write what is held back as a part."""
        if self._buffer:
            columns = zip(*self._buffer, strict=True)
            arrays = [
                pa.array(column, field.type)
                for column, field in zip(columns, self.schema, strict=True)
            ]
            self._write(pa.Table.from_arrays(arrays, schema=self.schema))
            self._buffer.clear()

    def add_batches(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Take batches of this schema, each a part."""
        self.flush()
        for batch in batches:
            self._write(pa.Table.from_batches([batch]))
            self.rows += batch.num_rows

    def adopt(self, other: PartWriter) -> None:
        """Take over the parts of another writer, whose folder is on the same disk."""
        self.flush()
        other.flush()
        for path in parts(other.folder):
            with writable(self.folder):
                path.rename(self._next_part())
            self._parts += 1
        self.rows += other.rows

    def _write(self, table: pa.Table) -> None:
        path = self._next_part()
        with writable(path), replacing(path) as temporary:
            pq.write_table(table, temporary, compression="zstd", compression_level=1)
        self._parts += 1

    def _next_part(self) -> Path:
        return self.folder / f"part-{self._parts:05d}.parquet"


class RawWriter:
    """Writes `work/raw/{entities,relations,aliases,redirects}/*.parquet`.

    A context manager, all or none: rows are put aside until the block ends well. Then they take
    the place of what is in `work/raw` where a source has said `start_over`; else they join it, in
    place of what has joined it before, so that a step that is run again adds nothing twice.
    `staging` is where they are meanwhile; the next writer removes what a killed one left there.
    limit: entities that are taken; `beyond` counts the others.
    """

    def __init__(
        self, work: Path, *, rows_per_part: int = ROWS_PER_PART, limit: int | None = None
    ) -> None:
        self._limit, self.beyond = limit, 0
        self.work, self.staging, self._joins = work, work / STAGING, True
        with writable(work):
            shutil.rmtree(self.staging, ignore_errors=True)
        self.tables = {
            name: PartWriter(self.staging / name, schema, rows_per_part=rows_per_part)
            for name, schema in RAW.items()
        }
        self._add_entity = self.tables["entities"].add
        self.add_relation = self.tables["relations"].add
        """Take subject, property, object and source, whether or not both ends are entities."""
        self._add_alias = self.tables["aliases"].add
        self._add_redirect = self.tables["redirects"].add

    def start_over(self) -> None:
        """Say that what is given is all there is, in place of what `work/raw` holds."""
        self._joins = False

    def add_entity(
        self, id_: str, label: str, paragraph: str = "", *, description: str = "", article: str = ""
    ) -> None:
        """Take an entity; article: title of its page, empty where it has none."""
        if self._limit is not None and self.tables["entities"].rows >= self._limit:
            self.beyond += 1
            return
        self._add_entity(id_, label, description, article, paragraph)

    def add_alias(self, id_: str, alias: str, source: str = "alias") -> None:
        """Take another name; source: `alias`, `redirect` or `title`."""
        self._add_alias(id_, alias, source)

    def add_redirect(self, title: str, target: str, id_: str | None) -> None:
        """Take a title that leads to another title, the entity there having `id_`."""
        self._add_redirect(title, target, id_)

    @property
    def counts(self) -> dict[str, int]:
        """Rows of each table that were given."""
        return {name: table.rows for name, table in self.tables.items()}

    def batches(self, table: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a table: those given, or where there are none those of `work/raw`."""
        self.tables[table].flush()
        folder = self.tables[table].folder
        for path in parts(folder) or parts(raw_folder(self.work, table)):
            yield from pq.ParquetFile(path).iter_batches(columns=columns)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if kind is None:
            for table in self.tables.values():
                table.flush()
            with writable(self.work):
                self._take_place()
        shutil.rmtree(self.staging, ignore_errors=True)

    def _take_place(self) -> None:
        raw = raw_folder(self.work, "entities").parent
        if not self._joins:
            shutil.rmtree(raw, ignore_errors=True)
            self.staging.rename(raw)
            return
        for name, table in self.tables.items():
            folder = raw / name
            folder.mkdir(parents=True, exist_ok=True)
            for earlier in folder.glob(f"{ADDED}-*.parquet"):
                earlier.unlink()
            for path in parts(table.folder):
                path.rename(folder / f"{ADDED}-{path.name}")


def parts(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, in order."""
    return sorted(folder.glob("*.parquet"))
