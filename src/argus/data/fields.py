"""Find values in documents and rows by the name of a column or a path into an object.

A path such as `affected[].package.name` leads into an object, with `[]` behind each list. A field
whose name is the whole path, dots and all, comes first. `FieldNames` and `QrelsFields` are the
options that name columns. `PayloadField` and `parent_ids` read a document's metadata, and
`seconds` a time in any common form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache
from itertools import chain
from typing import Annotated

from argus.data.rows import field_names
from argus.data.types import Document
from argus.errors import InputError, Location
from argus.settings import Doc, Option

At = Callable[[str], Location | str]  # makes the location of a field
Value = str | int | float  # of a field of a payload, as it can be counted
PAYLOAD = "metadata"  # this object is opened when a corpus is read: a path may begin with it
MAX_NAMES = 20  # fields that an error lists
# Times as web servers and people write them.
PATTERNS = ("%d/%b/%Y:%H:%M:%S %z", "%Y/%m/%d %H:%M:%S", "%a, %d %b %Y %H:%M:%S %Z", "%d.%m.%Y")
# Least number that is nano-, micro- or milliseconds, and how many of these make a second.
UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
# Digits of ISO 8601's basic dates to their pattern.
BASIC = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
OLDEST, LATEST = 946_684_800.0, 4_102_444_800.0  # 2000 to 2100: no time of now lies outside
_STEP = re.compile(r"([^.\[\]{}\s](?:[^.\[\]{}]*[^.\[\]{}\s])?)(\[\])?")
_PANEL = "Input"
CoerceIds = Annotated[bool, Doc("Read ids that are whole numbers as text."), Option(panel=_PANEL)]

ParentField = Annotated[
    str | None,
    Doc("Field of the document that a chunk is of: chunks of one are no rivals of each other."),
    Option(panel=_PANEL),
]
By = Annotated[
    tuple[str, ...],
    Doc("Fields, such as source,metadata.year: every share is also given by what they hold."),
    Option(panel=_PANEL),
]


@dataclass(frozen=True, slots=True)
class FieldNames:
    """Columns by meaning. None means the usual names are looked for.

    A name with dots is a path into an object, unless a column has the whole of it for its name.

    Attributes:
        id: Column of the id; dotted inside an object.
        title: Column of the title, such as metadata.title.
        text: Column of the text; dotted inside an object.
        template: How title and text are joined, such as '{title}: {text}'; default: by a space, or
            as the vectors tell that come with the corpus.
    """

    id: Annotated[str | None, Option(("--id-field",), _PANEL)] = None
    title: Annotated[str | None, Option(("--title-field",), _PANEL)] = None
    text: Annotated[str | None, Option(("--text-field",), _PANEL)] = None
    coerce_ids: CoerceIds = False
    template: Annotated[str | None, Option(panel=_PANEL)] = None


@dataclass(frozen=True, slots=True)
class QrelsFields:
    """Columns of judgements by meaning. None means the usual names are looked for.

    Attributes:
        query: Column of the question's id in --qrels.
        document: Column of the id of the document, or chunk, in --qrels.
        grade: Column of the grade in --qrels.
    """

    query: Annotated[str | None, Option(("--qrels-query-field",), _PANEL)] = None
    document: Annotated[str | None, Option(("--qrels-document-field",), _PANEL)] = None
    grade: Annotated[str | None, Option(("--qrels-grade-field",), _PANEL)] = None


@dataclass(frozen=True, slots=True)
class QrelsName:
    """In a setting's type: it names a file of judgements, whose columns can be named beside it."""


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A path to values in an object. steps: names, each with whether its value is a list."""

    text: str
    steps: tuple[tuple[str, bool], ...]

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Read a path. Raises ValueError, with the faulty step, for a text that is none."""
        steps = []
        for part in text.split("."):
            match = _STEP.fullmatch(part)
            if match is None:
                raise ValueError(f"{text!r} is no path: {part!r} is not a name, or a name and []")
            steps.append((match[1], match[2] is not None))
        return cls(text, tuple(steps))

    @classmethod
    @lru_cache(1024)
    def named(cls, text: str, option: str) -> FieldPath:
        """Read the path that an option names. Raises InputError for a text that is none."""
        try:
            return cls.parse(text)
        except ValueError as error:
            expected = "a field, or a path such as metadata.year or shown[].ref"
            fix = "Put [] behind each list on the way."
            raise InputError(str(error), expected=expected, fix=fix, where=option) from error

    def look(self, values: Mapping[str, object]) -> object:
        """Return the value of a foreign record at this path, a list for a path with `[]`.

        None for no value, and where the record has another shape.
        """
        if self.text in values:
            return values[self.text]
        items: list[object] = [values]
        for name, many in self.steps:
            inner = [item.get(name) for item in items if isinstance(item, dict)]
            there = [value for value in inner if value is not None]
            if items and not there:
                return None
            items = [x for value in there for x in _flat(value, many)]
        return items if any(many for _, many in self.steps) else items[0]

    def find(self, values: Mapping[str, object], at: At) -> list[object]:
        """Return the values at this path, in order, without null and missing ones.

        One value where a list is expected counts as a list of one. at: makes the location of a
        field. Raises InputError for a list, or a plain value, where an object is expected.
        """
        if self.text in values:
            return [] if values[self.text] is None else [values[self.text]]
        items: list[object] = [values]
        before = ""
        for name, many in self.steps:
            other = next((item for item in items if not isinstance(item, dict)), None)
            if other is not None:
                got, fix = repr(other), "Check the path."
                if isinstance(other, list):
                    got, fix = "a list", f"Write the path as '{before}[].{name}'."
                expected = f"an object with {name!r}"
                raise InputError(got, expected=expected, fix=fix, where=at(before))
            inner = [item.get(name) for item in items if isinstance(item, dict)]
            flat = (x for value in inner for x in _flat(value, many))
            items = [value for value in flat if value is not None]
            before += f"{'.' * bool(before)}{name}{'[]' * many}"
        return items

    def is_in(self, values: Mapping[str, object]) -> bool:
        """Return whether there is a value at this path, be it an empty list. Null is none."""
        return self.look(values) is not None


