"""Small authority relations: by hand, at random, and by a plain reference that makes every pair."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hypothesis import strategies as st

from argus.authority.relation import Authority
from argus.authority.rules import Edge, Record, Rule
from argus.authority.times import parse_moment


def at(day: int):
    """Return a day of the year 2024, from 1."""
    return parse_moment(f"2024-{1 + (day - 1) // 28:02}-{1 + (day - 1) % 28:02}")


def record(id_: str, type_: str = "doc", day: int | None = None, /, **scope):
    """Return a record of that day; scope as key=value or key=(values)."""
    return Record(id_, type_, None if day is None else at(day), scope)


def chain(*ids: str, scope: str = "s", first_day: int = 1) -> list[Record]:
    """Return records of one scope, each later than the one before."""
    return [record(id_, "doc", first_day + i, entity=scope) for i, id_ in enumerate(ids)]


# Whatever of a scope is later.
LATER = Rule("doc", "doc", ("entity",), name="later")


@dataclass(frozen=True)
class Relation:
    """What an Authority is made from."""

    records: list[Record]
    rules: list[Rule]
    edges: list[Edge]

    @property
    def authority(self) -> Authority:
        return Authority(self.records, self.rules, self.edges)

    @property
    def ids(self) -> list[str]:
        return [record.id for record in self.records]

    def supersedes(self, older: Record, newer: Record) -> bool:
        """Def. 1 on one pair, word by word."""
        if any((e.superseder, e.superseded) == (newer.id, older.id) for e in self.edges):
            return True
        for rule in self.rules:
            if newer.type not in rule.superseding or older.type not in rule.superseded:
                continue
            if older.time is None or newer.time is None or newer.time.start < older.time.end:
                continue
            shared = (
                set(older.values(key.superseded)) & set(newer.values(key.superseding))
                for key in rule.scope
            )
            if all(shared):
                return True
        return False

    def above(self) -> dict[str, set[str]]:
        """⇝ as id -> all that supersedes it, by Warshall's algorithm over all pairs."""
        found = {
            old.id: {new.id for new in self.records if self.supersedes(old, new)}
            for old in self.records
        }
        for middle in found:
            for id_, newer in found.items():
                if middle in newer:
                    found[id_] = newer | found[middle]
        return found


_RULES = [
    Rule("A", "A", ("x",)),
    Rule("B", ("A", "B"), ("x",)),
    Rule("C", "B", ("y",)),
    Rule("C", ("A", "C"), ("x", "y")),
    Rule("B", "C"),
]


@st.composite
def relations(draw, *, edges: bool = True, max_size: int = 9) -> Relation:
    """Draw records of several types, times and scopes under some rules and edges, no cycles."""
    n = draw(st.integers(1, max_size))
    days = sorted(draw(st.lists(st.integers(1, 6), min_size=n, max_size=n)))
    values = st.lists(st.sampled_from("uvw"), max_size=2, unique=True).map(tuple)
    records = [
        record(
            f"r{i}",
            draw(st.sampled_from("ABC")),
            day if draw(st.integers(0, 7)) else None,
            x=draw(values),
            y=draw(values),
        )
        for i, day in enumerate(days)
    ]
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] < p[1])
    some = draw(st.sets(pairs, max_size=2)) if edges and n > 1 else set()
    rules = draw(st.lists(st.sampled_from(_RULES), min_size=1, max_size=4, unique_by=id))
    return Relation(records, rules, [Edge(f"r{new}", f"r{old}") for old, new in sorted(some)])


class Divergence(NamedTuple):
    """Distance between the most relevant document of a query and those that control it.

    top: d1, ties by id. frontier: F(q) = front(cl({d1})), best score first. delta: Def. 4. n_plus,
    n_plus_all: documents that score above the best and the worst of F(q) (Corollary 1).
    """

    top: str
    frontier: tuple[str, ...]
    delta: float
    n_plus: int
    n_plus_all: int


def divergence(scores: Mapping[str, float], authority: Authority) -> Divergence:
    """Return Δ(q) and N+(q) of one query's scores. A document without a record controls itself."""
    best = max(scores.values())
    top = min(id_ for id_, score in scores.items() if score == best)
    frontier = sorted(authority.controlling([top]), key=lambda c: (-scores[c], c))
    above = [sum(s > scores[c] for s in scores.values()) for c in (frontier[0], frontier[-1])]
    return Divergence(top, tuple(frontier), best - scores[frontier[0]], *above)
