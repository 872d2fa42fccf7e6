"""Random authority relations, and a plain reference that checks every rule on every pair."""

from dataclasses import dataclass

from hypothesis import strategies as st

from argus.authority.rules import Edge, Order, Record, Rule, ScopeKey
from argus.authority.times import Moment, parse_moment


def holds(rule, older, newer):
    """Whether `newer` supersedes `older`: one rule check of the RSSG."""
    first, second = rule.moment(older), rule.moment(newer)
    if first is None or second is None or not first.before(second) or older.id == newer.id:
        return False
    if not (rule.can_supersede(newer) and rule.can_be_superseded(older)):
        return False
    return not set(rule.superseded_scopes(older)).isdisjoint(rule.superseding_scopes(newer))


class Naive:
    """Def. 1 and 3 word by word: `holds` on all pairs, closed by Warshall's algorithm.

    At an earlier time, of the records that were in force alone.
    """

    def __init__(self, records, rules=(), edges=(), effective=None, known=None):
        self.limits = effective, known
        self.records = {record.id: record for record in records if self.in_force(record)}
        self.direct = {}
        for rule in rules:
            pairs = self.direct.setdefault(rule.relation, set())
            pairs |= {
                (a.id, b.id)
                for a in self.records.values()
                for b in self.records.values()
                if holds(rule, a, b)
            }
        for edge in edges:
            pairs = self.direct.setdefault(edge.relation, set())
            if {edge.superseded, edge.superseder} <= set(self.records):
                pairs.add((edge.superseded, edge.superseder))
        self.joint = self.warshall(set().union(*self.direct.values()))
        self.each = [self.warshall(pairs) for pairs in self.direct.values()]

    def warshall(self, pairs):
        above = {id_: {b for a, b in pairs if a == id_} for id_ in self.records}
        for middle in self.records:
            for id_ in self.records:
                if middle in above[id_]:
                    above[id_] |= above[middle]
        return above

    def in_force(self, record):
        """Whether a record had certainly taken effect, and was certainly known, by then."""
        times = record.time or record.published, record.published or record.time
        return all(
            moment is None or limit is None or moment.end <= limit.end
            for moment, limit in zip(times, self.limits, strict=True)
        )

    @property
    def has_cycle(self):
        return any(id_ in above for id_, above in self.joint.items())

    def is_active(self, id_):
        return id_ in self.records and not self.joint[id_]

    def closure(self, ids):
        there = set(ids) & set(self.records)
        return there.union(*(self.joint[id_] for id_ in there))

    def frontier(self, ids):
        there = set(ids) & set(self.records)
        return {d for d in there if not any(above[d] & there for above in self.each)}

    def controlling(self, ids):
        return self.frontier(self.closure(ids))

    def steps(self, older, newer):
        """Number of links of a shortest chain, None without one."""
        if older not in self.records:
            return None
        pairs, reached, n = set().union(*self.direct.values()), {older}, 0
        while newer not in reached:
            more = reached | {b for a, b in pairs if a in reached}
            if more == reached:
                return None
            reached, n = more, n + 1
        return n


@dataclass(frozen=True)
class Relation:
    records: tuple[Record, ...]
    rules: tuple[Rule, ...]
    edges: tuple[Edge, ...]

    @property
    def parts(self):
        return self.records, self.rules, self.edges


TEXTS = ("2023", "2024", "2024-02", "2024-03", "2024-03-01", "2024-03-02", "2024-03-01T10:00:00Z")
MOMENTS = tuple(parse_moment(text) for text in TEXTS) + tuple(
    Moment(start, end, f"{start}-{end}") for start, end in ((0, 1), (0, 9), (1, 2), (3, 7), (8, 9))
)
times = st.none() | st.sampled_from(MOMENTS)
values = st.sampled_from(["x", "y", ("x", "y"), ("y", "z"), ()])
types = st.sampled_from("ABC")
scopes = st.fixed_dictionaries({}, optional={"k": values, "j": values})


@st.composite
def records_of(draw, id_):
    return Record(
        id_,
        draw(types),
        draw(times),
        draw(scopes),
        published=draw(times),
        metadata={"level": draw(st.sampled_from(["low", "high"]))},
    )


# A record's j names the k of what it replaces.
NAMES = ScopeKey("j", "k")


@st.composite
def rule_lists(draw, orders=tuple(Order), relations=("supersedes",), most=4):
    """Up to `most` rules of several types, keys, conditions, relations and confidences."""
    rules = []
    for i in range(draw(st.integers(1, most))):
        order = draw(st.sampled_from(orders))
        superseding = draw(st.sets(types, min_size=1, max_size=2))
        superseded = draw(st.sets(types, min_size=1, max_size=2))
        if order is Order.TYPE:
            superseded = superseded - superseding or {min(set("ABC") - superseding)}
        keys = st.sampled_from([("k",), ("k", "j"), ("j",), ()])
        if order is Order.NAMED:
            keys = st.sampled_from([(NAMES,), (NAMES, "k"), (ScopeKey("k", "j"),)])
        condition = st.sampled_from(
            [{}, {"superseding.level": "high"}, {"superseded.level": "low"}]
        )
        rules.append(
            Rule(
                tuple(sorted(superseding)),
                tuple(sorted(superseded)),
                draw(keys),
                name=f"R{i}",
                order=order,
                condition=draw(condition),
                relation=draw(st.sampled_from(relations)),
                confidence=draw(st.sampled_from([0.25, 0.75, 1.0])),
            )
        )
    return tuple(rules)


@st.composite
def relations(draw, orders=tuple(Order), names=("supersedes",), most=7, edges=3):
    """Records, rules and explicit edges; may hold cycles."""
    ids = [f"d{i}" for i in range(draw(st.integers(1, most)))]
    pairs = st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=edges)
    given = tuple(
        Edge(
            newer,
            older,
            relation=draw(st.sampled_from(names)),
            confidence=draw(st.sampled_from([0.5, 1.0])),
        )
        for newer, older in draw(pairs)
        if newer != older
    )
    return Relation(
        tuple(draw(records_of(id_)) for id_ in ids), draw(rule_lists(orders, names)), given
    )
