"""Read a knowledge base: the Parquet shards that `kb.json` names (docs/knowledge.md).

Ends of relations become positions by one hash look-up per column, never one by one, and texts stay
in Arrow until somebody wants them: a knowledge base has millions of entities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from argus.data.kb_file import KB_FILE, kb_file, kb_home, not_finished
from argus.data.kb_tables import ALL, FORMAT, TABLES, Shard
from argus.data.records import parse_json
from argus.data.storage import Storage, file_in
from argus.data.types import Document, IntArray
from argus.errors import InputError

LOOKED_UP_TOGETHER = 8_000_000
"""Rows of relations per look-up: each makes a hash table of all ids."""
DOCUMENT_COLUMNS = ("id", "label", "paragraph", "description", "article", "target")


@dataclass(frozen=True)
class KnowledgeFolder:
    """A whole knowledge base, entities ordered by id. Make one with `open` or `find`.

    file: its kb.json, as it was named; in an object store, the address of it. graph: the source of
    relations that is used unless another is asked for. sources: how many relations each has.
    facts: what the build noted.
    """

    file: Path
    storage: Storage
    graph: str
    sources: Mapping[str, int]
    facts: Mapping[str, Any]
    shards: Mapping[str, tuple[Shard, ...]]

    @classmethod
    def open(cls, location: str | Path) -> KnowledgeFolder:
        """Open a knowledge base, by its folder or its kb.json, and see that every shard is there.

        The folder of a build whose shards are elsewhere stands for these, as for `kb_file`.
        Raises InputError for what is none, for one that was not finished or was made by a newer
        Argus, and for shards that are missing or of another size.
        """
        folder = cls.find(location)
        if folder is None:
            raise _no_kb(str(location))
        return folder

    @classmethod
    def find(cls, location: str | Path) -> KnowledgeFolder | None:
        """Open what a location stands for, as `open` does; None for what is no knowledge base."""
        file = kb_file(location)
        return None if file is None else cls.at(file)

    @classmethod
    def at(cls, file: Path) -> KnowledgeFolder:
        """Open a knowledge base by its kb.json, as `kb_file` names it; raises as `open` does."""
        storage = Storage.at(kb_home(file_in(file, KB_FILE)))
        if storage.sizes([KB_FILE]) == [None]:
            if any(storage.files(table) for table in TABLES):
                raise not_finished(storage.location)
            in_store = " Nothing but knowledge bases is read from object stores."
            raise _no_kb(storage.location, in_store if storage.local is None else "")
        folder = cls(file, storage, *_header(storage.read(KB_FILE), storage.where(KB_FILE)))
        folder._check_sizes()
        return folder

    def rows(self, table: str) -> int:
        """Return how many rows a table has."""
        return sum(shard.rows for shard in self.shards[table])

    def batches(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield a table shard by shard, with the columns asked for, or all.

        Raises InputError for a shard that cannot be read, or does not hold what it should.
        """
        for shard in self.shards[table]:
            yield self._read(table, shard, columns or TABLES[table].names)

    def take(self, table: str, rows: IntArray, columns: Sequence[str]) -> pa.Table:
        """Return some rows of a table, in ascending order; only their shards are read."""
        parts = [pa.schema([TABLES[table].field(name) for name in columns]).empty_table()]
        first = 0
        for shard in self.shards[table]:
            here = np.sort(rows[(rows >= first) & (rows < first + shard.rows)]) - first
            if len(here):
                parts.append(self._read(table, shard, columns).take(pa.array(here)))
            first += shard.rows
        return pa.concat_tables(parts)

    def _read(self, table: str, shard: Shard, columns: Sequence[str]) -> pa.Table:
        where = self.storage.where(shard.file)
        schema = TABLES[table]
        try:
            with self.storage.open(shard.file) as file:
                parquet = pq.ParquetFile(file, page_checksum_verification=True)
                read = parquet.read(list(columns))
            part = read.cast(pa.schema([schema.field(name) for name in read.schema.names]))
        except (OSError, ValueError, KeyError) as error:
            raise _not_whole(where, f"cannot be read ({str(error)[:200]})") from error
        missing = [name for name in columns if name not in part.schema.names]
        if missing:
            raise _not_whole(where, f"has no column {missing[0]!r}")
        if part.num_rows != shard.rows:
            raise _not_whole(where, f"{part.num_rows:,} rows, not {shard.rows:,}")
        return part

    def entities(
        self, columns: Sequence[str] = DOCUMENT_COLUMNS, *, limit: int | None = None
    ) -> pa.Table:
        """Return columns of the first `limit` entities, or of all, in the order of their ids.

        Raises InputError where there is none, and where ids are not in ascending order.
        """
        parts: list[pa.Table] = []
        rows = 0
        for part in self.batches("entities", list(dict.fromkeys(("id", *columns)))):
            parts.append(part)
            rows += part.num_rows
            if limit is not None and rows >= limit:
                break
        if not rows:
            raise InputError(
                "no entity in it",
                expected="at least one",
                fix="See its summary.json for what was dropped, and why.",
                where=self.storage.location,
            )
        table = pa.concat_tables(parts)[:limit]
        ids = table["id"]
        if not pc.all(pc.less(ids[:-1], ids[1:]), min_count=0, skip_nulls=False).as_py():
            raise _not_whole(self.storage.where("entities"), "ids are not in ascending order")
        return table.select(list(columns))

    def documents(self, limit: int | None = None) -> list[Document]:
        """Return the paragraphs as documents, their titles being the labels.

        `metadata` holds description, article, target, and aliases, a list. Raises InputError as
        `entities` does.
        """
        table = self.entities(limit=limit)
        columns = [table[name].to_pylist() for name in DOCUMENT_COLUMNS]
        aliases = self._aliases_by_id(table["id"])
        documents = []
        for id_, label, paragraph, description, article, target in zip(*columns, strict=True):
            metadata = {
                "description": description or "",
                "article": article or "",
                "aliases": aliases.get(id_, []),
                "target": bool(target),
            }
            documents.append(Document(id_, paragraph or "", label or "", metadata))
        return documents

    def aliases(self) -> pa.Table:
        """Return all aliases: id, alias, source."""
        return pa.concat_tables([TABLES["aliases"].empty_table(), *self.batches("aliases")])

    def relations(
        self, source: str | None = None, *, limit: int | None = None
    ) -> tuple[IntArray, IntArray]:
        """Return subjects and objects, as positions in the order of ids, of one source's relations.

        source: None takes `graph`, "all" every source. limit: only relations among the first so
        many entities. Each result has the shape (n_relations,); a pair may come several times.
        Raises InputError for an end that is no entity.
        """
        source = source or self.graph
        ids = self.entities(["id"], limit=limit)["id"].combine_chunks()
        subjects: list[IntArray] = []
        objects: list[IntArray] = []
        for table in self._relations_together(source):
            ends = [pc.index_in(table[name], value_set=ids) for name in ("subject", "object")]
            if limit is None and any(end.null_count for end in ends):
                self._refuse_end(table, ends)
            whole = pc.and_(pc.is_valid(ends[0]), pc.is_valid(ends[1]))
            for end, into in zip(ends, (subjects, objects), strict=True):
                into.append(end.filter(whole).to_numpy().astype(np.int64))
        none = np.zeros(0, np.int64)
        return np.concatenate([none, *subjects]), np.concatenate([none, *objects])

    def _relations_together(self, source: str) -> Iterator[pa.Table]:
        """Yield the ends of the relations of one source, many shards at a time."""
        mixed = source != ALL and set(self.sources) != {source}
        columns = ["subject", "object", *(["source"] if mixed else [])]
        held: list[pa.Table] = []
        for part in self.batches("relations", columns):
            held.append(part.filter(pc.equal(part["source"], source)) if mixed else part)
            if sum(table.num_rows for table in held) >= LOOKED_UP_TOGETHER:
                yield pa.concat_tables(held)
                held = []
        if held:
            yield pa.concat_tables(held)

    def _refuse_end(self, table: pa.Table, ends: Sequence[pa.ChunkedArray]) -> None:
        unknown = pc.or_(pc.is_null(ends[0]), pc.is_null(ends[1]))
        subject, object_ = (table[name].filter(unknown)[0] for name in ("subject", "object"))
        raise _not_whole(
            self.storage.where("relations"),
            f"{str(subject)!r} is related to {str(object_)!r}, and one of them is no entity",
        )

    def _aliases_by_id(self, ids: pa.ChunkedArray) -> dict[str, list[str]]:
        """Return the aliases of the entities in `ids`, each once, in the order of the shards."""
        aliases: dict[str, dict[str, None]] = {}
        for part in self.batches("aliases", ["id", "alias"]):
            part = part.filter(pc.is_in(part["id"], value_set=ids))
            for id_, alias in zip(part["id"].to_pylist(), part["alias"].to_pylist(), strict=True):
                aliases.setdefault(id_, {})[alias] = None
        return {id_: list(names) for id_, names in aliases.items()}

    def _check_sizes(self) -> None:
        shards = [shard for table in self.shards.values() for shard in table]
        sizes = self.storage.sizes([shard.file for shard in shards])
        for shard, size in zip(shards, sizes, strict=True):
            if size != shard.bytes:
                got = "is missing" if size is None else f"has {size:,} bytes, not {shard.bytes:,}"
                raise _not_whole(self.storage.where(shard.file), got)


def _header(
    data: bytes, where: str
) -> tuple[str, dict[str, int], dict[str, Any], dict[str, tuple[Shard, ...]]]:
    """Return graph, sources, facts and shards; InputError for what no build wrote."""
    try:
        header = parse_json(data)
        if header["format"] > FORMAT:
            raise InputError(
                f"format {header['format']}",
                expected=f"format {FORMAT}, which this version of Argus reads",
                fix="Update Argus: pip install -U argus-retrieval.",
                where=where,
            )
        tables = {
            name: tuple(Shard(**shard) for shard in header["tables"][name]) for name in TABLES
        }
        return str(header["graph"]), dict(header["sources"]), dict(header["facts"]), tables
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _not_whole(where, f"is not as Argus wrote it ({error})") from error


def _no_kb(where: str, more: str = "") -> InputError:
    return InputError(
        f"no {KB_FILE} in it",
        expected="a knowledge base",
        fix=f"Check the path; `argus kb build` makes one.{more}",
        where=where,
    )


def _not_whole(where: str, got: str) -> InputError:
    return InputError(
        got,
        expected=f"the knowledge base as its {KB_FILE} describes it",
        fix="Copy the folder again, or run the same kb build again.",
        where=where,
    )