def _flat(value: object, many: bool) -> list[object]:
    return value if many and isinstance(value, list) else [value]


def prose_fields(records: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the fields of texts with spaces, or not of ASCII, the longest first.

    Only the first of them where its texts are twice as long as those of the next.
    """
    lengths: Counter[str] = Counter()
    for record in records:
        for name in field_names(record):
            with suppress(ValueError):  # a name that is no path
                value = FieldPath.parse(name).look(record)
                if isinstance(value, str) and (" " in value.strip() or not value.isascii()):
                    lengths[name] += len(value)
    ranked = lengths.most_common()
    is_clear = len(ranked) > 1 and ranked[0][1] >= 2 * ranked[1][1]
    return [name for name, _ in ranked][: 1 if is_clear else None]


@dataclass(frozen=True, slots=True)
class PayloadField:
    """A field of documents, and the option that named it."""

    name: str
    option: str
    path: FieldPath

    @classmethod
    def parse(cls, name: str, option: str) -> PayloadField:
        """Read a name, or a path such as `metadata.source` or `authors[].name`.

        Raises InputError for a text that is no path.
        """
        return cls(name, option, FieldPath.named(name, option))

    def values(self, document: Document) -> list[Value]:
        """Return the values of a document: none, one, or those of a list.

        The fields that were read as id and title are the document's own. Empty text, null and NaN
        are no values. True and false are texts. Raises InputError for a field that holds objects,
        and for a path into a value that is no object.
        """
        path = self._path_in(document)
        if not self.is_in(document):
            if self.name in (document.id_field, "id"):
                return [document.id]
            return [document.title] if self.name == "title" and document.title else []
        values: list[Value] = []
        found = path.find(document.metadata, lambda _: self.option)
        for value in chain.from_iterable(v if isinstance(v, list) else [v] for v in found):
            if value is None or value == "" or value != value:
                continue
            if isinstance(value, Mapping | list):
                got = f"{path.text!r} of document {document.id!r} is no single value"
                inside, fix = field_names({path.text: value}), "Name a field inside it."
                expected = f"a field of texts, numbers or dates{_listed(inside)}"
                raise InputError(got, expected=expected, fix=fix, where=self.option)
            if isinstance(value, bool):
                value = str(value).lower()
            elif isinstance(value, date):
                value = value.isoformat()
            values.append(value if isinstance(value, str | int | float) else str(value))
        return values

    def is_in(self, document: Document) -> bool:
        """Return whether the document has the field, be it empty."""
        path = self._path_in(document)
        return path.text in document.metadata or path.is_in(document.metadata)

    def _path_in(self, document: Document) -> FieldPath:
        """Return the path in a document, whose `metadata` object was opened when it was read."""
        payload = document.metadata
        if self.name in payload or PAYLOAD in payload:
            return self.path
        return FieldPath.named(self.name.removeprefix(f"{PAYLOAD}."), self.option)

    def absent(self, documents: Iterable[Document]) -> InputError:
        """Return the error for a field that no document has, with the names of their fields."""
        seen: dict[str, None] = {}
        for document in documents:
            seen |= dict.fromkeys(field_names(document.metadata))
        got, expected = f"no document has a field {self.name!r}", "a field of the corpus"
        fix = "Correct the name; inside an object it is a path with dots."
        where = self.option
        return InputError(got, expected=expected + _listed(list(seen)), fix=fix, where=where)


def payload_values(documents: Sequence[Document], name: str, option: str) -> list[list[Value]]:
    """Return the values of a field in each document, as `PayloadField.values` does.

    Raises InputError, naming `option`, for a text that is no path, a field that no document has,
    and one that holds objects.
    """
    field = PayloadField.parse(name, option)
    values = [field.values(document) for document in documents]
    if documents and not any(values) and not any(map(field.is_in, documents)):
        raise field.absent(documents)
    return values


def parent_ids(documents: Sequence[Document], field: str) -> list[str]:
    """Return the id of the document of each chunk. A chunk without one is its own parent.

    Whole numbers are read as text. Raises InputError as `payload_values` does, and for a chunk of
    several documents.
    """
    option = "--parent-field"
    parents = []
    for document, values in zip(documents, payload_values(documents, field, option), strict=True):
        if len(values) > 1 or (values and isinstance(values[0], float) and values[0] % 1):
            got = f"chunk {document.id!r} has the values {', '.join(map(repr, values))}"
            fix = "Name the field that holds the id of the document a chunk is of."
            raise InputError(got, expected="the id of one document", fix=fix, where=option)
        first = values[0] if values else document.id
        parents.append(str(int(first)) if isinstance(first, float) else str(first))
    return parents


def read_parents(documents: Sequence[Document], field: str | None) -> dict[str, str]:
    """Return id of chunk to id of document, as `parent_ids`; without a field, nothing."""
    if field is None:
        return {}
    return dict(zip((d.id for d in documents), parent_ids(documents, field), strict=True))


def _listed(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > MAX_NAMES else ""
    return f" ({', '.join(names[:MAX_NAMES])}{more})"


def seconds(value: object) -> float | None:
    """Read a time: ISO 8601, seconds to nanoseconds since 1970, or that of web servers.

    Returns seconds since 1970, or None if the value is no time. Without a zone it is UTC.
    """
    moment: float | datetime | None = None
    with suppress(ValueError, OverflowError):
        if isinstance(value, str):
            text = value.strip()
            is_number = text.replace(".", "", 1).isdecimal()
            moment = _of_number(float(text)) if is_number else _of_text(text)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            moment = _of_number(float(value))
        elif isinstance(value, date):
            moment = value if isinstance(value, datetime) else datetime.combine(value, time.min)
        if isinstance(moment, datetime):
            moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        return moment if moment is not None and 0 < moment < LATEST else None
    return None


def _of_number(number: float) -> float | datetime | None:
    moment = next((number / unit for least, unit in UNITS if number >= least), number)
    if OLDEST <= moment < LATEST:
        return moment
    pattern = BASIC.get(len(digits := f"{number:.0f}"))
    return datetime.strptime(digits, pattern) if pattern else None


def _of_text(text: str) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    for pattern in PATTERNS:
        with suppress(ValueError):
            return datetime.strptime(text, pattern)
    return None
