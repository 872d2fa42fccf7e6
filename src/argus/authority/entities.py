"""Look up records by the entities of their scopes (CAR Def. 5).

`EntityIndex` finds the records that share an entity, `ScopeNames` finds entities in a text, and
`ScopeTimes` finds the latest records of a scope without rules or types: the paper's "anchor only",
a scope-indexed algorithm (Def. 14). It is right where a scope holds one chain, and wrong as soon as
a newer record shares the scope (Remark 4). The bound of Proposition 2 is about such algorithms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from argus.authority.records import Record, find_record
from argus.authority.rules import Rule
from argus.indexes.lexical import STOP_WORDS, words

Entity = tuple[str, str]  # a key of a scope and one value of it


class EntityIndex:
    """Entity -> records, so that D_σ (Def. 5) is a lookup.

    rules: complete the entity-scope axiom. Keys that a rule equates (`overrules` with `citation`)
    count as one key, and the records of a global rule share one entity.
    """

    def __init__(self, records: Iterable[Record], rules: Sequence[Rule] = ()) -> None:
        self._names: dict[str, str] = {}  # key to one name for all keys that rules equate with it
        for key in (key for rule in rules for key in rule.scope):
            one, other = (self._names.setdefault(k, k) for k in (key.superseding, key.superseded))
            self._names = {k: one if name == other else name for k, name in self._names.items()}
        self._global = [
            (rule.name, {*rule.superseding, *rule.superseded}) for rule in rules if not rule.scope
        ]
        self._ids: list[str] = []
        self._holders: dict[Entity, list[int]] = {}
        for number, record in enumerate(records):
            self._ids.append(record.id)
            for entity in self.entities(record):
                self._holders.setdefault(entity, []).append(number)

    def entities(self, record: Record) -> frozenset[Entity]:
        """Return σ(d), under the keys of this index."""
        shared = {("", name) for name, types in self._global if record.type in types}
        return self.named(record.entities) | shared

    def named(self, entities: Iterable[Entity]) -> frozenset[Entity]:
        """Return entities under the keys of this index."""
        return frozenset((self._names.get(key, key), value) for key, value in entities)

    def sharing(self, entities: Iterable[Entity]) -> list[str]:
        """Return D_σ: the records that share one of the entities, in the order indexed."""
        numbers: set[int] = set()
        for entity in self.named(entities):
            numbers.update(self._holders.get(entity, ()))
        return [self._ids[number] for number in sorted(numbers)]


class ScopeNames:
    """Find the values of scopes in texts: whole words, in any case, longest first.

    Words are those of `argus.indexes.lexical`: "CVE-2021-44228" is also found as "cve 2021 44228".
    Values without a word other than stop words are never found.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        entities = {entity for record in records for entity in record.entities}
        self._bearers: dict[tuple[str, ...], list[Entity]] = {}
        for entity in sorted(entities):
            name = tuple(words(entity[1]))
            if not STOP_WORDS.issuperset(name):
                self._bearers.setdefault(name, []).append(entity)
        self._lengths = sorted({len(name) for name in self._bearers}, reverse=True)

    def bearers(self, text: str) -> list[tuple[Entity, ...]]:
        """Return the bearers of every name in a text, in order of place. Names do not overlap."""
        tokens = words(text)
        used = [False] * len(tokens)
        places: list[tuple[int, tuple[Entity, ...]]] = []
        for length in self._lengths:
            for start in range(len(tokens) - length + 1):
                bearers = self._bearers.get(tuple(tokens[start : start + length]))
                if bearers and not any(used[start : start + length]):
                    used[start : start + length] = [True] * length
                    places.append((start, tuple(bearers)))
        return [bearers for _, bearers in sorted(places)]


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
        best = max(map(len, keys.values()), default=0)
        return self.latest_first(id_ for id_, named in keys.items() if len(named) == best)

    def latest_first(self, ids: Iterable[str]) -> list[str]:
        """Return records by the start of their time, latest first, ties by id, those without last.

        Raises InputError for an unknown record.
        """

        def order(id_: str) -> tuple[bool, int, str]:
            time = find_record(self._records, id_).time
            return time is None, -time.start if time else 0, id_

        return sorted(ids, key=order)

    def later(self, id_: str) -> list[str]:
        """Return the later records of a record's scope, latest first, ties by id.

        Two records are of one scope when they share an entity and differ in no key that both have.
        Of a record without time the keys decide alone, as in the paper's look-up of an advisory's
        patch or a drug's recall: all others of its scope count as later. It does not itself count
        as later than a dated one. Raises InputError for an unknown record.
        """
        record = find_record(self._records, id_)
        later = []
        for other_id in self._index.sharing(record.entities):
            other = self._records[other_id]
            if record.time is None:
                follows = other_id != id_
            else:
                follows = other.time is not None and record.time.before(other.time)
            keys = record.scope.keys() & other.scope.keys()
            if follows and not any(
                set(record.values(key)).isdisjoint(other.values(key)) for key in keys
            ):
                later.append(other_id)
        return self.latest_first(later)

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
