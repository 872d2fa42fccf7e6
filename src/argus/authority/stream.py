"""Update records in a stream, and name the cached results that go stale (CAR Def. 11).

By Def. 11 an insertion invalidates the cached results that hold a document which the new one
supersedes. Here a result is the closure that it rests on: a new document may supersede a member of
the closure that is no longer in its frontier, and then joins the closure together with whatever
supersedes it. So closures are watched, not frontiers alone. A deletion invalidates the results
whose closure held the document, and a correction does both.

No scope is walked and no closure is stored. For each result the stream holds the heads (see
`argus.authority.scopes`) and, per place where they can be superseded, their least end: all that
supersedes from there on is in the closure. `stream_authority` makes the changes of a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from sortedcontainers import SortedList
from typing_extensions import TypedDict

from argus.authority.config import AuthoritySource
from argus.authority.domains import Domain
from argus.authority.domains.reading import Source, read_sources, records_of
from argus.authority.opening import domain_of, open_authority, require_records
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge
from argus.authority.scopes import LAST, Place
from argus.authority.times import Moment, parse_moment
from argus.data.documents import ID_FIELDS
from argus.data.runs import ranking, read_run
from argus.data.types import Run
from argus.errors import InputError
from argus.settings import TOP_K


class Keep(Enum):
    """Leave a time as it is. None removes it."""

    KEEP = "as it is"


@dataclass(frozen=True, slots=True)
class Change:
    """Effect of one change of the records. Ids and keys are sorted.

    superseded: documents that were active and no longer are. reactivated: those that are active
    again. Neither names the inserted or deleted record. invalidated: keys of cached results that no
    longer hold. A result is named once, until you read it again.
    """

    record_id: str
    superseded: tuple[str, ...] = ()
    reactivated: tuple[str, ...] = ()
    invalidated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """front(cl(A)) of anchors A, nearest first."""

    frontier: tuple[str, ...]


@dataclass(slots=True)
class _Watch:
    """A cached result and where it is indexed. None when it is stale.

    heads: part of the closure: its active records, and those that lead furthest out of a scope.
    least_ends: per bucket the least end of the heads that can be superseded there.
    """

    anchors: tuple[str, ...]
    result: Result | None = None
    heads: tuple[str, ...] = ()
    least_ends: dict[Place, int] = field(default_factory=dict)


class Stream:
    """An authority relation that changes, and the results cached of it.

    The stream owns the authority: change it by these methods alone. Explicit edges are of ids, not
    of texts: those of a deleted record hold again as soon as both of its records are there, as if
    the relation had been built anew. An insertion costs a search in each bucket of the record, and
    its output. Raises InputError for a view of an earlier time.
    """

    def __init__(self, authority: Authority) -> None:
        if authority.is_view:
            raise InputError(
                "a view of an earlier time",
                expected="the relation itself",
                fix="Stream into the Authority, and ask `as_of` of it.",
            )
        self.authority = authority
        self._watches: dict[str, _Watch] = {}
        # Keys of the results among whose heads or anchors a document is.
        self._holders: dict[str, set[str]] = {}
        # (least end, key) of the watched closures per bucket.
        self._least: dict[Place, SortedList] = {}
        # Explicit edges that hold no more, by a deleted record that they wait for.
        self._waiting: dict[str, dict[Edge, None]] = {}

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the cached results, the oldest first."""
        return tuple(self._watches)

    def insert(self, record: Record, edges: Iterable[Edge] = ()) -> Change:
        """Add a record with explicit edges of it. Errors as `Authority.insert`, without change.

        Edges that it had before it was deleted hold again.
        """
        waiting = self._waiting.get(record.id, {})
        there = [edge for edge in waiting if _other(edge, record.id) in self.authority]
        added = [*edges, *there, *self.authority.ties(record)]
        superseded = self._active_below(record, added)
        self.authority.insert(record, added)
        for edge in self._waiting.pop(record.id, {}):
            if edge not in there:
                self._waiting.setdefault(_other(edge, record.id), {})[edge] = None
        keys = self._resting_on(record, added)
        return Change(record.id, tuple(sorted(superseded)), (), self._invalidate(keys))

    def delete(self, id_: str) -> Change:
        """Remove a record. Its explicit edges wait for it. Raise InputError for an unknown id."""
        edges = self._edges(id_)
        explicit = dict.fromkeys(edge for edge in edges if edge not in self.authority.tied)
        record = self.authority.delete(id_)
        if explicit:
            self._waiting[id_] = explicit
        reactivated = self._active_below(record, edges)
        keys = self._holding(record)
        return Change(id_, (), tuple(sorted(reactivated)), self._invalidate(keys))

    def correct(
        self,
        id_: str,
        *,
        time: Moment | Keep | None = Keep.KEEP,
        published: Moment | Keep | None = Keep.KEEP,
    ) -> Change:
        """Correct the times of a record. Its explicit edges stay.

        Raises InputError for an unknown id and for a cycle, and leaves all as it was.
        """
        old = self.authority.record(id_)
        new = replace(
            old,
            time=old.time if isinstance(time, Keep) else time,
            published=old.published if isinstance(published, Keep) else published,
        )
        if new == old:
            return Change(id_)
        before, was_active = self._edges(id_), self.authority.is_active(id_)
        explicit = [edge for edge in before if edge not in self.authority.tied]
        self.authority.delete(id_)
        edges = [*explicit, *self.authority.ties(new)]
        freed = self._active_below(old, before)
        taken = self._active_below(new, edges)
        try:
            self.authority.insert(new, edges)
        except InputError:
            self.authority.insert(old, explicit)
            raise
        superseded, reactivated = taken - freed, freed - taken
        is_active = self.authority.is_active(id_)
        if was_active != is_active:
            (reactivated if is_active else superseded).add(id_)
        keys = self._holding(old) | self._resting_on(new, edges)
        return Change(
            id_, tuple(sorted(superseded)), tuple(sorted(reactivated)), self._invalidate(keys)
        )

    def watch(self, key: str, anchors: Sequence[str]) -> Result:
        """Cache the result of some anchors under a key, in place of an earlier one. Return it.

        Raises InputError for an unknown anchor. One that is deleted later counts again as soon as
        a record of its id is inserted.
        """
        for id_ in anchors:
            self.authority.record(id_)
        if key in self._watches:
            self.unwatch(key)
        self._watches[key] = _Watch(tuple(dict.fromkeys(anchors)))
        return self.result(key)

    def unwatch(self, key: str) -> None:
        """Forget a cached result. Raise InputError for an unknown key."""
        watch = self._watch(key)
        if watch.result is not None:
            self._invalidate({key})
        del self._watches[key]

    def is_stale(self, key: str) -> bool:
        """Return whether a change has invalidated a cached result since it was asked for."""
        return self._watch(key).result is None

    def result(self, key: str) -> Result:
        """Return a cached result, computed anew only when it is stale."""
        watch = self._watch(key)
        if watch.result is None:
            watch.result = self._compute(key, watch)
        return watch.result

    def closure(self, key: str) -> list[str]:
        """Return cl(A) of the anchors watched under a key, nearest first, as it is now.

        It is not stored: a crowded scope is walked. InputError for an unknown key.
        """
        return self.authority.closure(self._there(self._watch(key).anchors))

    def _watch(self, key: str) -> _Watch:
        watch = self._watches.get(key)
        if watch is None:
            raise InputError(
                f"no cached result {key!r}",
                expected="a key that is watched",
                fix="Watch its anchors first.",
            )
        return watch

    def _edges(self, id_: str) -> list[Edge]:
        """Return the explicit edges of a record, in both directions."""
        relation = self.authority
        return [*relation.edges.get(id_, ()), *relation.reverse.get(id_, ())]

    def _active_below(self, record: Record, edges: Iterable[Edge]) -> set[str]:
        """Return the records that are active only while the given record is absent."""
        index = self.authority.index
        below = {edge.superseded for edge in edges if edge.superseder == record.id}
        for place, moment in index.superseding_places(record):
            bucket = index.buckets.get(place)
            if bucket is not None:
                below.update(bucket.older(moment, bucket.latest))
        below.discard(record.id)
        return {id_ for id_ in below if self.authority.is_active(id_)}

    def _holding(self, record: Record) -> set[str]:
        """Return the results with a record in their closure, or among their anchors."""
        keys = set(self._holders.get(record.id, ()))
        for place, moment in self.authority.index.superseding_places(record):
            keys |= self._marked(place, moment.start)
        return keys

    def _resting_on(self, record: Record, edges: Iterable[Edge]) -> set[str]:
        """Return the results with a document in their closure that a record supersedes, or is."""
        keys, index = self._holding(record), self.authority.index
        places = dict(index.superseding_places(record))
        for place, moment in places.items():
            for heads in index.feeding(place):
                if heads.place not in places:  # else it has been found there
                    start = heads.latest_leading(place, moment.start)
                    keys |= set() if start is None else self._marked(heads.place, start)
        for edge in edges:
            if edge.superseder == record.id:
                keys |= self._holding(self.authority.record(edge.superseded))
        return keys

    def _marked(self, place: Place, start: int) -> set[str]:
        """Return the results whose closure holds superseders in a place from `start` on."""
        least = self._least.get(place)
        return set() if least is None else {key for _, key in least.irange(None, (start, LAST))}

    def _there(self, anchors: Iterable[str]) -> list[str]:
        return [id_ for id_ in anchors if id_ in self.authority]

    def _compute(self, key: str, watch: _Watch) -> Result:
        relation, ends = self.authority, dict[Place, int]()
        heads = tuple(relation.heads(self._there(watch.anchors), covered=ends))
        for id_ in (*watch.anchors, *heads):
            self._holders.setdefault(id_, set()).add(key)
        for place, end in ends.items():
            self._least.setdefault(place, SortedList()).add((end, key))
        watch.heads, watch.least_ends = heads, ends
        return Result(tuple(id_ for id_ in heads if relation.is_active(id_)))

    def _invalidate(self, keys: set[str]) -> tuple[str, ...]:
        """Take results out of the index, which makes them stale. Return their keys, sorted."""
        for key in keys:
            watch = self._watches[key]
            if watch.result is not None:
                for id_ in {*watch.anchors, *watch.heads}:
                    self._holders[id_].discard(key)
                    if not self._holders[id_]:
                        del self._holders[id_]
            for place, end in watch.least_ends.items():
                self._least[place].remove((end, key))
                if not self._least[place]:
                    del self._least[place]
            watch.result, watch.heads, watch.least_ends = None, (), {}
        return tuple(sorted(keys))


