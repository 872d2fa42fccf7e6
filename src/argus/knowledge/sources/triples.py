"""Read N-Triples as entities and relations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from argus.data.documents import ID_FIELDS, TEXT_FIELDS, TITLE_FIELDS
from argus.data.kb import HYPERLINK, TRIPLES
from argus.data.rows import FORMATS
from argus.errors import InputError, Location
from argus.knowledge.relations import OBJECT_FIELDS, SUBJECT_FIELDS
from argus.knowledge.sources.raw import (
    LABEL,
    MEMORY_BYTES,
    PARAGRAPH,
    REDIRECT,
    TEXT_PROPERTIES,
    WIKI_LINK,
    Gathered,
    RawWriter,
    ending,
    language_rank,
    text_lines,
)
from argus.knowledge.sources.rows import EntityRows, entity_texts
from argus.progress import progress

_IRI = r"<([^\x00-\x20<>\"]*)>"
_BLANK = r"(_:[^\s<>\"#,;()\[\]]*[^\s<>\"#,;()\[\].])"
_TRIPLE = re.compile(
    rf"[ \t]*(?:{_IRI}|{_BLANK})[ \t]*{_IRI}[ \t]*"
    rf"(?:{_IRI}|{_BLANK}"
    r'|"([^"\\\n\r]*(?:\\.[^"\\\n\r]*)*)"(?:@([a-zA-Z]+(?:-[a-zA-Z0-9]+)*)|\^\^' + _IRI + r")?)"
    r"[ \t]*\.[ \t]*(?:#.*)?\r?\n?",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_CHARACTERS = dict(zip("tbnrf\"'\\", "\t\b\n\r\f\"'\\", strict=True))
_SUBJECT = re.compile(rf"[ \t]*(?:{_IRI}|{_BLANK})[ \t]*")
_PREDICATE = re.compile(rf"{_IRI}[ \t]*")


@dataclass(frozen=True, slots=True)
class Literal:
    """A text of N-Triples. Language and datatype are empty where it has none."""

    text: str
    language: str = ""
    datatype: str = ""


Triple = tuple[str, str, str | Literal]
"""Subject, property and object: IRIs without their brackets, or blank nodes ("_:b0")."""


def parse_line(line: str, file: Path, number: int) -> Triple | None:
    """Return the triple of a line, None for an empty line or a comment.

    Raises InputError, saying which part of the line is amiss.
    """
    match = _TRIPLE.fullmatch(line)
    if match is None:
        bare = line.strip()
        if not bare or bare.startswith("#"):
            return None
        raise _broken(line, Location(file, number))
    iri, blank, predicate, object_iri, object_blank, text, language, datatype = match.groups()
    if "\\" in line:
        where = Location(file, number)
        iri, predicate, object_iri, text, datatype = (
            part and unescape(part, where) for part in (iri, predicate, object_iri, text, datatype)
        )
    subject = iri if blank is None else blank
    if text is None:
        return subject, predicate, object_iri if object_blank is None else object_blank
    return subject, predicate, Literal(text, language or "", datatype or "")


def read_ntriples(path: Path) -> Iterator[tuple[int, Triple]]:
    """Yield `(line number, triple)` of an .nt file, which may be compressed."""
    for number, line in text_lines(path):
        triple = parse_line(line, path, number)
        if triple is not None:
            yield number, triple


def unescape(text: str, where: Location) -> str:
    r"""Return the text with `\n`, `\uXXXX`, `\UXXXXXXXX` and their like read.

    Two halves of a surrogate pair become the character that their writer meant. Raises InputError
    for half a pair, for an escape that the grammar does not have and for no character's number.
    """
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        short, long, letter = match.groups()
        number = int(short or long, 16) if short or long else -1
        if number > 0x10FFFF or (number < 0 and letter not in _CHARACTERS):
            raise InputError(
                f"the escape {match[0]} stands for no character",
                expected=r"""one of \t \b \n \r \f \" \' \\ \uXXXX \UXXXXXXXX""",
                fix=r"Write a backslash as \\, and other characters as they are.",
                where=where,
            )
        return chr(number) if number >= 0 else _CHARACTERS[letter]

    plain = _ESCAPE.sub(character, text)
    try:
        return plain.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise InputError(
            "half a surrogate pair among the escapes",
            expected="whole Unicode characters",
            fix="The text was cut inside a character: write it again, or remove the half.",
            where=where,
        ) from error


