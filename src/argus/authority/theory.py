"""Test one query's served documents by the CAR paper's conditions, and measure its ambiguity.

`check_conditions`: the served documents -> violations of Theorem 4, which says when they are right.
`scope_ambiguity`: how many documents share a scope (Def. 5, Proposition 2). `audit` measures the
divergence of Def. 4.
`EntityIndex`, `ScopeNames` and `ScopeTimes` find records by entity, by name in a text, and by time.
`lint`, `search` and the benchmarks use all of it. Where the printed statement leaves a case open,
the docstring settles it.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from argus.authority.relation import Authority, Link, chain_to
from argus.authority.rules import Record, Rule, find_record
from argus.authority.scopes import Place
from argus.data.documents import listed
from argus.indexes.lexical import STOP_WORDS, words

Entity = tuple[str, str]  # a key of a scope and one value of it


@dataclass(frozen=True, slots=True)
class Conditions:
    """Violations of Theorem 4 by a retrieved set.

    missing: condition (i): each frontier document that was not retrieved, with the first anchor
    that it controls and the chain from there, empty where they are one. ignored: condition (ii):
    each superseded document of which no superseder was retrieved, with a chain to a document that
    controls it. superseded: retrieved documents that something supersedes, retrieved or not.
    """

    missing: Mapping[str, tuple[str, tuple[Link, ...]]]
    ignored: Mapping[str, tuple[Link, ...]]
    superseded: tuple[str, ...]

    @property
    def hold(self) -> bool:
        """True if both conditions hold: then, and only then, TCA can be 1."""
        return not self.missing and not self.ignored


def check_conditions(
    retrieved: Iterable[str], authority: Authority, anchors: Iterable[str] | None = None
) -> Conditions:
    """Return the violations of Theorem 4 in a retrieved set R.

    (i) front(cl(A)) is in R, for the anchors A. (ii) For every superseded document of R, one that
    supersedes it, directly or by a chain, is in R. anchors: those of the gold chain, if you know
    them. By default every retrieved document is its own anchor. Documents without a record, and
    those that are not in force at the time of a view, are left out. Raises InputError for an
    unknown anchor.
    """
    served = dict.fromkeys(i for i in listed(retrieved) if i in authority and authority.in_force(i))
    reached = {id_: authority.heads([id_]) for id_ in served}
    is_active = cache(authority.is_active)
    missing: dict[str, tuple[str, tuple[Link, ...]]] = {}
    for anchor in served if anchors is None else listed(anchors, "anchors"):
        above = reached.get(anchor) or authority.heads([anchor])
        for id_ in above:
            if id_ not in served and is_active(id_):
                missing.setdefault(id_, (anchor, tuple(chain_to(id_, above))))
    newest: dict[Place, int] = {}  # latest start of a served document per place
    for id_ in served:
        for place, moment in authority.index.superseding_places(authority.records[id_]):
            newest[place] = max(moment.start, newest.get(place, moment.start))
    ignored = {}
    for id_, above in reached.items():
        if len(above) > 1 and not _is_replaced(authority, above, served, newest):
            last = next(newer for newer in above if is_active(newer))
            ignored[id_] = tuple(chain_to(last, above))
    superseded = tuple(id_ for id_, above in reached.items() if len(above) > 1)
    return Conditions(missing, ignored, superseded)


def _is_replaced(
    authority: Authority, heads: Iterable[str], served: Container[str], newest: dict[Place, int]
) -> bool:
    """Return whether a served document supersedes the first of these heads (`Authority.heads`)."""
    for i, id_ in enumerate(heads):
        if i and id_ in served:
            return True
        for place, moment in authority.index.superseded_places(authority.records[id_]):
            if place in newest and newest[place] >= moment.end:
                return True
        if any(edge.superseder in served for edge in authority.edges.get(id_, ())):
            return True
    return False


@dataclass(frozen=True, slots=True)
class ScopeAmbiguity:
    """Documents that share a query's scope, against those in its anchors' chains (Def. 5).

    documents: |D_σ(q)|.
    closure: |cl(A(q))|.
    """

    documents: int
    closure: int

    @property
    def kappa(self) -> float:
        """κ(q) = |D_σ(q)| / |cl(A(q))|, infinite without anchors.

        At least 1 where D_σ holds the closure, as the paper has it. Less where a chain leaves the
        scope, as it may where scopes have several keys or the query names another scope.
        """
        return self.documents / self.closure if self.closure else math.inf

    @property
    def phi(self) -> float:
        """φ(q) = min(1, 1/κ(q)), 0 where no document is in the scope, or no anchor was found."""
        return min(1.0, self.closure / self.documents) if self.documents else 0.0


def scope_ambiguity(
    anchors: Iterable[str],
    authority: Authority,
    index: EntityIndex,
    scope: Iterable[Entity] | None = None,
) -> ScopeAmbiguity:
    """Return κ(q) and φ(q) of the anchors A(q), of the records in force.

    scope: σ(q), as (key, value). None takes the scopes of the anchors. Raises InputError for an
    unknown anchor.
    """
    ids = list(dict.fromkeys(anchors))
    if scope is None:
        scope = {entity for id_ in ids for entity in index.entities(authority.record(id_))}
    sharing = [id_ for id_ in index.sharing(scope) if authority.in_force(id_)]
    return ScopeAmbiguity(len(sharing), len(authority.closure(ids)))


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
