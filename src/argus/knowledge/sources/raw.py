"""Write raw tables, with relations by mention and values that are spread over rows."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Self
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.kb import MENTION, RELATIONS
from argus.data.reading import check_file, nothing_in, read_lines
from argus.data.writing import replacing, writable
from argus.knowledge.alignment.database import Database, database
from argus.knowledge.alignment.raw_tables import RAW, raw_folder, rows_to_table
from argus.knowledge.base import Entity
from argus.knowledge.mentions import mention_relations


def ending(path: Path) -> str:
    """Return the ending in lower case, looking through a final `.gz` or `.bz2`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".bz2"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield `(line number, text)`. The text keeps its line end.

    Raises InputError for a missing file, bytes that are not UTF-8, damaged or cut compression,
    and a file without a line that holds something.
    """
    check_file(path, "a text file, which may be compressed (.gz, .bz2)")
    empty = True
    for number, line in read_lines(path):
        empty = empty and not line.strip()
        yield number, line
    if empty:
        raise nothing_in(path, "line")


RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
DBO = "http://dbpedia.org/ontology/"
FOAF = "http://xmlns.com/foaf/0.1/"
SCHEMA = ("http://schema.org/", "https://schema.org/")

LABEL, DESCRIPTION, PARAGRAPH, ALIAS = "label", "description", "paragraph", "alias"


TEXT_PROPERTIES = {
    RDFS + "label": (LABEL, 0),
    SKOS + "prefLabel": (LABEL, 1),
    **{schema + "name": (LABEL, 2) for schema in SCHEMA},
    FOAF + "name": (LABEL, 3),
    DBO + "abstract": (PARAGRAPH, 0),
    RDFS + "comment": (PARAGRAPH, 1),
    **{schema + "description": (DESCRIPTION, 0) for schema in SCHEMA},
    SKOS + "altLabel": (ALIAS, 0),
}
"""Kind and rank of a property's text. Of two texts of a kind, that of the smaller rank is taken."""
REDIRECT = DBO + "wikiPageRedirects"
WIKI_LINK = DBO + "wikiPageWikiLink"

FOR_ALL = ("", "mul")
"""Language tags of texts that are for every language: none, and Wikidata's for all."""


def language_rank(tag: str, language: str) -> int | None:
    """Return 0 for the language itself, 1 for a kind of it, 2 for all languages, None for others.

    A kind of "en" is "en-GB". Tags are compared without regard to case (BCP 47).
    """
    tag = tag.lower()
    if tag == language:
        return 0
    if tag.startswith(f"{language}-"):
        return 1
    return 2 if tag in FOR_ALL else None


def label_from_id(id_: str) -> str:
    """Return an IRI's local name, decoded, or another id as it is. Underscores become spaces."""
    name = id_
    if "://" in id_:
        bare = id_.rstrip("/#")
        name = unquote(bare.rsplit("#", 1)[-1] if "#" in bare else bare.rsplit("/", 1)[-1])
    elif id_.lower().startswith("urn:"):
        name = unquote(id_.rsplit(":", 1)[-1])
    return " ".join(name.replace("_", " ").split()) or id_


ROWS_PER_PART = 50_000
STAGING = "raw.partial"
ADDED = "added"


