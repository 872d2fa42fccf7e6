"""Read entities and relations from files of rows (JSONL, CSV, ...) or of triples (N-Triples, TSV).

The sources `--entities` and `--triples` of `argus research kb build`. They write raw tables
(`argus.knowledge.raw`), which `argus.knowledge.alignment` turns into a knowledge base.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from argus.data.documents import ID_FIELDS, TEXT_FIELDS, TITLE_FIELDS
from argus.data.fields import FieldNames
from argus.data.kb import HYPERLINK, TRIPLES
from argus.data.reading import check_file, nothing_in, read_lines
from argus.data.rows import Row, has_field, id_value, pick_field, read_rows, suffix_of, text_value
from argus.errors import InputError, Location
from argus.knowledge.base import read_edges
from argus.knowledge.names import ALIAS_SEPARATOR
from argus.knowledge.raw import RAW, PartWriter, RawWriter, database, schema_of
from argus.progress import announce

_IRI = r"<([^\x00-\x20<>\"]*)>"
_BLANK = r"(_:[^\s<>\"#,;()\[\]]*[^\s<>\"#,;()\[\].])"
_TRIPLE = re.compile(
    rf"[ \t]*(?:{_IRI}|{_BLANK})[ \t]*{_IRI}[ \t]*"
    rf"(?:{_IRI}|{_BLANK}"
    r'|"([^"\\\n\r]*(?:\\.[^"\\\n\r]*)*)"(?:@([a-zA-Z]+(?:-[a-zA-Z0-9]+)*)|\^\^<[^<>"\s]*>)?)'
    r"[ \t]*\.[ \t]*(?:#.*)?\r?\n?",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_CHARACTERS = dict(zip("tbnrf\"'\\", "\t\b\n\r\f\"'\\", strict=True))

LABEL, DESCRIPTION, PARAGRAPH, ALIAS = "label", "description", "paragraph", "alias"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
DBO = "http://dbpedia.org/ontology/"
FOAF = "http://xmlns.com/foaf/0.1/"
SCHEMA = ("http://schema.org/", "https://schema.org/")
WIKI_LINK = DBO + "wikiPageWikiLink"
# Kind and rank of a property's text. Of two texts of a kind, that of the smaller rank is taken.
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

# The property of relations of rows.
RELATED = "related"
_NT = ".nt"
_TEXTS = schema_of("id kind text rank", rank=pa.int64())
_ENTITIES = schema_of(f"id {LABEL} {PARAGRAPH} {DESCRIPTION} names", names=pa.list_(pa.string()))
_FIRST = ", ".join(
    f"arg_min(text, rank) FILTER (kind = '{kind}') AS {kind}"
    for kind in (LABEL, PARAGRAPH, DESCRIPTION)
)
_GATHERED = f"""
    SELECT id, {_FIRST}, list(text ORDER BY rank) FILTER (kind IN ('{LABEL}', '{ALIAS}')) AS names
    FROM (SELECT id FROM texts UNION SELECT subject FROM edges UNION SELECT object FROM edges)
    LEFT JOIN texts USING (id) GROUP BY id ORDER BY id
