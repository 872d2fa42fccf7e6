"""What the service answers of searches, of what controls, and of records that come."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.authority.jobs.stream import StreamChange
from argus.authority.jobs.summary import ChainLink
from argus.indexes.summary import Hit


class ServedHit(Hit):
    """A document that is served: in force, where there are records, and what led to it.

    anchor: id of what was retrieved, and what this controls.
    anchor_rank: rank of the anchor, from 1.
    chain: from anchor to document, oldest first; empty where they are one.
    type: type of its record; None where there is none.
    time: when it took effect; None where not known.
    """

    anchor: str
    anchor_rank: int
    chain: list[ChainLink]
    type: str | None
    time: str | None


class SearchResults(TypedDict):
    """The best documents for one question.

    query: question that was asked.
    version: version of the index that answered.
    retired: superseded documents that were retrieved, and what controls each.
    without_record: retrieved documents that no record is known of; they are served as they are.
    """

    query: str
    ranked_by: str
    warning: str | None
    version: int | None
    as_of: str | None
    known_by: str | None
    results: list[ServedHit]
    retired: dict[str, list[str]]
    without_record: list[str]


class BatchResults(TypedDict):
    """Answers in the order of the questions.

    answers: answers in the order of the questions.
    """

    answers: list[SearchResults]


class Controlling(TypedDict):
    """What controls a document, and the chain that leads to it.

    id: id of the document.
    chain: supersessions that lead to it, oldest first; of a long chain the first 50.
    hops: how many they are; more than `chain` has where that was cut.
    """

    id: str
    title: str
    chain: list[ChainLink]
    hops: int


class Resolved(TypedDict):
    """One document under the authority relation.

    id: id of the document.
    known: whether there is a record of it; without one nothing supersedes it.
    in_force: whether it is in force at that time.
    active: whether nothing supersedes it.
    controlling: documents that control it, the nearest 100.
    more: whether more than these control it.
    """

    id: str
    known: bool
    in_force: bool
    active: bool
    controlling: list[Controlling]
    more: bool


class Resolutions(TypedDict):
    """Documents under the authority relation, as of a time; each once, in the order asked for."""

    as_of: str | None
    known_by: str | None
    documents: list[Resolved]


class RecordsChanged(TypedDict):
    """What a stream of records changed.

    records: how many there are now.
    stale: keys of cached answers that no longer hold, each once.
    """

    records: int
    changes: list[StreamChange]
    stale: list[str]


class RecordsTaken(RecordsChanged):
    """What records that came changed, and whether their documents can be searched for.

    not_indexed: why their documents cannot be searched for by their own text; None where they soon
    can.
    """

    not_indexed: str | None


class RecordsWaiting(TypedDict):
    """What the index does not hold of the records that came.

    waiting: documents that are embedded, or taken out, as soon as nobody else writes the index.
    held: documents that the index holds with another text, which the stream never brought.
    not_indexed: why documents are not indexed; None where they are.
    """

    waiting: list[str]
    held: list[str]
    not_indexed: str | None