def _broken(line: str, where: Location) -> InputError:
    rest, part = line, "subject (<IRI> or _:blank)"
    subject = _SUBJECT.match(rest)
    if subject is not None:
        rest, part = rest[subject.end() :], "property (<IRI>)"
        predicate = _PREDICATE.match(rest)
        if predicate is not None:
            rest, part = rest[predicate.end() :], "object and a full stop"
    excerpt = rest.strip()[:60]
    open_iri = excerpt.startswith("<") and ">" not in rest
    return InputError(
        f"an IRI without '>': {excerpt!r}" if open_iri else f"no {part} at {excerpt!r}",
        expected='<subject> <property> <object> . or <subject> <property> "text"@en .',
        fix="Mend or remove the line; Turtle has to be converted: "
        "rapper -i turtle -o ntriples FILE > FILE.nt",
        where=where,
    )


PROPERTY_FIELDS = ("relation", "property", "predicate", "p", "rel")
NTRIPLES = ".nt"
TABLES = (".tsv", ".txt")
ROW_FORMATS = tuple(suffix for suffix in FORMATS if suffix not in TABLES)
LINES_PER_STEP = 10_000


@dataclass(frozen=True)
class TripleFiles:
    """Relations from a file of triples, and the labels of their ends.

    triples: TSV (.tsv, .txt) of subject, property, object, with or without a header, or N-Triples
    (.nt). Both may be compressed (.gz, .bz2). labels, abstracts: N-Triples, TSV of id and text, or
    rows of id, label, paragraph (JSONL, CSV, Parquet), which need no abstracts beside them. An
    N-Triples file may hold all in one. language: of the texts that are used. Those without a tag
    count for every language. skip_unknown: make no entity of an id that no file gives a label;
    else the label is read off the id. memory_bytes: bound of the sort that brings texts together.

    Of N-Triples, ids are whole IRIs. Labels are rdfs:label, else skos:prefLabel, schema:name,
    foaf:name, and the ones that are not taken are aliases, as skos:altLabel is. Paragraphs are
    dbo:abstract, else rdfs:comment, else schema:description. dbo:wikiPageRedirects are redirects,
    followed to 8 steps. dbo:wikiPageWikiLink relates by hyperlink. Blank nodes are left out: they
    have no name outside their file.
    """

    triples: Path
    labels: Path | None = None
    abstracts: Path | None = None
    language: str = "en"
    skip_unknown: bool = False
    memory_bytes: int = field(default=MEMORY_BYTES, repr=False)  # changes nothing in what is read

    def inputs(self) -> dict[str, Path]:
        """Return the files that are read, by their part."""
        files = {"triples": self.triples, "labels": self.labels, "abstracts": self.abstracts}
        return {name: path for name, path in files.items() if path is not None}

    def write(self, into: RawWriter) -> dict[str, int]:
        """Write entities, relations, aliases and redirects. Return counts per reason.

        Raises InputError, with file and line, for what cannot be read, and for labels or abstracts
        of which none is about an end of a triple.
        """
        path: Path | None
        for path in self.inputs().values():
            _refuse_unknown_ending(path, rows=path != self.triples)
        counts: Counter[str] = Counter()
        with TemporaryDirectory(dir=into.staging) as folder:
            gathered = Gathered(Path(folder), self.memory_bytes)
            if ending(self.triples) == NTRIPLES:
                self._read_ntriples(self.triples, gathered, counts, edges=True)
            else:
                _read_table(self.triples, gathered, counts)
            for path, kind in ((self.labels, LABEL), (self.abstracts, PARAGRAPH)):
                if path is None:
                    continue
                self._read_texts(path, kind, gathered, counts)
                with_both, with_text, with_relation = gathered.meet()
                if with_both is None:
                    like = f": it has ids like {with_text!r}" if with_text is not None else ""
                    raise InputError(
                        f"no {kind} of an id in the triples{like}",
                        expected=f"ids as in the triples, like {with_relation!r}",
                        fix="Check that both files are of one data set, write ids in one way, and "
                        "that the texts are in the language that is asked for.",
                        where=path,
                    )
            counts += gathered.write(into, only_labelled=self.skip_unknown)
        return dict(+counts)

    def _read_texts(self, path: Path, kind: str, gathered: Gathered, counts: Counter[str]) -> None:
        gathered.begin_file()
        if ending(path) == NTRIPLES:
            self._read_ntriples(path, gathered, counts, edges=False)
        elif ending(path) in ROW_FORMATS or _has_header(path):
            for id_, kind_, text in entity_texts(EntityRows(path=path)):
                gathered.add(id_, kind_, text)
        else:
            for id_, text in _id_texts(path):
                gathered.add(id_, kind, text)

    def _read_ntriples(
        self, path: Path, gathered: Gathered, counts: Counter[str], *, edges: bool
    ) -> None:
        with progress(f"read {path.name}", None) as advance:
            for number, (subject, predicate, object_) in read_ntriples(path):
                if number % LINES_PER_STEP == 0:
                    advance(LINES_PER_STEP)
                if isinstance(object_, Literal):
                    counts[self._take_literal(subject, predicate, object_, gathered)] += 1
                elif subject.startswith("_:") or object_.startswith("_:"):
                    counts["blank node"] += 1
                elif predicate == REDIRECT:
                    gathered.add_redirect(subject, object_)
                elif not edges:
                    counts["relation beside the triples"] += 1
                else:
                    source = HYPERLINK if predicate == WIKI_LINK else TRIPLES
                    gathered.add_relation(subject, predicate, object_, source)
                    counts["relation"] += 1

    def _take_literal(
        self, subject: str, predicate: str, literal: Literal, gathered: Gathered
    ) -> str:
        use = TEXT_PROPERTIES.get(predicate)
        if use is None:
            return "literal"
        if subject.startswith("_:"):
            return "blank node"
        language = language_rank(literal.language, self.language)
        if language is None:
            return "other language"
        text = literal.text.strip()
        if not text:
            return "empty text"
        kind, rank = use
        gathered.add(subject, kind, text, language * len(TEXT_PROPERTIES) + rank)
        return "text"