"""


@dataclass(frozen=True)
class EntityRows:
    """A file with one entity a row.

    Columns: `id`; `label`, `title` or `name`; `paragraph` or `text` (as everywhere, other usual
    names are known, and `fields` gives one's own); and where there are any `description`,
    `aliases` (a list, or names with "|" between) and `relations` (a list of ids, or ids with "|"
    between). A row may leave out its label or paragraph (the description then stands). It is an
    error if no row has one.
    """

    path: Path
    fields: FieldNames = field(default_factory=FieldNames)

    def inputs(self) -> dict[str, Path]:
        """Return the files that are read, by their part."""
        return {"entities": self.path}

    def write(self, into: RawWriter) -> dict[str, int]:
        """Write entities, relations and aliases. Return counts.

        Raises InputError, with file and line, for a missing column and values of another type.
        """
        counts: Counter[str] = Counter()
        for row, id_, texts in self._rows():
            paragraph = texts[PARAGRAPH] or texts[DESCRIPTION]
            into.add_entity(id_, texts[LABEL], paragraph, description=texts[DESCRIPTION])
            counts["entity"] += 1
            aliases = (text_value(alias, "aliases") for alias in _list_of(row, "aliases"))
            into.add_aliases(id_, texts[LABEL], list(map(str.strip, aliases)))
            for end in _list_of(row, "relations"):
                related = id_value(end, "relations", coerce=self.fields.coerce_ids)
                into.add_relation(id_, RELATED, related, TRIPLES)
                counts["relation"] += 1
        return dict(counts)

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """Yield `(id, kind, text)` of every row, which need not have a label or a paragraph."""
        for row, id_, texts in self._rows(required=()):
            yield from ((id_, kind, text) for kind, text in texts.items() if text)
            aliases = _list_of(row, "aliases")
            yield from ((id_, ALIAS, text_value(alias, "aliases").strip()) for alias in aliases)

    def _rows(
        self, required: Sequence[str] = (LABEL, PARAGRAPH)
    ) -> Iterator[tuple[Row, str, dict[str, str]]]:
        """Yield rows with ids and texts. Raise InputError at the end for a column no row had."""
        fields = self.fields
        columns = {
            LABEL: ((fields.title,) if fields.title else TITLE_FIELDS, "--title-field"),
            PARAGRAPH: ((fields.text,) if fields.text else TEXT_FIELDS, "--text-field"),
            DESCRIPTION: (("description",), None),
        }
        ids = (fields.id,) if fields.id else ID_FIELDS
        missing = set(required)
        row = None
        for row in read_rows(self.path):
            id_field = pick_field(row, ids, what="id", option="--id-field")
            texts = dict.fromkeys(columns, "")
            for kind, (names, _) in columns.items():
                if name := next((name for name in names if has_field(row, name)), None):
                    texts[kind] = text_value(row, name).strip()
                    missing.discard(kind)
            texts[LABEL] = " ".join(texts[LABEL].split())
            yield row, id_value(row, id_field, coerce=fields.coerce_ids), texts
        if row is None:
            raise nothing_in(self.path, "entity", "at least one row of id, label, paragraph")
        for kind in sorted(missing):
            names, option = columns[kind]
            pick_field(row, names, what=kind, option=option)


def _list_of(row: Row, name: str) -> list[Row]:
    """Return the values of a field that is a list, or one text with "|" between, as rows of one."""
    value = row.values.get(name)
    if isinstance(value, str):
        value = [part.strip() for part in value.split(ALIAS_SEPARATOR) if part.strip()]
    if value is not None and not isinstance(value, list):
        raise InputError(
            f"{str(value)[:60]!r}",
            expected=f"a list, or one string with {ALIAS_SEPARATOR!r} between",
            fix="Mend the field, or leave it out.",
            where=row.at(name),
        )
    return [Row({name: part}, row.file, row.line) for part in value or ()]


class Literal(NamedTuple):
    """A text of N-Triples. language: empty where it has none."""

    text: str
    language: str = ""


Triple = tuple[str, str, str | Literal]
"""Subject, property and object: IRIs without their brackets, or blank nodes ("_:b0")."""


def parse_line(line: str, file: Path, number: int) -> Triple | None:
    """Return the triple of a line, None for an empty line or a comment. Raises InputError."""
    match = _TRIPLE.fullmatch(line)
    if match is None:
        bare = line.strip()
        if not bare or bare.startswith("#"):
            return None
        raise InputError(
            f"{bare[:60]!r}",
            expected='<subject> <property> <object> . or <subject> <property> "text"@en .',
            fix="Mend or remove the line; Turtle has to be converted: "
            "rapper -i turtle -o ntriples FILE > FILE.nt",
            where=Location(file, number),
        )
    parts = [part or "" for part in match.groups()]
    if "\\" in line:
        parts = [_unescape(part, Location(file, number)) for part in parts]
    iri, blank, predicate, object_iri, object_blank, text, language = parts
    is_text = match[6] is not None
    end = Literal(text, language) if is_text else object_iri or object_blank
    return iri or blank, predicate, end


def _unescape(text: str, where: Location) -> str:
    r"""Return the text with `\n`, `\uXXXX`, `\UXXXXXXXX` and their like read. Raises InputError."""

    def character(match: re.Match[str]) -> str:
        short, long, letter = match.groups()
        return _CHARACTERS[letter] if letter else chr(int(short or long, 16))

    try:
        plain = _ESCAPE.sub(character, text)
        return plain.encode("utf-16", "surrogatepass").decode("utf-16")
    except (KeyError, ValueError, OverflowError) as error:
        raise InputError(
            "an escape that stands for no character",
            expected=r"""one of \t \b \n \r \f \" \' \\ \uXXXX \UXXXXXXXX""",
            fix=r"Write a backslash as \\, and other characters as they are.",
            where=where,
        ) from error


def label_from_id(id_: str) -> str:
    """Return an IRI's local name, decoded, or another id as it is. Underscores become spaces."""
    bare = id_.rstrip("/#")
    name = unquote(re.split("[/#]", bare)[-1]) if "://" in id_ else id_
    return " ".join(name.replace("_", " ").split()) or id_


