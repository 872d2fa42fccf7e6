"""Entities of scopes: which records hold them (CAR Def. 5), and which a text names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from argus.authority.records import Record
from argus.authority.rules import Rule
from argus.errors import InputError
from argus.indexes.words import STOP_WORDS, words

Entity = tuple[str, str]
"""A key of a scope and one value of it."""


class EntityIndex:
    """Entity -> records, so that D_σ (Def. 5) is a lookup.

    rules: make entities of what the entity-scope axiom leaves unsaid. Keys that a rule equates
    (`overrules` with `citation`) count as one key; the records of a global rule share one entity.
    """

    def __init__(self, records: Iterable[Record], rules: Sequence[Rule] = ()) -> None:
        self._names = _key_names(rules)
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
    """Finds the values of scopes in texts: whole words, in any case, longest first.

    Words are those of `argus.indexes.words`, so "CVE-2021-44228" is also found as "cve 2021 44228".
    keys: the scope keys whose values count, None for all. Values that consist of stop words alone,
    or of no word, are never found.
    """

    def __init__(self, records: Iterable[Record], keys: Iterable[str] | None = None) -> None:
        entities = {entity for record in records for entity in record.entities}
        if keys is not None:
            scope_keys = frozenset(keys)
            entities = {entity for entity in entities if entity[0] in scope_keys}
            _check_keys(scope_keys, entities)
        self._bearers: dict[tuple[str, ...], list[Entity]] = {}
        for entity in sorted(entities):
            name = tuple(words(entity[1]))
            if not STOP_WORDS.issuperset(name):
                self._bearers.setdefault(name, []).append(entity)
        self._lengths = sorted({len(name) for name in self._bearers}, reverse=True)

    def bearers(self, text: str) -> list[tuple[Entity, ...]]:
        """Return the bearers of every name in a text, in order of place; names do not overlap."""
        tokens = words(text)
        taken = [False] * len(tokens)
        places: list[tuple[int, tuple[Entity, ...]]] = []
        for length in self._lengths:
            for start in range(len(tokens) - length + 1):
                bearers = self._bearers.get(tuple(tokens[start : start + length]))
                if bearers and not any(taken[start : start + length]):
                    taken[start : start + length] = [True] * length
                    places.append((start, tuple(bearers)))
        return [bearers for _, bearers in sorted(places)]


def _key_names(rules: Sequence[Rule]) -> dict[str, str]:
    """Return key -> one name for all keys that rules equate with it."""
    names: dict[str, str] = {}
    for rule in rules:
        for key in rule.scope:
            one, other = (names.setdefault(k, k) for k in (key.superseding, key.superseded))
            names = {k: one if name == other else name for k, name in names.items()}
    return names


def _check_keys(scope_keys: frozenset[str], entities: set[Entity]) -> None:
    unknown = sorted(scope_keys - {key for key, _ in entities})
    if unknown:
        raise InputError(
            f"no record has the scope key {unknown[0]!r}",
            expected="keys of the records' scopes",
            fix="Check its spelling, or leave the keys out for all.",
        )