def _read_table(path: Path, gathered: Gathered, counts: Counter[str]) -> None:
    columns: tuple[int, ...] = ()
    width = 3
    with progress(f"read {path.name}", None) as advance:
        for number, line in text_lines(path):
            fields = line.rstrip("\r\n").split("\t")
            if fields == [""]:
                continue
            if not columns:
                columns = _columns_of_header(fields)
                if columns:
                    width = len(fields)
                    continue
                columns = (0, 1, 2)
            if len(fields) != width:
                raise InputError(
                    f"{len(fields)} columns",
                    expected=f"{width}: subject, property and object" if width == 3 else f"{width}",
                    fix="Separate columns by one tab, or name them in a header: "
                    "subject, relation, object.",
                    where=Location(path, number),
                )
            subject, property_, object_ = (fields[i] for i in columns)
            if not subject or not object_:
                raise InputError(
                    "an empty id",
                    expected="an id at both ends",
                    fix="Mend or remove the line.",
                    where=Location(path, number, "object" if subject else "subject"),
                )
            gathered.add_relation(subject, property_, object_, TRIPLES)
            counts["relation"] += 1
            if number % LINES_PER_STEP == 0:
                advance(LINES_PER_STEP)


def _columns_of_header(fields: list[str]) -> tuple[int, ...]:
    """Return the places of subject, property and object, none where this is no header."""
    places = [
        next((i for i, field in enumerate(fields) if field.strip().lower() in names), None)
        for names in (SUBJECT_FIELDS, PROPERTY_FIELDS, OBJECT_FIELDS)
    ]
    return () if None in places else tuple(place for place in places if place is not None)


def _has_header(path: Path) -> bool:
    names = set(next(text_lines(path), (1, ""))[1].rstrip("\r\n").split("\t"))
    return bool(names & set(ID_FIELDS) and names & {*TITLE_FIELDS, *TEXT_FIELDS})


def _id_texts(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in text_lines(path):
        id_, tab, text = line.rstrip("\r\n").partition("\t")
        if not id_ and not tab:
            continue
        if not tab or not id_:
            raise InputError(
                f"no {'tab' if id_ else 'id'} in {line.strip()[:60]!r}",
                expected="id, tab, text",
                fix="Separate the id from its text by one tab.",
                where=Location(path, number),
            )
        if text.strip():
            yield id_, text.strip()


def _refuse_unknown_ending(path: Path, *, rows: bool) -> None:
    suffix = ending(path)
    suffixes = (NTRIPLES, *TABLES, *(ROW_FORMATS if rows else ()))
    if suffix in suffixes:
        return
    raise InputError(
        f"file type {suffix or '(none)'} is not read",
        expected=f"one of {', '.join(suffixes)} (text may be compressed: .gz, .bz2)",
        fix="DBpedia's .ttl have one triple a line: rename them to .nt. Convert others: "
        "rapper -i turtle -o ntriples FILE > FILE.nt"
        if suffix in (".ttl", ".n3", ".rdf", ".owl", ".nq", ".trig")
        else "Convert the file, or rename it if only its ending is wrong.",
        where=path,
    )
