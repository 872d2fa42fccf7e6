"""What a document's payload holds at a field: the document it is a chunk of, values to slice by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from argus.data.field_paths import FieldPath
from argus.data.rows import field_names
from argus.data.types import Document, RecordFields
from argus.errors import InputError, Location

Value = str | int | float
PAYLOAD = "metadata"
"""The object that is opened when a corpus is read: a path may begin with it."""
OF_PROGRAM = RecordFields("id", "title")
"""What the own fields of a document are called that no record was read for."""
SHOWN = 20
"""Names of fields that an error lists."""


@dataclass(frozen=True, slots=True)
class PayloadField:
    """A field, and the option that named it. inner: what is left of a path into `metadata`."""

    name: str
    option: str
    path: FieldPath
    inner: FieldPath | None = None

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
        return cls(name, option, path, None if inner == name else FieldPath.parse(inner))

    def values(self, document: Document) -> list[Value]:
        """Return what a document holds: nothing, one value, or those of a list.

        The fields that were read as id and title are the document's own. Text that is empty, null
        and NaN are no values; true and false are texts. Raises InputError for a field that holds
        objects, and for a path into what is none.
        """
        payload, path = self._place(document)
        if not _is_there(path, payload):
            own = self._own(document)
            return [own] if own else []
        flat = (
            one
            for value in self._find(payload, path, document)
            for one in (value if isinstance(value, list) else [value])
        )
        plain = (self._plain(one, document, path) for one in flat)
        return [value for value in plain if value is not None]

    def is_in(self, document: Document) -> bool:
        """Return whether the document has the field, though it may hold nothing."""
        payload, path = self._place(document)
        return _is_there(path, payload)

    def _place(self, document: Document) -> tuple[Mapping[str, object], FieldPath]:
        """Return where the field would be, and its path there.

        A path into `metadata` never leads to a column beside that object.
        """
        payload, fields = document.metadata, document.fields
        if self.inner is None or self.path.text in payload or PAYLOAD in payload:
            return payload, self.path
        first = self.inner.steps[0][0]
        if (beside := f"{PAYLOAD}.{first}") in payload:  # it shares its name with a column
            return {first: payload[beside]}, self.inner
        if fields is None:
            return payload, self.inner
        names = fields.inner & {first, self.inner.text}
        return {name: payload[name] for name in names if name in payload}, self.inner

    def _own(self, document: Document) -> str:
        """Return id or title, where the field was read as that."""
        fields = document.fields or OF_PROGRAM
        if self.name == fields.id:
            return document.id
        return document.title if self.name in (fields.title, OF_PROGRAM.title) else ""

    def _find(
        self, payload: Mapping[str, object], path: FieldPath, document: Document
    ) -> list[object]:
        """Return what is there; InputError names document and option."""
        try:
            return path.find(payload, lambda field: Location(Path("corpus"), field=field))
        except InputError as error:
            raise InputError(
                f"{path.text!r} of document {document.id!r} leads into {error.got}",
                expected=error.expected,
                fix=error.fix,
                where=self.option,
            ) from error

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


def _is_there(path: FieldPath, payload: Mapping[str, object]) -> bool:
    return path.text in payload or path.is_in(payload)


def _listed(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > SHOWN else ""
    return f" ({', '.join(names[:SHOWN])}{more})"
