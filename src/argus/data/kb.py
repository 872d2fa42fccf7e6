"""Write a knowledge base: Parquet shards, then `kb.json`, which names them.

What is written here is read by `KnowledgeFolder`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from argus.data.kb_file import KB_FILE, shard_name
from argus.data.kb_folder import KnowledgeFolder
from argus.data.kb_tables import (
    ALL,
    FORMAT,
    MENTION,
    SHARD_ROWS,
    SORTED_BY,
    SOURCES,
    TABLES,
    KbFacts,
    Shard,
)
from argus.data.storage import Storage
from argus.errors import ArgusError

__all__ = ["KbWriter", "KnowledgeFolder"]


class KbWriter:
    """Writes a knowledge base to a folder, here or in an object store.

    The folder is no knowledge base from the first `write` until `finish`: an older `kb.json` is
    removed. Shards are cut by rows alone, so they do not depend on how batches were cut. Raises
    ArgusError, which says what is whole, when a file cannot be written.
    """

    def __init__(self, location: str | Path) -> None:
        self._storage = Storage.at(location)
        self._tables: dict[str, list[Shard]] = {}
        self._sources: Counter[str] = Counter()

    def write(self, table: str, batches: Iterable[pa.RecordBatch]) -> int:
        """Write a table, whole, from batches of its columns (TABLES); return its rows.

        Raises ValueError for columns that cannot be cast to the table's, and for entities or
        relations that are not in their order (docs/knowledge.md) or entities of one id.
        """
        shards = self._tables[table] = []
        with self._writing(KB_FILE):
            self._storage.remove(KB_FILE)
        last: tuple[str, ...] | None = None
        for part in _parts(batches, TABLES[table]):
            last = _check_order(table, part, last)
            if table == "relations":
                self._count_sources(part)
            shards.append(self._shard(shard_name(table, len(shards)), part))
        self._remove_others(table)
        return sum(shard.rows for shard in shards)

    def finish(self, graph: str, facts: KbFacts) -> None:
        """Write `kb.json`, which makes the folder whole.

        graph: the source of relations that is used unless another is asked for. Raises ValueError
        for a graph that has no relations here; mentions can always be found in the paragraphs.
        """
        if graph not in (*self._sources, ALL, MENTION):
            raise ValueError(f"graph {graph!r}, but relations are from {dict(self._sources)}")
        header = {
            "format": FORMAT,
            "graph": graph,
            "sources": {name: self._sources[name] for name in SOURCES if self._sources[name]},
            "facts": dict(facts),
            "tables": {name: [asdict(s) for s in self._tables.get(name, [])] for name in TABLES},
        }
        text = json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        with self._writing(KB_FILE):
            self._storage.write(KB_FILE, text.encode("utf-8"))

    def _shard(self, name: str, part: pa.Table) -> Shard:
        sink = pa.BufferOutputStream()
        pq.write_table(part, sink, compression="zstd", write_page_checksum=True)
        data = sink.getvalue()
        with self._writing(name):
            self._storage.write(name, data)
        return Shard(name, part.num_rows, data.size, hashlib.sha256(data).hexdigest())

    def _count_sources(self, part: pa.Table) -> None:
        for count in pc.value_counts(part["source"]).to_pylist():
            if count["values"] not in SOURCES:
                raise ValueError(f"relations from {count['values']!r}, which is none of {SOURCES}")
            self._sources[count["values"]] += count["counts"]

    def _remove_others(self, table: str) -> None:
        """Remove the shards of an earlier, longer table."""
        ours = {shard.file for shard in self._tables[table]}
        with self._writing(f"{table}/"):
            for name in self._storage.files(table):
                if name not in ours and name.endswith(".parquet"):
                    self._storage.remove(name)

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            whole = ", ".join(
                f"{len(shards)} shards ({sum(s.rows for s in shards):,} rows) of {table}"
                for table, shards in self._tables.items()
                if shards
            )
            where, reason = self._storage.where(name), error.strerror or error
            raise ArgusError(
                f"{where}: cannot be written ({reason}). Whole are "
                f"{whole or 'no shards'}; the folder is no knowledge base yet. Free space on the "
                "disk, or mend access to it, and run the same kb build again."
            ) from error


def _parts(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield tables of SHARD_ROWS rows, the last of fewer; none where there is no row."""
    tables: list[pa.Table] = []
    rows = 0
    for batch in batches:
        tables.append(pa.Table.from_batches([batch]).select(schema.names).cast(schema))
        rows += batch.num_rows
        while rows >= SHARD_ROWS:
            table = pa.concat_tables(tables)
            yield table[:SHARD_ROWS]
            tables, rows = [table[SHARD_ROWS:]], rows - SHARD_ROWS
    if rows:
        yield pa.concat_tables(tables)


def _check_order(
    table: str, part: pa.Table, last: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """Return the last row's key; ValueError where a row comes before, or is, the one before it."""
    names = SORTED_BY.get(table)
    if names is None:
        return None
    once = table == "entities"
    columns = [part[name].fill_null("") for name in names]
    less = pa.scalar(False)
    same = pa.scalar(True)
    for column in columns:
        less = pc.or_(less, pc.and_(same, pc.less(column[:-1], column[1:])))
        same = pc.and_(same, pc.equal(column[:-1], column[1:]))
    ordered = pc.all(less if once else pc.or_(less, same), min_count=0).as_py()
    first = tuple(column[0].as_py() for column in columns)
    follows = first[0] != "" if last is None else last < first or (last == first and not once)
    if not (ordered and follows):
        raise ValueError(f"{table} are not in ascending order of {', '.join(names)}")
    return tuple(column[-1].as_py() for column in columns)
