"""Read and write a knowledge base: Parquet shards, and `kb.json`, which names them.

docs/knowledge.md describes the format. A knowledge base has millions of entities: the ends of
relations become positions by one hash look-up per column, and texts stay in Arrow until you ask for
them.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from argus.data.kb_file import TABLE_NAMES, kb_file, kb_home, not_finished, shard_name
from argus.data.reading import parse_json, reading
from argus.data.storage import KB_FILE, Storage, file_in
from argus.data.types import Document, IntArray
from argus.errors import ArgusError, InputError

FORMAT = 1
SHARD_ROWS = 100_000
LOOKUP_ROWS = 8_000_000  # of relations per look-up: each makes a hash table of all ids
DOCUMENT_COLUMNS = ("id", "label", "paragraph", "description", "article", "target")
WIKIDATA, HYPERLINK, TRIPLES, MENTION = "wikidata", "hyperlink", "triples", "mention"
SOURCES = (WIKIDATA, HYPERLINK, TRIPLES, MENTION)  # of relations
ALL = "all"  # in place of a source
AS_WRITTEN = f"the knowledge base as its {KB_FILE} describes it"
AGAIN = "Copy the folder again, or run the same kb build again."

# id: of Wikidata where it has one. description: empty without one. article: title of its page, null
# without one. paragraph: the text to embed, null without one. span_start, span_end: characters of
# the paragraph that name the entity, from 0, null without any. prepended: whether the label was put
# before the paragraph, which did not name it. target: whether it can be audited, since a sample
# brings others along. related: entities that it is related to.
ENTITIES = pa.schema(
    dict.fromkeys(("id", "label", "description", "article", "paragraph"), pa.string())
    | dict.fromkeys(("span_start", "span_end"), pa.int32())
    | dict.fromkeys(("prepended", "target"), pa.bool_())
    | {"related": pa.int32()}
)
# subject, object: ids of entities. property: of Wikidata, or name of the relation.
RELATIONS = pa.schema(dict.fromkeys(("subject", "property", "object", "source"), pa.string()))
ALIASES = pa.schema(dict.fromkeys(("id", "alias", "source"), pa.string()))
# title: redirects to the page `target` of Wikipedia. id: entity of that page.
REDIRECTS = pa.schema(dict.fromkeys(("title", "target", "id"), pa.string()))
TABLES = dict(zip(TABLE_NAMES, (ENTITIES, RELATIONS, ALIASES, REDIRECTS), strict=True))


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a table, as kb.json names it. `file` is relative to the folder."""

    file: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class KnowledgeFolder:
    """A whole knowledge base, entities ordered by id. Make one with `open` or `find`.

    file: its kb.json, as it was named; in an object store, the address of it. graph: the default
    source of relations. sources: number of relations by source. facts: notes of the build.
    """

    file: Path
    storage: Storage
    graph: str
    sources: Mapping[str, int]
    facts: Mapping[str, Any]
    shards: Mapping[str, tuple[Shard, ...]]

    @classmethod
    def open(cls, location: str | Path) -> KnowledgeFolder:
        """Open a knowledge base, by its folder or its kb.json, and check that all shards are there.

        The folder of a build whose shards are elsewhere stands for these, as for `kb_file`.
        Raises InputError for a path without one, a build that was not finished, the format of a
        newer Argus, and shards that are missing or of another size.
        """
        if (file := kb_file(location)) is None:
            raise _no_kb(str(location))
        storage = Storage.at(kb_home(file_in(file, KB_FILE)))
        if storage.sizes([KB_FILE]) == [None]:
            if any(storage.files(table) for table in TABLES):
                raise not_finished(storage.location)
            in_store = " Nothing but knowledge bases is read from object stores."
            raise _no_kb(storage.location, in_store if storage.local is None else "")
        where = storage.where(KB_FILE)
        with reading(where, "is not as Argus wrote it", expected=AS_WRITTEN, fix=AGAIN):
            header = parse_json(storage.read(KB_FILE))
            if header["format"] > FORMAT:
                got, fix = f"format {header['format']}", "Update Argus with pip install -U."
                expected = f"format {FORMAT}, which this version of Argus reads"
                raise InputError(got, expected=expected, fix=fix, where=where)
            tables = {n: tuple(Shard(**one) for one in header["tables"][n]) for n in TABLES}
            sources, facts = dict(header["sources"]), dict(header["facts"])
            graph = str(header["graph"])
        shards = [shard for table in tables.values() for shard in table]
        sizes = storage.sizes([shard.file for shard in shards])
        for shard, size in zip(shards, sizes, strict=True):
            if size != shard.bytes:
                got = "is missing" if size is None else f"has {size:,} bytes, not {shard.bytes:,}"
                raise _not_whole(storage.where(shard.file), got)
        return cls(file, storage, graph, sources, facts, tables)

    @classmethod
    def find(cls, location: str | Path) -> KnowledgeFolder | None:
        """Open the knowledge base of a location, as `open` does. None where there is none."""
        return None if kb_file(location) is None else cls.open(location)

    def rows(self, table: str) -> int:
        """Return how many rows a table has."""
        return sum(shard.rows for shard in self.shards[table])

    def batches(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield a table shard by shard, with some columns or all.

        Raises InputError for a shard that is damaged, or differs from its entry in kb.json.
        """
        for shard in self.shards[table]:
            yield self._read(table, shard, columns or TABLES[table].names)

    def take(self, table: str, rows: IntArray, columns: Sequence[str]) -> pa.Table:
        """Return some rows of a table, in ascending order. Only their shards are read."""
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
        schema = pa.schema([TABLES[table].field(name) for name in columns])
        with reading(where, expected=AS_WRITTEN, fix=AGAIN), self.storage.open(shard.file) as file:
            parquet = pq.ParquetFile(file, page_checksum_verification=True)
            part = parquet.read(list(columns)).select(list(columns)).cast(schema)
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
            fix, where = "See its summary.json for what was dropped.", self.storage.location
            raise InputError("no entity in it", expected="at least one", fix=fix, where=where)
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
        aliases: dict[str, dict[str, None]] = {}  # of each entity, once, in the order of the shards
        for part in self.batches("aliases", ["id", "alias"]):
            part = part.filter(pc.is_in(part["id"], value_set=table["id"]))
            for id_, alias in zip(part["id"].to_pylist(), part["alias"].to_pylist(), strict=True):
                aliases.setdefault(id_, {})[alias] = None
        columns = [table[name].to_pylist() for name in DOCUMENT_COLUMNS]
        documents = []
        for id_, label, paragraph, description, article, target in zip(*columns, strict=True):
            metadata = {
                "description": description or "",
                "article": article or "",
                "aliases": list(aliases.get(id_, ())),
                "target": bool(target),
            }
            documents.append(Document(id_, paragraph or "", label or "", metadata))
        return documents

    def relations(
        self, source: str | None = None, *, limit: int | None = None
    ) -> tuple[IntArray, IntArray]:
        """Return subjects and objects, as positions in the order of ids, of one source's relations.

        source: None takes `graph`, "all" every source. limit: only relations among the first so
        many entities. Each result has the shape (n_relations,). A pair may come several times.
        Raises InputError for an end that is no entity.
        """
        source = source or self.graph
        ids = self.entities(["id"], limit=limit)["id"].combine_chunks()
        subjects: list[IntArray] = []
        objects: list[IntArray] = []
        for table in self._relations_together(source):
            ends = [pc.index_in(table[name], value_set=ids) for name in ("subject", "object")]
            if limit is None and any(end.null_count for end in ends):
                unknown = pc.or_(pc.is_null(ends[0]), pc.is_null(ends[1]))
                subject, object_ = (table[n].filter(unknown)[0] for n in ("subject", "object"))
                got = f"{str(subject)!r} is related to {str(object_)!r}, and one is no entity"
                raise _not_whole(self.storage.where("relations"), got)
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
            if sum(table.num_rows for table in held) >= LOOKUP_ROWS:
                yield pa.concat_tables(held)
                held = []
        if held:
            yield pa.concat_tables(held)


def _no_kb(where: str, more: str = "") -> InputError:
    fix = f"Check the path; `argus research kb build` makes one.{more}"
    return InputError(f"no {KB_FILE} in it", expected="a knowledge base", fix=fix, where=where)


def _not_whole(where: str, got: str) -> InputError:
    return InputError(got, expected=AS_WRITTEN, fix=AGAIN, where=where)


class KbWriter:
    """Writes a knowledge base to a folder, here or in an object store.

    The folder is no knowledge base from the first `write` until `finish`: an older `kb.json` is
    removed. Shards are cut by rows alone, so they do not depend on the sizes of batches. Raises
    ArgusError, which names the whole shards, when a file cannot be written.
    """

    def __init__(self, location: str | Path) -> None:
        self._storage = Storage.at(location)
        self._tables: dict[str, list[Shard]] = {}
        self._sources: Counter[str] = Counter()

    def write(self, table: str, batches: Iterable[pa.RecordBatch]) -> int:
        """Write a table, whole, from batches of its columns (TABLES). Return its rows.

        Entities come in the order of their ids, relations in that of subject, property, object.
        Raises ValueError for columns that cannot be cast to the table's.
        """
        shards = self._tables[table] = []
        with self._writing(KB_FILE):
            self._storage.remove(KB_FILE)
        for part in _cut(batches, TABLES[table]):
            if table == "relations":
                for count in pc.value_counts(part["source"]).to_pylist():
                    self._sources[count["values"]] += count["counts"]
            sink, name = pa.BufferOutputStream(), shard_name(table, len(shards))
            pq.write_table(part, sink, compression="zstd", write_page_checksum=True)
            data = sink.getvalue()
            with self._writing(name):
                self._storage.write(name, data)
            digest = hashlib.sha256(data).hexdigest()
            shards.append(Shard(name, part.num_rows, data.size, digest))
        ours = {shard.file for shard in shards}
        with self._writing(f"{table}/"):  # an earlier table may have been longer
            for name in self._storage.files(table):
                if name not in ours and name.endswith(".parquet"):
                    self._storage.remove(name)
        return sum(shard.rows for shard in shards)

    def finish(self, graph: str, facts: Mapping[str, Any]) -> None:
        """Write `kb.json`, which makes the folder whole.

        graph: the default source of relations. facts: notes of the build: argus, key, language,
        sample, and damage, where a dump breaks off by its name.
        """
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

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ArgusError(
                f"{self._storage.where(name)}: cannot be written ({error.strerror or error}). The "
                "folder is no knowledge base yet. Free space on the disk, or mend access to it, "
                "and run the same kb build again."
            ) from error


def _cut(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield tables of SHARD_ROWS rows, the last of fewer. None where there is no row."""
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
