"""Looking up by scope keys and times alone, blind to rules and types: the paper's "anchor only".

A scope-indexed algorithm (CAR Def. 14). What is latest in an anchor's scope is right where a scope
holds one chain, and wrong as soon as anything newer shares the scope (Remark 4); the bound of
Proposition 2 is about such algorithms.
"""

from __future__ import annotations

from collections.abc import Iterable

from argus.authority.entities import Entity, EntityIndex
from argus.authority.records import Record, find_record


class ScopeTimes:
    """Records by their entities and times.

    For an earlier time give the records that were in force then.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = {record.id: record for record in records}
        self._index = EntityIndex(self._records.values())

    def holders(self, entities: Iterable[Entity]) -> list[str]:
        """Return the records that hold most of the named keys, latest first, ties by id.

        A key counts once, whichever of its named values a record has.
        """
        keys: dict[str, set[str]] = {}
        for entity in entities:
            for id_ in self._index.sharing([entity]):
                keys.setdefault(id_, set()).add(entity[0])
        most = max(map(len, keys.values()), default=0)
        return self.latest_first(id_ for id_, named in keys.items() if len(named) == most)

    def latest_first(self, ids: Iterable[str]) -> list[str]:
        """Return records by the start of their time, latest first, ties by id; those without last.

        Raises InputError for an unknown record.
        """

        def order(id_: str) -> tuple[bool, int, str]:
            time = self._record(id_).time
            return time is None, -time.start if time else 0, id_

        return sorted(ids, key=order)

    def later(self, id_: str) -> list[str]:
        """Return the later records of a record's scope, latest first, ties by id.

        Two records are of one scope when they share an entity and differ in no key that both have.
        Of a record without time the keys decide alone, as in the paper's look-up of an advisory's
        patch or a drug's recall: all others of its scope count as later; it itself as none of a
        dated one. Raises InputError for an unknown record.
        """
        record = self._record(id_)
        return self.latest_first(
            other
            for other in self._index.sharing(record.entities)
            if other != id_
            and _follows(self._records[other], record)
            and _agree(record, self._records[other])
        )

    def latest(self, anchors: Iterable[str], k: int) -> list[str]:
        """Return k documents: in each anchor's place the later ones of its scope, each once.

        An anchor stays itself where there is none. Raises InputError for an unknown anchor.
        """
        served: dict[str, None] = {}
        for anchor in anchors:
            served |= dict.fromkeys(self.later(anchor) or [anchor])
            if len(served) >= k:
                break
        return list(served)[:k]

    def _record(self, id_: str) -> Record:
        return find_record(self._records, id_)


def _follows(other: Record, record: Record) -> bool:
    return record.time is None or (other.time is not None and record.time.before(other.time))


def _agree(first: Record, second: Record) -> bool:
    common = first.scope.keys() & second.scope.keys()
    return all(not set(first.values(key)).isdisjoint(second.values(key)) for key in common)