class PartWriter:
    """Rows into `folder/part-00000.parquet` and on. A part takes its place when it is whole.

    `rows` counts the rows given. Raises NotWritten where the disk takes no more.
    """

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self.folder, self.schema = folder, schema
        self.rows = 0
        self._parts = 0
        self._buffer: list[tuple[str | int | None, ...]] = []
        with writable(folder):
            folder.mkdir(parents=True)

    def add(self, *row: str | int | None) -> None:
        """Take one row, its values in the order of the schema."""
        self._buffer.append(row)
        self.rows += 1
        if len(self._buffer) >= ROWS_PER_PART:
            self.flush()

    def flush(self) -> None:
        """Write the rows in memory as a part."""
        if self._buffer:
            self._write(rows_to_table(self._buffer, self.schema))
            self._buffer.clear()

    def add_batches(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Take batches of this schema, each a part."""
        self.flush()
        for batch in batches:
            self._write(pa.Table.from_batches([batch]))
            self.rows += batch.num_rows

    def _write(self, table: pa.Table) -> None:
        path = self.folder / f"part-{self._parts:05d}.parquet"
        with writable(path), replacing(path) as temporary:
            pq.write_table(table, temporary, compression="zstd", compression_level=1)
        self._parts += 1


class RawWriter:
    """Writes `work/raw/{entities,relations,aliases,redirects}/*.parquet`.

    A context manager, all or none: rows are put aside in `staging` until the block ends well. Then
    they take the place of what is in `work/raw`. The next writer removes the files of a killed one.
    joins: they join it, in place of what has joined it before, so that a step that is run again
    adds nothing twice. limit: entities that are taken. `beyond` counts the others.
    """

    def __init__(self, work: Path, *, joins: bool = False, limit: int | None = None) -> None:
        self._limit, self.beyond = limit, 0
        self.work, self.staging, self._joins = work, work / STAGING, joins
        with writable(work):
            shutil.rmtree(self.staging, ignore_errors=True)
        self.tables = {n: PartWriter(self.staging / n, schema) for n, schema in RAW.items()}
        self.add_relation = self.tables["relations"].add
        """Take subject, property, object and source, whether or not both ends are entities."""
        self.add_redirect = self.tables["redirects"].add
        """Take a title that leads to another title, and the id of the entity there, or None."""

    def add_entity(
        self, id_: str, label: str, paragraph: str = "", *, description: str = "", article: str = ""
    ) -> None:
        """Take an entity. article: title of its page, empty where it has none."""
        if self._limit is not None and self.tables["entities"].rows >= self._limit:
            self.beyond += 1
        else:
            self.tables["entities"].add(id_, label, description, article, paragraph)

    def add_alias(self, id_: str, alias: str, source: str = "alias") -> None:
        """Take another name. source: `alias`, `redirect` or `title`."""
        self.tables["aliases"].add(id_, alias, source)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            for table in self.tables.values():
                table.flush()
            with writable(self.work):
                if self._joins:
                    self._join()
                else:
                    raw = raw_folder(self.work, "entities").parent
                    shutil.rmtree(raw, ignore_errors=True)
                    self.staging.rename(raw)
        shutil.rmtree(self.staging, ignore_errors=True)

    def _join(self) -> None:
        for name, table in self.tables.items():
            folder = raw_folder(self.work, name)
            folder.mkdir(parents=True, exist_ok=True)
            for earlier in folder.glob(f"{ADDED}-*.parquet"):
                earlier.unlink()
            for path in parts(table.folder):
                path.rename(folder / f"{ADDED}-{path.name}")


def parts(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, in order."""
    return sorted(folder.glob("*.parquet"))


def mention_rows(work: Path, into: RawWriter) -> dict[str, int]:
    """Relate the raw entities in `work` by exact mention. Return how many pairs were related.

    Each pair is written once, whichever names the other, the smaller id as its subject: the order
    of the raw entities, which a database does not keep, changes nothing. All entities are held in
    memory with their paragraphs, and an automaton over their names: count on 3 KiB an entity.
    """
    entities = [
        Entity(id_, label, paragraph)
        for path in parts(raw_folder(work, "entities"))
        for batch in pq.ParquetFile(path).iter_batches(columns=["id", "label", "paragraph"])
        for id_, label, paragraph in zip(*(c.to_pylist() for c in batch.columns), strict=True)
    ]
    entities.sort(key=lambda entity: entity.id)
    graph = mention_relations(entities)
    pairs = 0
    for i, entity in enumerate(entities):
        for other in graph.neighbours(i):
            if i < other:
                into.add_relation(entity.id, MENTION, entities[other].id, MENTION)
                pairs += 1
    return {MENTION: pairs}


MEMORY_BYTES = 2 << 30
DOUBLINGS = 3
"""Redirects are followed 2 ** DOUBLINGS = 8 steps."""

_REDIRECT = "redirect"
_END = "end"
_ROWS = pa.schema([(name, pa.string()) for name in ("id", "kind", "text")])
_TEXTS = pa.schema([*_ROWS, ("rank", pa.int64()), ("number", pa.int64())])


class Gathered:
    """Takes texts and relations of ids and makes entities of them. `folder` is its own."""

    def __init__(self, folder: Path, memory_bytes: int) -> None:
        self._folder, self._memory_bytes = folder, memory_bytes
        self._texts = PartWriter(folder / "texts", _TEXTS)
        self._relations = PartWriter(folder / "relations", RELATIONS)
        self._number = self._before_file = 0
        self.add_relation = self._relations.add
        """Take subject, property, object and source."""

    def begin_file(self) -> None:
        """Declare that later calls come from another file, for `meet`."""
        self._before_file = self._number

    def add(self, id_: str, kind: str, text: str, rank: int = 0) -> None:
        """Take a text; of two of one kind the smaller rank is used, then the one given first."""
        self._number += 1
        self._texts.add(id_, kind, text, rank, self._number)

    def add_redirect(self, id_: str, target: str) -> None:
        """Take that `id_` is no entity: it leads to another id."""
        self.add(id_, _REDIRECT, target)

    def meet(self) -> tuple[str | None, str | None, str | None]:
        """Return ids that this file has texts of: with a relation, any; and any with a relation."""
        with self._opened() as db:
            db.run(
                "CREATE VIEW named AS SELECT id FROM texts"
                f" WHERE number > {self._before_file} AND kind <> '{_REDIRECT}'"
            )
            with_both, with_text, with_relation = db.rows(
                "SELECT (SELECT min(id) FROM (FROM named INTERSECT FROM ends)),"
                " (SELECT min(id) FROM named), (SELECT min(id) FROM ends)"
            )[0]
        return with_both, with_text, with_relation

    def write(self, into: RawWriter, *, only_labelled: bool = False) -> Counter[str]:
        """Write an entity for every id with a text or a relation. Return counts per reason.

        Relations are led through redirects. only_labelled: leave out ids without a label.
        """
        counts: Counter[str] = Counter()
        with self._opened() as db:
            counts["redirect loop"] = _follow_redirects(db)
            into.tables["relations"].add_batches(db.batches(_LED, RELATIONS, ROWS_PER_PART))
            db.run(f"CREATE OR REPLACE VIEW ends AS {_ENDS.format(f'({_LED})')}")
            ordered = f"SELECT id, kind, text FROM ({_ALL_TEXTS}) ORDER BY id, rank, number"
            rows = (
                row
                for batch in db.batches(ordered, _ROWS, ROWS_PER_PART)
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
            )
            for id_, group in groupby(rows, itemgetter(0)):
                texts = [(kind, text) for _, kind, text in group]
                counts.update(_write_one(id_, texts, into, only_labelled))
        return counts

    @contextmanager
    def _opened(self) -> Iterator[Database]:
        self._texts.flush()
        self._relations.flush()
        with database(self._folder, self._memory_bytes) as db:
            db.view("texts", self._texts.folder, _TEXTS)
            db.view("relations", self._relations.folder, RELATIONS)
            db.run(f"CREATE VIEW ends AS {_ENDS.format('relations')}")
            yield db


_ENDS = "SELECT subject AS id FROM {0} UNION SELECT object AS id FROM {0}"
_LED = (
    "SELECT coalesce(s.target, r.subject) AS subject, r.property,"
    " coalesce(o.target, r.object) AS object, r.source FROM relations r"
    " LEFT JOIN redirects s ON r.subject = s.id LEFT JOIN redirects o ON r.object = o.id"
)


_ALL_TEXTS = f"""
    SELECT id, kind, text, rank, number FROM texts WHERE kind <> '{_REDIRECT}'
    UNION ALL SELECT id, '{_REDIRECT}', target, 0, 0 FROM redirects
    UNION ALL SELECT id, '{_END}', '', 0, 0 FROM ends
"""


def _follow_redirects(db: Database) -> int:
    """Make the table `redirects` (id, target in the end). Return how many lead nowhere."""
    db.run(
        "CREATE TABLE redirects AS SELECT id, arg_min(text, number) AS target"
        f" FROM texts WHERE kind = '{_REDIRECT}' GROUP BY id"
    )
    for _ in range(DOUBLINGS):
        db.run(
            "CREATE OR REPLACE TABLE redirects AS SELECT a.id, coalesce(b.target, a.target)"
            " AS target FROM redirects a LEFT JOIN redirects b ON a.target = b.id"
        )
    all_ = db.count("redirects")
    # What still leads to a redirect is in a loop, or longer than 8 steps.
    db.run("DELETE FROM redirects WHERE target IN (SELECT id FROM redirects)")
    return all_ - db.count("redirects")


def _write_one(
    id_: str, texts: list[tuple[str, str]], into: RawWriter, only_labelled: bool
) -> Iterator[str]:
    """Write an entity or a redirect, of `(kind, text)` by rank. Yield what to count it under."""
    first = dict(reversed(texts))
    label = first.get(LABEL) or label_from_id(id_)
    if _REDIRECT in first:
        target = first[_REDIRECT]
        into.add_redirect(label, label_from_id(target), target)
        into.add_alias(target, label, "redirect")
        yield "redirect"
    elif LABEL not in first and only_labelled:
        yield "without a label"
    else:
        if LABEL not in first:
            yield "label from id"
        if _END not in first:
            yield "in no triple"
        description = first.get(DESCRIPTION, "")
        into.add_entity(id_, label, first.get(PARAGRAPH, description), description=description)
        for name in dict.fromkeys(text for kind, text in texts if kind in (LABEL, ALIAS)):
            if name != label:
                into.add_alias(id_, name)
        yield "entity"
