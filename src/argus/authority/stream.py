"""`argus authority stream`: update records one by one, and name the cached answers that go stale.

`stream_authority`: a file of changes and a run -> the effect of each change, and the stale answers
(CAR Def. 11). `Stream` watches the whole closure of an answer, not only its documents in force: a
new document may supersede a superseded member of it, and joins with all that supersedes it. A
deletion invalidates the answers whose closure held the document. No closure is stored. For each
answer the stream holds the heads (`scopes.Heads`) and, per place where they can be superseded,
their least end: all that supersedes from there on is in the closure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from sortedcontainers import SortedList

from argus.authority.config import AuthoritySource
from argus.authority.domains.reading import read_sources
from argus.authority.opening import domain_of, open_authority, require_records
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Record, located
from argus.authority.scopes import LAST, Place
from argus.data.documents import ID_FIELDS
from argus.data.rows import id_value, pick_field
from argus.data.runs import ranking, read_run
from argus.data.types import Run
from argus.errors import InputError
from argus.settings import TOP_K, Ge, Option


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


class Stream:
    """An authority relation that changes, and the results cached of it.

    A result is front(cl(A)) of some anchors A, nearest first. The stream owns the authority: change
    it by these methods alone. Explicit edges are of ids, not of texts: those of a deleted record
    hold again as soon as both of its records are there, as if the relation had been built anew. An
    insertion costs a search in each bucket of the record, and its output.
    """

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        self._anchors: dict[str, tuple[str, ...]] = {}  # by key
        # Results that hold, by key: the frontier, the heads (a part of the closure: its active
        # records, and those that lead furthest out of a scope), and per bucket the least end of the
        # heads that can be superseded there.
        self._fresh: dict[str, tuple[tuple[str, ...], tuple[str, ...], dict[Place, int]]] = {}
        # Keys of the results among whose heads or anchors a document is.
        self._holders: dict[str, set[str]] = {}
        # (least end, key) of the watched closures per bucket.
        self._least: dict[Place, SortedList] = {}
        # Explicit edges that hold no more, by a deleted record that they wait for.
        self._waiting: dict[str, dict[Edge, None]] = {}

    def insert(self, record: Record, edges: Iterable[Edge] = ()) -> Change:
        """Add a record with explicit edges of it. Errors as `Authority.insert`, without change.

        Edges that it had before it was deleted hold again.
        """
        waiting = {
            edge: edge.superseded if edge.superseder == record.id else edge.superseder
            for edge in self._waiting.get(record.id, ())
        }
        there = [edge for edge, other in waiting.items() if other in self.authority]
        added = [*edges, *there]
        superseded = self._active_below(record, added)
        self.authority.insert(record, added)
        self._waiting.pop(record.id, None)
        for edge, other in waiting.items():
            if edge not in there:
                self._waiting.setdefault(other, {})[edge] = None
        keys = self._resting_on(record, added)
        return Change(record.id, tuple(sorted(superseded)), (), self._invalidate(keys))

    def delete(self, id_: str) -> Change:
        """Remove a record. Its explicit edges wait for it. Raise InputError for an unknown id."""
        edges = self.authority.edges_of(id_)
        record = self.authority.delete(id_)
        if edges:
            self._waiting[id_] = dict.fromkeys(edges)
        reactivated = self._active_below(record, edges)
        keys = self._holding(record)
        return Change(id_, (), tuple(sorted(reactivated)), self._invalidate(keys))

    def watch(self, key: str, anchors: Sequence[str]) -> tuple[str, ...]:
        """Cache the result of some anchors under a key, in place of an earlier one. Return it.

        Raises InputError for an unknown anchor. One that is deleted later counts again as soon as
        a record of its id is inserted.
        """
        for id_ in anchors:
            self.authority.record(id_)
        self._invalidate({key} & self._fresh.keys())
        self._anchors[key] = tuple(dict.fromkeys(anchors))
        return self.result(key)

    def is_stale(self, key: str) -> bool:
        """Return whether a change has invalidated a cached result since it was asked for."""
        return key not in self._fresh

    def result(self, key: str) -> tuple[str, ...]:
        """Return a cached result, computed anew only when it is stale."""
        anchors, relation, ends = self._anchors[key], self.authority, dict[Place, int]()
        if key not in self._fresh:
            there = [id_ for id_ in anchors if id_ in relation]
            heads = tuple(relation.heads(there, covered=ends))
            for id_ in (*anchors, *heads):
                self._holders.setdefault(id_, set()).add(key)
            for place, end in ends.items():
                self._least.setdefault(place, SortedList()).add((end, key))
            self._fresh[key] = tuple(filter(relation.is_active, heads)), heads, ends
        return self._fresh[key][0]

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

    def _invalidate(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Take results out of the index, which makes them stale. Return their keys, sorted."""
        keys = sorted(keys)
        for key in keys:
            _, heads, least_ends = self._fresh.pop(key)
            for id_ in {*self._anchors[key], *heads}:
                self._holders[id_].discard(key)
                if not self._holders[id_]:
                    del self._holders[id_]
            for place, end in least_ends.items():
                self._least[place].remove((end, key))
                if not self._least[place]:
                    del self._least[place]
        return tuple(keys)