def _other(edge: Edge, id_: str) -> str:
    """Return the other record of an edge."""
    return edge.superseded if edge.superseder == id_ else edge.superseder


INSERT, DELETE, CORRECT = "insert", "delete", "correct"
TIMES = ("timestamp", "published")  # fields that a correction may name
OTHERWISE = (
    "To change anything else, delete the record and insert it again as it should be: its given "
    "edges hold again."
)


class StreamChange(TypedDict):
    """One change, the documents that it superseded or freed, and the queries with stale answers.

    op: insert, delete or correct.
    record: id of the record.
    superseded: ids of the documents that were active and no longer are.
    reactivated: ids of the documents that are active again.
    stale: keys of cached answers that no longer hold.
    """

    op: str
    record: str
    superseded: list[str]
    reactivated: list[str]
    stale: list[str]


class StreamAnswer(TypedDict):
    """A cached answer that went stale, and the controllers of its documents after all changes."""

    query_id: str
    controlling: list[str]


class StreamSummary(TypedDict):
    """All changes, and the answers that went stale.

    cached: answers that were watched.
    """

    records: int
    cached: int
    changes: list[StreamChange]
    stale: list[StreamAnswer]


def _apply(stream: Stream, domain: Domain, source: Source) -> Iterator[StreamChange]:
    """Make the change of one row. An InputError names the row."""
    operation = source.values.get("op", INSERT)
    try:
        if operation == INSERT:
            rest = {name: value for name, value in source.values.items() if name != "op"}
            for record in records_of(domain, replace(source, values=rest)):
                yield _change(INSERT, stream.insert(record))
        elif operation == DELETE:
            yield _change(DELETE, stream.delete(_id(source)))
        elif operation == CORRECT:
            yield _change(CORRECT, _correct(stream, domain, source))
        else:
            raise InputError(
                f"{operation!r}", expected=f"{INSERT}, {DELETE} or {CORRECT}",
                fix="Leave it out to insert the record.", where=source.at("op"),
            )  # fmt: skip
    except InputError as error:
        if error.where is not None:
            raise
        raise InputError(
            error.got, expected=error.expected, fix=error.fix, where=source.at()
        ) from error