@dataclass(frozen=True)
class TripleFiles:
    """Relations from a file of triples, and the labels of their ends.

    triples: N-Triples (.nt), or rows of subject, property, object (TSV with or without a header,
    CSV, JSONL, Parquet). labels, abstracts: N-Triples, TSV of id and text, or rows of id, label,
    paragraph, which need no abstracts beside them. An N-Triples file may hold all in one. language:
    of the texts that are used. Those without a tag count for every language. memory_bytes: of the
    database that gathers them, before it writes to disk.
    """

    triples: Path
    labels: Path | None = None
    abstracts: Path | None = None
    language: str = "en"
    memory_bytes: int = 2 << 30

    def inputs(self) -> dict[str, Path]:
        """Return the files that are read, by their part."""
        files = {"triples": self.triples, "labels": self.labels, "abstracts": self.abstracts}
        return {name: path for name, path in files.items() if path is not None}

    def write(self, into: RawWriter) -> dict[str, int]:
        """Write entities, relations and aliases. Return counts.

        Raises InputError, with file and line, for text that cannot be read.
        """
        counts: Counter[str] = Counter()
        with TemporaryDirectory(dir=into.work) as folder:
            texts = PartWriter(Path(folder) / "texts", _TEXTS)
            for path, kind in (
                (self.triples, ""),
                (self.labels, LABEL),
                (self.abstracts, PARAGRAPH),
            ):
                if path is not None:
                    announce(f"Reading {path.name}")
                    self._read(path, kind, texts, into)
            texts.flush()
            edges = into.tables["relations"]
            edges.flush()
            counts["relation"] = edges.rows
            with database(Path(folder), self.memory_bytes) as db:
                db.view("texts", texts.folder, _TEXTS)
                db.view("edges", edges.folder, RAW["relations"])
                for batch in db.batches(_GATHERED, _ENTITIES, 50_000):
                    for id_, label, paragraph, description, names in zip(
                        *(column.to_pylist() for column in batch.columns), strict=True
                    ):
                        counts["entity"] += 1
                        counts["label from id"] += label is None
                        label = label or label_from_id(id_)
                        text, more = paragraph or description or "", description or ""
                        into.add_entity(id_, label, text, description=more)
                        into.add_aliases(id_, label, names or [])
        return dict(+counts)

    def _read(self, path: Path, kind: str, texts: PartWriter, into: RawWriter) -> None:
        """Read one file. kind: of its texts. "" for that of triples, which alone relates."""

        def add(id_: str, kind: str, text: str, rank: int = 0) -> None:
            if text.strip():  # of two of one rank, the first is taken
                texts.add(id_, kind, text.strip(), rank << 40 | texts.rows)

        if path.name.lower().endswith((_NT, _NT + ".gz", _NT + ".bz2")):
            check_file(path, "a file of triples, which may be compressed (.gz, .bz2)")
            triples = (parse_line(line, path, number) for number, line in read_lines(path))
            # Texts of a kind of the language ("en-GB") come second, those of any language third.
            ranks = {self.language: 0, "": 2, "mul": 2}
            for subject, predicate, end in filter(None, triples):
                if subject.startswith("_:"):
                    continue
                if isinstance(end, Literal):
                    tag = end.language.lower()
                    rank = ranks.get(tag, 1 if tag.startswith(f"{self.language}-") else None)
                    if predicate in TEXT_PROPERTIES and rank is not None:
                        of, second = TEXT_PROPERTIES[predicate]
                        add(subject, of, end.text, rank * len(TEXT_PROPERTIES) + second)
                elif not kind and not end.startswith("_:"):
                    source = HYPERLINK if predicate == WIKI_LINK else TRIPLES
                    into.add_relation(subject, predicate, end, source)
        elif not kind:
            for row, subject, predicate, end in read_edges(path):
                into.add_relation(id_value(row, subject), predicate, id_value(row, end), TRIPLES)
        else:
            for text in _texts_of(path, kind):
                add(*text)


def _texts_of(path: Path, kind: str) -> Iterator[tuple[str, str, str]]:
    """Yield `(id, kind, text)` of rows, or of a TSV file of id and text without a header."""
    if suffix_of(path) == ".tsv":
        check_file(path, "a file of id and text")
        header = next(read_lines(path), (1, ""))[1].rstrip("\r\n").split("\t")
    if suffix_of(path) != ".tsv" or not set(ID_FIELDS).isdisjoint(header):
        yield from EntityRows(path).texts()
        return
    for number, line in read_lines(path):
        id_, tab, text = line.rstrip("\r\n").partition("\t")
        if line.strip() and not (id_ and tab):
            raise InputError(
                f"{line.strip()[:60]!r}",
                expected="id, tab, text",
                fix="Separate the id from its text by one tab.",
                where=Location(path, number),
            )
        yield id_, kind, text