def stream_authority(
    changes: Annotated[Path, Option(argument="CHANGES")],
    source: AuthoritySource,
    run: Run | Path | str,
    *,
    k: Annotated[int, Ge(1), Option(("--k",))] = TOP_K,
) -> dict[str, Any]:
    """Make the changes of a file in order, and name the answers of a run that go stale.

    changes: rows of records to insert, in the form of the records, or with `op: delete` and an id.
    To correct a record, delete it and insert it again. Its given edges hold again. run: the cached
    answers. Of each, the first k documents that have a record are watched. Raises
    InputError, naming the row, for a change that cannot be made, and for an earlier time, which
    does not change.

    records: records after all changes.
    cached: answers that were watched.
    changes: each change: op (insert or delete), record (its id), superseded and
    reactivated (ids of documents that no longer are, or are again, active), stale (keys of cached
    answers that no longer hold).
    stale: each answer that went stale (query_id), with the controllers of its documents after all
    changes (controlling).

    Args:
        changes: Rows of records to insert; `op: delete` and an id takes one out.
        run: The cached answers: TREC run file (.gz too) or JSON.
        k: How many documents.
    """
    authority = open_authority(source).authority
    answers = read_run(Path(run)) if isinstance(run, (str, Path)) else run
    require_records({i for scores in answers.values() for i in scores}, authority, "--run")
    stream, domain = Stream(authority), domain_of(source)
    for query, scores in answers.items():
        stream.watch(query, [id_ for id_ in ranking(scores)[:k] if id_ in authority])
    log: list[dict[str, Any]] = []
    for row in read_sources(changes):
        rest = dict(row.values)
        operation = rest.pop("op", "insert")
        with located(row.at()):
            if operation == "insert":
                made = [stream.insert(one) for one in domain.records_of(replace(row, values=rest))]
            elif operation == "delete":
                field = pick_field(row, ID_FIELDS, what="id")
                made = [stream.delete(id_value(row, field))]
            else:
                expected, fix = "insert or delete", "Leave it out to insert the record."
                raise InputError(f"{operation!r}", expected=expected, fix=fix, where=row.at("op"))
        log += (
            {
                "op": operation, "record": change.record_id, "superseded": list(change.superseded),
                "reactivated": list(change.reactivated), "stale": list(change.invalidated),
            }
            for change in made
        )  # fmt: skip
    stale = dict.fromkeys(query for change in log for query in change["stale"])
    return {
        "records": len(authority),
        "cached": len(answers),
        "changes": log,
        "stale": [{"query_id": q, "controlling": list(stream.result(q))} for q in stale],
    }
