"""Read and write a knowledge base: entities, relations and aliases in Parquet, listed in `kb.json`.

`KbWriter` is for `argus research kb build`. `KnowledgeFolder.open`: a folder -> entities, documents
(first paragraphs), and relations as pairs of positions. Millions of entities fit: ends of relations
become positions by one hash look-up per column, and texts stay in Arrow until you ask for them.
docs/knowledge.md describes the format.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from argus.data.folders import KB_FILE, KB_TABLES, kb_file
from argus.data.reading import parse_json, read_own, reading
from argus.data.types import Document, IntArray
from argus.data.writing import write_whole
from argus.errors import InputError

FORMAT = 1
SHARD_ROWS = 100_000
LOOKUP_SHARDS = 80  # of relations per look-up: each makes a hash table of all ids
DOCUMENT_COLUMNS = ("id", "label", "paragraph", "description", "article", "target")
WIKIDATA, HYPERLINK, TRIPLES = "wikidata", "hyperlink", "triples"
SOURCES = (WIKIDATA, TRIPLES, HYPERLINK)  # of relations, the first that there is being the graph
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
TABLES = dict(zip(KB_TABLES, (ENTITIES, RELATIONS, ALIASES, REDIRECTS), strict=True))


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a table, as kb.json names it. `file` is relative to the folder."""

    file: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class KnowledgeFolder:
    """A whole knowledge base, entities ordered by id. Make one with `open`.

    graph: the default source of relations. sources: number of relations by source. facts: notes of
    the build.
    """

    path: Path
    graph: str
    sources: Mapping[str, int]
    facts: Mapping[str, Any]
    shards: Mapping[str, tuple[Shard, ...]]

    @property
    def file(self) -> Path:
        """Its kb.json."""
        return self.path / KB_FILE

    @classmethod
    def open(cls, location: str | Path) -> KnowledgeFolder:
        """Open a knowledge base, by its folder or its kb.json, and check that all shards are there.

        Raises InputError for a path without one, a build that was not finished, and shards that are
        missing or of another size.
        """
        if (file := kb_file(Path(location))) is None:
            fix = "Check the path; `argus research kb build` makes one."
            got, where = f"no {KB_FILE} in it", str(location)
            raise InputError(got, expected="a knowledge base", fix=fix, where=where)
        with reading(file, "is not as Argus wrote it", expected=AS_WRITTEN, fix=AGAIN):
            header = parse_json(read_own(file))
            if header["format"] != FORMAT:
                raise ValueError(f"format {header['format']}, not {FORMAT}")
            shards = {n: tuple(Shard(**one) for one in header["tables"][n]) for n in TABLES}
            sources, facts = dict(header["sources"]), dict(header["facts"])
            kb = cls(file.parent, str(header["graph"]), sources, facts, shards)
        for shard in (shard for table in shards.values() for shard in table):
            path = kb.path / shard.file
            size = path.stat().st_size if path.is_file() else None
            if size != shard.bytes:
                got = "is missing" if size is None else f"has {size:,} bytes, not {shard.bytes:,}"
                raise kb._not_whole(shard.file, got)
        return kb

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
        path = self.path / shard.file
        schema = pa.schema([TABLES[table].field(name) for name in columns])
        with reading(path, expected=AS_WRITTEN, fix=AGAIN):
            parquet = pq.ParquetFile(path, page_checksum_verification=True)
            part = parquet.read(list(columns)).select(list(columns)).cast(schema)
        if part.num_rows != shard.rows:
            raise self._not_whole(shard.file, f"{part.num_rows:,} rows, not {shard.rows:,}")
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
            fix = "See its summary.json for what was dropped."
            raise InputError("no entity in it", expected="at least one", fix=fix, where=self.path)
        table = pa.concat_tables(parts)[:limit]
        ids = table["id"]
        if not pc.all(pc.less(ids[:-1], ids[1:]), min_count=0, skip_nulls=False).as_py():
            raise self._not_whole("entities", "ids are not in ascending order")
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
        shards, columns = self.shards["relations"], ["subject", "object", "source"]
        ends: tuple[list[IntArray], list[IntArray]] = ([], [])
        for start in range(0, len(shards), LOOKUP_SHARDS):
            together = shards[start : start + LOOKUP_SHARDS]
            table = pa.concat_tables(self._read("relations", one, columns) for one in together)
            if source != ALL:
                table = table.filter(pc.equal(table["source"], source))
            subjects, objects = (pc.index_in(table[n], value_set=ids) for n in columns[:2])
            whole = pc.and_(pc.is_valid(subjects), pc.is_valid(objects))
            if limit is None and not pc.all(whole, min_count=0).as_py():
                odd = table.filter(pc.invert(whole)).slice(0, 1).to_pylist()[0]
                got = f"{odd['subject']!r} is related to {odd['object']!r}, and one is no entity"
                raise self._not_whole("relations", got)
            for end, into in zip((subjects, objects), ends, strict=True):
                into.append(end.filter(whole).to_numpy().astype(np.int64))
        none = np.zeros(0, np.int64)
        return np.concatenate([none, *ends[0]]), np.concatenate([none, *ends[1]])

    def _not_whole(self, name: str, got: str) -> InputError:
        return InputError(got, expected=AS_WRITTEN, fix=AGAIN, where=self.path / name)


class KbWriter:
    """Writes a knowledge base to a folder.

    The folder is no knowledge base from the first `write` until `finish`: an older `kb.json` is
    removed. Shards are cut by rows alone, so they do not depend on the sizes of batches. Raises
    NotWritten when a file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables: dict[str, list[Shard]] = {}
        self._sources: Counter[str] = Counter()

    def write(self, table: str, batches: Iterable[pa.RecordBatch]) -> int:
        """Write a table, whole, from batches of its columns (TABLES). Return its rows.

        Entities come in the order of their ids, relations in that of subject, property, object.
        Raises ValueError for columns that cannot be cast to the table's.
        """
        shards = self._tables[table] = []
        (self._folder / KB_FILE).unlink(missing_ok=True)
        home = self._folder / table
        home.mkdir(parents=True, exist_ok=True)
        for part in _cut(batches, TABLES[table]):
            if table == "relations":
                for count in pc.value_counts(part["source"]).to_pylist():
                    self._sources[count["values"]] += count["counts"]
            sink, name = pa.BufferOutputStream(), f"{table}/part-{len(shards):05d}.parquet"
            pq.write_table(part, sink, compression="zstd", write_page_checksum=True)
            data = sink.getvalue().to_pybytes()
            write_whole(self._folder / name, data)
            shards.append(Shard(name, part.num_rows, len(data), hashlib.sha256(data).hexdigest()))
        ours = {shard.file for shard in shards}
        for path in home.glob("*.parquet"):  # an earlier table may have been longer
            if f"{table}/{path.name}" not in ours:
                path.unlink()
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
        write_whole(self._folder / KB_FILE, text)


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
