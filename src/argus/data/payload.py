"""What a document's payload holds at a field: the document it is a chunk of, values to slice by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from argus.data.corpus import ID_FIELDS, TITLE_FIELDS
from argus.data.field_paths import FieldPath
from argus.data.rows import field_names
from argus.data.types import Document
from argus.errors import InputError, Location

Value = str | int | float
PAYLOAD = "metadata"
"""The object that is opened when a corpus is read: a path may begin with it."""
SHOWN = 20
"""Names of fields that an error lists."""


@dataclass(frozen=True, slots=True)
class PayloadField:
    """A field, and the option that named it; `paths` are where it may be."""

    name: str
    option: str
    paths: tuple[FieldPath, ...]

    @classmethod
    def parse(cls, name: str, option: str) -> PayloadField:
        """Read a name, or a path such as `metadata.source` or `authors[].name`.

        Raises InputError for a path that is none.
        """
        try:
            path = FieldPath.parse(name)
        except ValueError as error:
            raise InputError(
                str(error),
                expected="a field, or a path such as metadata.source",
                fix="Correct it.",
                where=option,
            ) from error
        inner = name.removeprefix(f"{PAYLOAD}.")
        return cls(name, option, (path,) if inner == name else (path, FieldPath.parse(inner)))

    def values(self, document: Document) -> list[Value]:
        """Return what a document holds: nothing, one value, or those of a list.

        `id` and `title` are the document's own where its payload has no field of that name. Text
        that is empty, null and NaN are no values; true and false are texts. Raises InputError for a
        field that holds objects.
        """
        payload = document.metadata
        path = next((path for path in self.paths if path.is_in(payload)), None)
        if path is None:
            own = _own(document, self.paths[-1].text)
            return [own] if own else []
        there = path.find(payload, lambda field: Location(Path("corpus"), field=field))
        flat = (one for value in there for one in (value if isinstance(value, list) else [value]))
        plain = (self._plain(one, document, path) for one in flat)
        return [value for value in plain if value is not None]

    def is_in(self, document: Document) -> bool:
        """Return whether the document has the field, though it may hold nothing."""
        payload = document.metadata
        return any(path.text in payload or path.is_in(payload) for path in self.paths)

    def absent(self, documents: Iterable[Document]) -> InputError:
        """Return what is raised where no document has the field: it names those that they have."""
        seen: dict[str, None] = {}
        for document in documents:
            seen |= dict.fromkeys(field_names(document.metadata))
        names = _listed(list(seen)) if seen else "; it has no others"
        return InputError(
            f"no document has a field {self.name!r}",
            expected=f"a field of the corpus{names}",
            fix="Correct the name; inside an object it is a path with dots.",
            where=self.option,
        )

    def _plain(self, value: object, document: Document, path: FieldPath) -> Value | None:
        """Return a value that can be counted; None for nothing."""
        if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
            return None
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, Mapping | list):
            inside = field_names({path.text: value})
            raise InputError(
                f"{path.text!r} of document {document.id!r} is no single value",
                expected=f"a field of texts, numbers or dates{_listed(inside)}",
                fix="Name a field inside it.",
                where=self.option,
            )
        if isinstance(value, date):
            return value.isoformat()
        return value if isinstance(value, str | int | float) else str(value)


def payload_values(documents: Sequence[Document], name: str, option: str) -> list[list[Value]]:
    """Return the values of a field in each document, as `PayloadField.values` does.

    Raises InputError, naming `option`, for a path that is none, a field that no document has, and
    one that holds objects.
    """
    field = PayloadField.parse(name, option)
    values = [field.values(document) for document in documents]
    if documents and not any(values) and not any(map(field.is_in, documents)):
        raise field.absent(documents)
    return values


def parent_ids(documents: Sequence[Document], field: str) -> list[str]:
    """Return the id of the document that each chunk is of; one without is its own parent.

    Whole numbers are read as text. Raises InputError as `payload_values` does, and for a chunk of
    several documents.
    """
    option = "--parent-field"
    parents = []
    for document, values in zip(documents, payload_values(documents, field, option), strict=True):
        if len(values) > 1 or (values and isinstance(values[0], float) and values[0] % 1):
            raise InputError(
                f"chunk {document.id!r} has the values {', '.join(map(repr, values))}",
                expected="the id of one document",
                fix="Name the field that holds the id of the document a chunk is of.",
                where=option,
            )
        first = values[0] if values else document.id
        parents.append(str(int(first)) if isinstance(first, float) else str(first))
    return parents


def read_parents(documents: Sequence[Document], field: str | None) -> dict[str, str]:
    """Return id of chunk to id of document, as `parent_ids`; of no field, nothing."""
    if field is None:
        return {}
    return dict(zip((d.id for d in documents), parent_ids(documents, field), strict=True))


def _own(document: Document, name: str) -> str:
    """Return id or title, whatever their columns are called by custom."""
    if name in ID_FIELDS:
        return document.id
    return document.title if name in TITLE_FIELDS else ""


def _listed(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > SHOWN else ""
    return f" ({', '.join(names[:SHOWN])}{more})"
