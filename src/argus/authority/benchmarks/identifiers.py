"""Entities that a question names: scope values that stand in its text, word for word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from argus.authority.records import Record
from argus.indexes.words import STOP_WORDS, words

Entity = tuple[str, str]
"""A scope key and a value."""


class Identifiers:
    """The scope values of all records, findable in texts, and the records of each.

    A value is found where its words stand in a row; one of stop words alone is not looked for.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = {record.id: record for record in records}
        self._holders: dict[Entity, list[str]] = {}
        for record in self.records.values():
            for entity in sorted(record.entities):
                self._holders.setdefault(entity, []).append(record.id)
        self._by_words: dict[tuple[str, ...], list[Entity]] = {}
        for entity in self._holders:
            key = tuple(words(entity[1]))
            if not STOP_WORDS.issuperset(key):
                self._by_words.setdefault(key, []).append(entity)
        self._longest = max(map(len, self._by_words), default=0)

    def find(self, text: str) -> list[Entity]:
        """Return the entities that a text names, in the order of its words.

        What stands inside a longer name that was found does not count: "SQL" in "SQL Server".
        """
        tokens, found, covered = words(text), [], 0
        for start in range(len(tokens)):
            for length in range(min(self._longest, len(tokens) - start), 0, -1):
                named = self._by_words.get(tuple(tokens[start : start + length]), ())
                if named and start + length > covered:
                    found += named
                    covered = start + length
                    break
        return list(dict.fromkeys(found))

    def holders(self, entities: Sequence[Entity]) -> list[str]:
        """Return the records that hold most of the named keys, latest first, ties by id.

        A key counts once, whichever of its named values a record has.
        """
        keys: dict[str, set[str]] = {}
        for key, value in entities:
            for id_ in self._holders[key, value]:
                keys.setdefault(id_, set()).add(key)
        most = max(map(len, keys.values()), default=0)
        return self.latest_first(id_ for id_, named in keys.items() if len(named) == most)

    def latest_first(self, ids: Iterable[str]) -> list[str]:
        """Return records by time, latest first, ties by id; those without a time come last."""

        def order(id_: str) -> tuple[bool, int, str]:
            time = self.records[id_].time
            return time is None, -time.start if time else 0, id_

        return sorted(ids, key=order)

    def later(self, id_: str) -> list[str]:
        """Return the later records of a record's scope, latest first, blind to rules and types.

        Two records are of one scope when they share an entity and differ in no key that both have.
        """
        record = self.records[id_]
        if record.time is None:
            return []
        candidates = {other for entity in record.entities for other in self._holders[entity]}
        return self.latest_first(
            other
            for other in candidates
            if (time := self.records[other].time) is not None
            and record.time.before(time)
            and self._agree(record, self.records[other])
        )

    @staticmethod
    def _agree(first: Record, second: Record) -> bool:
        common = first.scope.keys() & second.scope.keys()
        return all(not set(first.values(key)).isdisjoint(second.values(key)) for key in common)
