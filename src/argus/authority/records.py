"""Records: documents with a type, times and an entity scope (CAR Def. 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from datetime import date

from typing_extensions import TypedDict

from argus.authority.times import Moment, parse_moment
from argus.data.types import Document
from argus.errors import InputError

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
        for name, text in (("id", self.id), ("type", self.type)):
            if not isinstance(text, str):
                raise self._unfit(name, text, "text")
        for name, value in (("time", self.time), ("published", self.published)):
            if value is not None and not isinstance(value, Moment):
                raise self._unfit(name, value, "a Moment")
        if not isinstance(self.scope, dict | Mapping):
            raise self._unfit("scope", self.scope, "a mapping from key to values")
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
        raise InputError(
            f"{values!r:.80} as {key!r} in the scope of {self.id!r}",
            expected="a text, or a list of texts",
            fix="Give numbers as text, and leave out a key that has no value.",
        )

    def _unfit(self, name: str, value: object, expected: str) -> InputError:
        return InputError(
            f"{name}={value!r:.80} of {self.id!r}", expected=expected,
            fix="Record.of(id, type, scope, time=...) takes times as text and dates.",
        )  # fmt: skip

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
        raise InputError(
            f"no record {id_!r}",
            expected=f"the id of one of the {len(records):,} records",
            fix="Check that run and records are of one corpus.",
        )
    return entry


class CorpusDocument(TypedDict):
    """A document for a retriever (CAR Appendix D), without metadata that may reveal the gold.

    _id: the same.
    event_type: the same as the type, as CAR's own retrievers call it.
    """

    doc_id: str
    _id: str
    type: str
    event_type: str
    timestamp: str | None
    entities: dict[str, str | list[str]]
    title: str
    text: str


def corpus_of(records: Iterable[Record]) -> list[CorpusDocument]:
    """Return the corpus for a retriever, ordered by id."""
    return [
        {
            "doc_id": r.id,
            "_id": r.id,
            "type": r.type,
            "event_type": r.type,
            "timestamp": None if r.time is None else str(r.time),
            "entities": {k: v if isinstance(v, str) else list(v) for k, v in r.scope.items()},
            "title": r.title,
            "text": r.text,
        }
        for r in sorted(records, key=lambda r: r.id)
    ]
