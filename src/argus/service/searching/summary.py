"""What the service answers of searches, of what controls, and of records that come."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.authority.jobs.stream import StreamChange
from argus.authority.jobs.summary import ChainLink
from argus.indexes.summary import Hit


class ServedHit(Hit):
    """A document that is served: in force, where there are records, and what led to it."""

    anchor: str
    """What was retrieved, and what this controls: itself, where that is active."""
    anchor_rank: int
    chain: list[ChainLink]
    """From anchor to document, oldest first; empty where they are one."""
    type: str | None
    """Of its record; None where there is none."""
    time: str | None


class SearchResults(TypedDict):
    """The best documents for one question."""

    query: str
    ranked_by: str
    warning: str | None
    version: int | None
    """Of the index that answered."""
    as_of: str | None
    known_by: str | None
    results: list[ServedHit]
    retired: dict[str, list[str]]
    """Superseded documents that were retrieved, and what controls each."""
    without_record: list[str]
    """Retrieved documents that no record is known of; they are served as they are."""


class BatchResults(TypedDict):
    """Answers in the order of the questions."""

    answers: list[SearchResults]


class Controlling(TypedDict):
    """What controls a document, and the chain that leads to it."""

    id: str
    title: str
    chain: list[ChainLink]


class Resolved(TypedDict):
    """One document under the authority relation."""

    id: str
    known: bool
    """Whether there is a record of it; without one nothing supersedes it."""
    in_force: bool
    active: bool
    controlling: list[Controlling]


class Resolutions(TypedDict):
    """Documents under the authority relation, as of a time."""

    as_of: str | None
    known_by: str | None
    documents: list[Resolved]


class RecordsChanged(TypedDict):
    """What a stream of records changed."""

    records: int
    """How many there are now."""
    changes: list[StreamChange]
    stale: list[str]
    """Keys of cached answers that no longer hold, each once."""


class RecordsTaken(RecordsChanged):
    """What records that came changed, and whether their documents can be searched for."""

    not_indexed: str | None
    """Why their documents cannot be searched for by their own text; None where they soon can."""


class RecordsWaiting(TypedDict):
    """What the index does not hold of the records that came."""

    waiting: list[str]
    """Documents that are embedded, or taken out, as soon as nobody else writes the index."""
    held: list[str]
    """Documents that the index holds with another text, which the stream never brought."""
    not_indexed: str | None
