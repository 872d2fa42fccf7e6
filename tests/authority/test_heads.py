"""What is looked at of crowded scopes: a few records, however many there are."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argus.authority import scopes
from argus.authority.relation import Authority, chain_to
from argus.authority.rules import Edge, Order, Record, Rule, ScopeKey
from argus.authority.times import Moment
from tests.support.draws import examples
from tests.support.relations import Naive

N = 1000
FEW = 12


def at(i: int) -> Moment:
    return Moment(i, i + 1, str(i))


def note(i: int) -> Record:
    return Record(f"n{i}", "note", at(i), {"package": "x", "cve": f"c{i}"})


def cost(authority: Authority, ask) -> int:
    """Lookups and edges of a question, once its heads are made."""
    ask()
    authority.calls.lookups = authority.calls.edges = 0
    ask()
    return authority.calls.lookups + authority.calls.edges


@pytest.mark.parametrize("order", ["effective", "published"])
def test_an_earlier_time_of_a_crowded_scope_is_cut_not_walked(order):
    rule = Rule("note", "note", "package", order=order)
    authority = Authority([note(i) for i in range(N)], [rule])
    limit = (at(N // 2), None) if order == "effective" else (None, at(N // 2))
    view = authority.as_of(*limit)
    assert view.controlling(["n7"]) == [f"n{N // 2}"]
    assert cost(view, lambda: view.controlling(["n7"])) < FEW
    assert cost(view, lambda: view.is_active(f"n{N // 2}")) < FEW
    assert view.controlling([f"n{N // 2 + 1}"]) == []


VALUES = st.lists(st.sampled_from("uvw"), max_size=2, unique=True).map(tuple)


@st.composite
def crossing(draw):
    """Many records under few rules of one order, whose scopes overlap; points, days and longer."""
    order = draw(st.sampled_from(Order)) if draw(st.booleans()) else Order.EFFECTIVE
    kinds = [("A", "A", "k"), ("A", "A", "j"), ("A", "B", "k"), ("B", "C", "j"), ("C", "C", "j")]
    kinds += [("C", "A", ("k", "j")), ("B", "B", ()), ("C", "B", "k")]
    if order is Order.TYPE:
        kinds = [kind for kind in kinds if kind[0] != kind[1]]
    if order is Order.NAMED:
        kinds = [(*kind[:2], ScopeKey("k", "j")) for kind in kinds]
    rules = [
        Rule(*kind, name=f"R{i}", order=order)
        for i, kind in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4)))
    ]
    records = []
    for i in range(draw(st.integers(1, 14))):
        start, length = draw(st.integers(0, 12)), draw(st.sampled_from([1, 1, 1, 3]))
        scope = {"k": draw(VALUES), "j": draw(VALUES)}
        moment = Moment(start, start + length, "")
        records.append(Record(f"d{i}", draw(st.sampled_from("ABC")), moment, scope))
    pairs = st.tuples(st.sampled_from(records), st.sampled_from(records))
    later = pairs.filter(lambda pair: pair[0].time.before(pair[1].time))
    told = draw(st.lists(later, max_size=1)) if len(records) > 3 and draw(st.booleans()) else []
    return records, rules, [Edge(newer.id, older.id) for older, newer in told]


@settings(max_examples=examples(300), deadline=None)
@given(crossing(), st.sampled_from([0, 1, 2]), st.data())
def test_heads_hold_what_is_active_by_shortest_chains(relation, crowded, data):
    records, rules, edges = relation
    assume(not Naive(*relation).has_cycle)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scopes, "CROWDED", crowded)
        first = data.draw(st.integers(0, len(records)))
        authority = Authority(records[:first], rules)
        there = list(records[:first])
        for step, record in enumerate(records[first:]):
            given_edges = [
                e
                for e in edges
                if record.id in (e.superseder, e.superseded)
                and {e.superseder, e.superseded} <= {record.id, *authority.records}
            ]
            authority.insert(record, given_edges)
            there.append(record)
            if step % 2:
                gone = there.pop(data.draw(st.integers(0, len(there) - 1)))
                authority.delete(gone.id)
            check(authority, rules, data.draw(st.none() | st.integers(1, 14)))
        check(authority, rules, None)


def check(authority: Authority, rules: list[Rule], limit: int | None) -> None:
    effective = None if limit is None else Moment(limit - 1, limit, "")
    told = [edge for several in authority.edges.values() for edge in several]
    naive = Naive(authority.records.values(), rules, told, effective)
    view = authority.as_of(effective)
    for older in authority.records:
        assert set(view.controlling([older])) == naive.controlling([older])
        found = view.heads([older])
        assert set(found) <= naive.closure([older])
        for newer in naive.controlling([older]):
            assert len(chain_to(newer, found)) == naive.steps(older, newer)
