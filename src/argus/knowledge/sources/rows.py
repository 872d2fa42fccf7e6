"""Entities as rows: JSONL, CSV, TSV or Parquet, each with its text, other names and relations."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from argus.data.documents import ID_FIELDS, TEXT_FIELDS, TITLE_FIELDS
from argus.data.fields import FieldNames
from argus.data.kb import HYPERLINK, TRIPLES
from argus.data.reading import nothing_in
from argus.data.rows import (
    Row,
    has_field,
    id_value,
    pick_field,
    read_rows,
    text_value,
    whole_characters,
)
from argus.errors import InputError
from argus.knowledge.names import ALIAS_SEPARATOR
from argus.knowledge.sources.raw import ALIAS, DESCRIPTION, LABEL, PARAGRAPH, RawWriter
from argus.progress import progress

RELATION_FIELDS = {"relations": (TRIPLES, "related"), "links": (HYPERLINK, "link")}
"""Columns with the source of their relations, and the name of a relation without a property."""
PROPERTY_NAMES = ("property", "relation", "predicate")
TARGET_NAMES = ("object", "id", "target")
ROWS_PER_STEP = 1000


@dataclass(frozen=True)
class EntityRows:
    """A file with one entity a row.

    Columns: `id`; `label`, `title` or `name`; `paragraph` or `text` (as everywhere, other usual
    names are known, and `fields` gives one's own); and where there are any `description`,
    `article`, `aliases` (a list, or names with "|" between), `relations` and `links` (a list of
    ids, or of `{"property": ..., "object": ...}`, or ids with "|" between). A row may leave out
    what it does not know (for a paragraph, the description then stands). A label or paragraph that
    no row has is an error.
    """

    path: Path
    fields: FieldNames = field(default_factory=FieldNames)

    def inputs(self) -> dict[str, Path]:
        """Return the files that are read, by their part."""
        return {"entities": self.path}

    def write(self, into: RawWriter) -> dict[str, int]:
        """Write entities, relations and aliases. Return counts per reason.

        Raises InputError, with file and line, for a missing column, an id that is no string or
        stands twice, and values of another type.
        """
        import numpy as np

        counts: Counter[str] = Counter()
        hashes = array("q")  # 8 bytes an entity, to see whether an id stands twice
        with progress(f"read {self.path.name}", None) as advance:
            for row, id_ in _rows(self):
                _write_row(row, id_, self.fields, into, counts)
                hashes.append(hash(id_))
                if row.line % ROWS_PER_STEP == 0:
                    advance(ROWS_PER_STEP)
        values, times = np.unique(np.frombuffer(hashes, np.int64), return_counts=True)
        suspects = set(values[times > 1].tolist())
        lines: dict[str, int] = {}
        for row, id_ in _rows(self) if suspects else ():
            if hash(id_) not in suspects:
                continue
            if id_ in lines:
                raise InputError(
                    f"id {id_!r} was already given on line {lines[id_]}",
                    expected="one row per entity",
                    fix="Remove or rename one of the two.",
                    where=row.at(),
                )
            lines[id_] = row.line
        return dict(counts)


def entity_texts(source: EntityRows) -> Iterator[tuple[str, str, str]]:
    """Yield `(id, kind, text)` of every row: label, paragraph, description and aliases."""
    for row, id_ in _rows(source, required=()):
        texts = [
            (LABEL, _text(row, _names(source.fields.title, TITLE_FIELDS))),
            (PARAGRAPH, _text(row, _names(source.fields.text, TEXT_FIELDS))),
            (DESCRIPTION, _text(row, ("description",))),
            *((ALIAS, alias) for alias in _aliases(row)),
        ]
        yield from ((id_, kind, text.strip()) for kind, text in texts if text.strip())


def _rows(
    source: EntityRows, *, required: Sequence[str] = ("label", "paragraph")
) -> Iterator[tuple[Row, str]]:
    """Yield rows with their ids. Raise InputError at the end for a required column none had."""
    fields = source.fields
    ids = _names(fields.id, ID_FIELDS)
    columns = {
        "label": (_names(fields.title, TITLE_FIELDS), "--title-field"),
        "paragraph": (_names(fields.text, TEXT_FIELDS), "--text-field"),
    }
    missing = {what: columns[what] for what in required}
    row = None
    for row in read_rows(source.path):
        id_field = pick_field(row, ids, what="id", option="--id-field")
        for what, (names, _) in list(missing.items()):
            if any(has_field(row, name) for name in names):
                del missing[what]
        yield row, id_value(row, id_field, coerce=fields.coerce_ids)
    if row is None:
        raise nothing_in(source.path, "entity", "at least one row of id, label, paragraph")
    for what, (names, option) in missing.items():
        pick_field(row, names, what=what, option=option)


def _names(name: str | None, usual: Sequence[str]) -> Sequence[str]:
    return (name,) if name else usual


def _text(row: Row, names: Sequence[str]) -> str:
    name = next((name for name in names if has_field(row, name)), None)
    return text_value(row, name) if name else ""


def _write_row(
    row: Row, id_: str, fields: FieldNames, into: RawWriter, counts: Counter[str]
) -> None:
    label = " ".join(_text(row, _names(fields.title, TITLE_FIELDS)).split())
    paragraph = _text(row, _names(fields.text, TEXT_FIELDS))
    description = _text(row, ("description",))
    into.add_entity(
        *(id_, label, paragraph if paragraph.strip() else description),
        description=description,
        article=_text(row, ("article",)),
    )
    counts["entity"] += 1
    for alias in dict.fromkeys(_aliases(row)):
        if alias != label:
            into.add_alias(id_, alias)
    for name, (source, unnamed) in RELATION_FIELDS.items():
        for property_, object_ in _relations(row, name, coerce=fields.coerce_ids):
            into.add_relation(id_, property_ or unnamed, object_, source)
            counts["relation"] += 1


def _aliases(row: Row) -> list[str]:
    values = _list_of(row, "aliases")
    aliases = [alias.strip() for alias in values if isinstance(alias, str)]
    if len(aliases) < len(values):
        raise _not_a_list(row, "aliases", "a list of strings")
    return [whole_characters(alias, row.at, "aliases") for alias in aliases if alias]


def _relations(row: Row, name: str, *, coerce: bool) -> Iterator[tuple[str, str]]:
    for relation in _list_of(row, name):
        values = relation if isinstance(relation, dict) else {"object": relation}
        target = next((key for key in TARGET_NAMES if key in values), None)
        if target is None or isinstance(relation, list):
            raise _not_a_list(row, name, 'a list of ids, or of {"property": ..., "object": ...}')
        part = Row({name: values[target]}, row.file, row.line)
        property_ = next((values[key] for key in PROPERTY_NAMES if values.get(key)), "")
        yield (
            text_value(Row({name: property_}, row.file, row.line), name),
            id_value(part, name, coerce=coerce),
        )


def _list_of(row: Row, name: str) -> list[object]:
    value = row.values.get(name)
    if value is None:
        return []
    if isinstance(value, str):
        return [part.strip() for part in value.split(ALIAS_SEPARATOR) if part.strip()]
    if not isinstance(value, list):
        raise _not_a_list(row, name, "a list")
    return value


def _not_a_list(row: Row, name: str, expected: str) -> InputError:
    return InputError(
        f"{str(row.values[name])[:60]!r}",
        expected=f"{expected}, or one string with {ALIAS_SEPARATOR!r} between",
        fix="Mend the field, or leave it out.",
        where=row.at(name),
    )