def _correct(stream: Stream, domain: Domain, source: Source) -> Change:
    """Correct the times of a record. Raise InputError for a correction of anything else."""
    known = {"op", _id_field(source), *TIMES}
    for name, value in source.values.items():
        if name not in known and value is not None and value != "":
            raise InputError(
                f"a correction of {name!r}", expected=f"{' or '.join(TIMES)}, and nothing else",
                fix=OTHERWISE, where=source.at(name),
            )  # fmt: skip
    if not any(name in source.values for name in TIMES):
        raise InputError(
            "a correction of nothing", expected=f"{' or '.join(TIMES)}: the time as it should be",
            fix=f"Name it. {OTHERWISE}", where=source.at("op"),
        )  # fmt: skip
    time, published = (
        parse_moment(source.values[name], zone=domain.zone, where=source.at(name),
                     forms=domain.dates)
        if name in source.values
        else Keep.KEEP
        for name in TIMES
    )  # fmt: skip
    return stream.correct(_id(source), time=time, published=published)


def stream_authority(
    changes: Path, source: AuthoritySource, run: Run | Path | str, *, k: int = TOP_K
) -> StreamSummary:
    """Make the changes of a file in order, and name the answers of a run that go stale.

    changes: rows of records to insert, in the form of the records. With
    `op: delete` or `op: correct`, an id, and of a correction `timestamp` or `published`. run: the
    cached answers. Of each, the first k documents that have a record are watched. Raises
    InputError, naming the row, for a change that cannot be made, and for an earlier time, which
    does not change.
    """
    if source.as_of is not None or source.known_by is not None:
        raise InputError(
            "a stream into an earlier time",
            expected="the relation as it is",
            fix="Leave --as-of and --known-by out.",
            where="--as-of" if source.as_of is not None else "--known-by",
        )
    authority = open_authority(source).authority
    answers = read_run(Path(run)) if isinstance(run, (str, Path)) else run
    require_records({i for scores in answers.values() for i in scores}, authority, "--run")
    stream = Stream(authority)
    watched = {}
    for query, scores in answers.items():
        watched[query] = [id_ for id_ in ranking(scores)[:k] if id_ in authority]
        stream.watch(query, watched[query])
    domain = domain_of(source)
    rows = read_sources(changes, domain.results)
    log = [change for row in rows for change in _apply(stream, domain, row)]
    stale = dict.fromkeys(query for change in log for query in change["stale"])
    return {
        "records": len(authority),
        "cached": len(watched),
        "changes": log,
        "stale": [
            {"query_id": query, "controlling": list(stream.result(query).frontier)}
            for query in stale
        ],
    }


def _change(operation: str, change: Change) -> StreamChange:
    return {
        "op": operation,
        "record": change.record_id,
        "superseded": list(change.superseded),
        "reactivated": list(change.reactivated),
        "stale": list(change.invalidated),
    }


def _id_field(source: Source) -> str:
    return next((name for name in ID_FIELDS if name in source.values), ID_FIELDS[0])


def _id(source: Source) -> str:
    name = _id_field(source)
    value = source.values.get(name)
    if not isinstance(value, str) or not value:
        raise InputError(
            f"{value!r} is no id",
            expected="the id of a record, as text",
            fix="Name the record that is deleted or corrected.",
            where=source.at(name),
        )
    return value
