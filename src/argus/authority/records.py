"""Records: documents with a type, times and an entity scope (CAR Def. 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from argus.authority.times import Moment, parse_moment
from argus.data.types import Document
from argus.errors import InputError, Location

Values = str | tuple[str, ...]
OWN_ID = "_id"  # the scope key that every record has: its id, for records that name others by id


@dataclass(frozen=True, slots=True)
class Record:
    """One document as the authority relation sees it.

    scope: sigma(d), a set of entities as key -> value, or a tuple of values. time: when it takes
    effect. published: when it became known. None means with `time`. Rules say which of the two
    orders. Raises InputError for an id, a type or a scope value that is not text, and for a time
    that is not a Moment.
    """

    id: str
    type: str
    time: Moment | None = None
    scope: Mapping[str, Values] = field(default_factory=dict)
    text: str = ""
    title: str = ""
    published: Moment | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        fields: tuple[tuple[str, object, type | tuple[type, ...], str], ...] = (
            ("id", self.id, str, "text"),
            ("type", self.type, str, "text"),
            ("time", self.time, (Moment, type(None)), "a Moment"),
            ("published", self.published, (Moment, type(None)), "a Moment"),
            ("scope", self.scope, (dict, Mapping), "a mapping from key to values"),
        )
        for name, value, kind, expected in fields:
            if not isinstance(value, kind):
                got = f"{name}={value!r:.80} of {self.id!r}"
                fix = "Record.of(id, type, scope, time=...) takes times as text and dates."
                raise InputError(got, expected=expected, fix=fix)
        if any(type(values) is not str for values in self.scope.values()):
            scope = {key: self._texts(key, values) for key, values in self.scope.items()}
            object.__setattr__(self, "scope", scope)

    def _texts(self, key: str, values: object) -> Values:
        """Return the values of a scope key as one text or a tuple of texts."""
        if isinstance(values, str):
            return values
        if isinstance(values, Iterable) and not isinstance(values, Mapping):
            texts = tuple(sorted(values, key=str) if isinstance(values, Set) else values)
            if all(isinstance(text, str) for text in texts):
                return texts
        got = f"{values!r:.80} as {key!r} in the scope of {self.id!r}"
        fix = "Give numbers as text, and leave out a key that has no value."
        raise InputError(got, expected="a text, or a list of texts", fix=fix)

    @classmethod
    def of(
        cls,
        id_: str,
        type_: str,
        scope: Mapping[str, Values],
        *,
        time: str | date | None = None,
        published: str | date | None = None,
        text: str = "",
        title: str = "",
        metadata: Mapping[str, object] | None = None,
    ) -> Record:
        """Make a record of plain values: times as text or dates, as `parse_moment` reads them."""
        known = parse_moment(published, where=f"published of {id_!r}")
        moment = parse_moment(time, where=f"time of {id_!r}")
        return cls(id_, type_, moment, scope, text, title, known, metadata or {})

    def values(self, key: str) -> tuple[str, ...]:
        """Return the entities of a scope key, none where the record lacks it."""
        value = self.scope.get(key, self.id if key == OWN_ID else ())
        return (value,) if isinstance(value, str) else value

    @property
    def known(self) -> Moment | None:
        """Publication, or else the time of taking effect."""
        return self.published or self.time

    @property
    def entities(self) -> frozenset[tuple[str, str]]:
        """sigma(d) as a set of (key, value)."""
        return frozenset((key, value) for key in self.scope for value in self.values(key))

    @property
    def document(self) -> Document:
        """Document for a retriever: id, title and text, without the scope."""
        return Document(self.id, self.text, self.title)


def find_record(records: Mapping[str, Record], id_: str) -> Record:
    """Return a record by its id. Raise InputError if there is none."""
    entry = records.get(id_)
    if entry is None:
        expected = f"the id of one of the {len(records):,} records"
        fix = "Check that run and records are of one corpus."
        raise InputError(f"no record {id_!r}", expected=expected, fix=fix)
    return entry


@contextmanager
def located(where: Location | Path | str | None) -> Iterator[None]:
    """Add a place to each InputError that names none."""
    try:
        yield
    except InputError as error:
        if error.where is not None:
            raise
        raise InputError(error.got, expected=error.expected, fix=error.fix, where=where) from error


def corpus_of(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return the corpus for a retriever (CAR Appendix D), ordered by id.

    It holds no metadata, which may reveal the gold. `_id` is `doc_id` again, and `event_type` the
    type, as CAR's own retrievers call it.
    """
    return [
        {
            "doc_id": r.id, "_id": r.id, "type": r.type, "event_type": r.type,
            "timestamp": None if r.time is None else str(r.time),
            "entities": {k: v if isinstance(v, str) else list(v) for k, v in r.scope.items()},
            "title": r.title, "text": r.text,
        }
        for r in sorted(records, key=lambda r: r.id)
    ]  # fmt: skip
