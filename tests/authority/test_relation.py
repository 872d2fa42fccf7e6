import tracemalloc

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argus.authority import scopes
from argus.authority.relation import Authority, chain_to
from argus.authority.rules import Edge, Order, Record, Rule
from argus.authority.times import Moment, parse_moment
from argus.errors import InputError
from tests.support.draws import examples
from tests.support.relations import Naive, holds, relations, times

SEVERAL = ("supersedes", "overrides")


def at(i: int) -> Moment:
    return Moment(i, i + 1, str(i))


def chain_of(n: int, **scope) -> list[Record]:
    return [Record(f"d{i}", "note", at(i), scope or {"k": "x"}) for i in range(n)]


LATER_NOTE = Rule("note", "note", "k", name="later note")


def built(relation) -> tuple[Authority, Naive]:
    """The relation both ways; an example with a cycle is refused and of no use here."""
    naive = Naive(*relation.parts)
    assume(not naive.has_cycle)
    return Authority(*relation.parts), naive


def agree(authority: Authority, naive: Naive, groups: list[list[str]]) -> None:
    for id_ in authority.records:
        assert authority.is_active(id_) == naive.is_active(id_)
    for ids in groups:
        assert set(authority.closure(ids)) == naive.closure(ids)
        assert set(authority.frontier(ids)) == naive.frontier(ids)
        assert set(authority.controlling(ids)) == naive.controlling(ids)


def groups_of(ids, data) -> list[list[str]]:
    some = st.lists(st.sampled_from(sorted(ids)), min_size=1, max_size=4, unique=True)
    return [[id_] for id_ in ids] + [data.draw(some), sorted(ids)] if ids else []


@settings(max_examples=examples(250), deadline=None)
@given(relations(), st.data())
def test_closure_and_frontier_equal_rule_checks_on_all_pairs(relation, data):
    authority, naive = built(relation)
    agree(authority, naive, groups_of(naive.records, data))


@settings(max_examples=examples(150), deadline=None)
@given(relations(), st.data())
def test_a_chain_is_a_shortest_one_and_every_link_holds(relation, data):
    authority, naive = built(relation)
    rules = {rule.name: rule for rule in relation.rules}
    older = data.draw(st.sampled_from(sorted(naive.records)))
    for newer in naive.joint[older]:
        links = chain_to(newer, authority.reach([older]))
        assert len(links) == naive.steps(older, newer)
        assert [older, *(link.superseder for link in links)] == [
            *(link.superseded for link in links),
            newer,
        ]
        for link in links:
            if link.rule == "given":
                assert any(
                    (edge.superseded, edge.superseder) == (link.superseded, link.superseder)
                    for edge in relation.edges
                )
            else:
                pair = naive.records[link.superseded], naive.records[link.superseder]
                assert holds(rules[link.rule], *pair)
    for other in set(naive.records) - naive.joint[older]:
        assert chain_to(other, authority.reach([older])) == []


@settings(max_examples=examples(250), deadline=None)
@given(relations(names=SEVERAL), times, times, st.data())
def test_an_earlier_time_equals_rule_checks_on_what_was_in_force(relation, effective, known, data):
    authority, _ = built(relation)
    view = authority.as_of(effective, known)
    naive = Naive(*relation.parts, effective=effective, known=known)
    for record in relation.records:
        assert view.in_force(record.id) == (record.id in naive.records)
    for crowded in (0, 1, 64):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scopes, "CROWDED", crowded)
            agree(view, naive, groups_of(authority.records, data))
            for older in naive.records:
                found = view.heads([older])
                for newer in naive.controlling([older]):
                    assert len(chain_to(newer, found)) == naive.steps(older, newer)


@settings(max_examples=examples(100), deadline=None)
@given(relations(names=SEVERAL), times, st.data())
def test_below_and_among_equal_rule_checks(relation, effective, data):
    authority, _ = built(relation)
    view, naive = authority.as_of(effective), Naive(*relation.parts, effective=effective)
    for id_ in authority.records:
        below = {older for older, above in naive.joint.items() if id_ in above}
        assert view.superseded_by_any([id_]) == below
    some = data.draw(st.sets(st.sampled_from(sorted(authority.records))))
    records = [record for record in relation.records if record.id in some]
    edges = [edge for edge in relation.edges if {edge.superseder, edge.superseded} <= some]
    alone = Naive(records, relation.rules, edges, effective=effective)
    agree(view.among(some), alone, groups_of(sorted(some), data))


@settings(max_examples=examples(150), deadline=None)
@given(relations(edges=0), st.sampled_from([0, 1]), st.data())
def test_insertions_and_deletions_equal_building_at_once(relation, crowded, data):
    records, rules = relation.records, relation.rules
    assume(not Naive(records, rules).has_cycle)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scopes, "CROWDED", crowded)
        authority = Authority((), rules)
        for record in data.draw(st.permutations(records)):
            authority.insert(record)
            authority.controlling([record.id])  # makes heads, which later steps must keep right
        gone = data.draw(st.sets(st.sampled_from([record.id for record in records])))
        for id_ in gone:
            authority.delete(id_)
            authority.controlling(authority.records)
        naive = Naive([record for record in records if record.id not in gone], rules)
        agree(authority, naive, groups_of(naive.records, data))
    for id_ in list(naive.records):
        authority.delete(id_)
    assert len(authority) == 0 and authority.index.buckets == {}


def test_a_day_is_not_before_an_hour_in_it_but_the_next_day():
    when = {"day": "2024-03-01", "hour": "2024-03-01T10:00:00Z", "next": "2024-03-02"}
    records = [Record(i, "note", parse_moment(t), {"k": "x"}) for i, t in when.items()]
    authority = Authority(records[:2], [LATER_NOTE])
    assert authority.frontier(["day", "hour"]) == ["day", "hour"]
    authority.insert(records[2])
    assert authority.controlling(["day", "hour"]) == ["next"]


def test_unknown_and_repeated_ids_and_edges_are_refused():
    authority = Authority(chain_of(2), [LATER_NOTE])
    with pytest.raises(InputError, match=r"no record 'nope'; expected the id of one of the 2 rec"):
        authority.closure(["nope"])
    with pytest.raises(InputError, match=r"two records have the id 'd0'"):
        Authority([*chain_of(2), *chain_of(1)])
    with pytest.raises(InputError, match=r"record 'd0' is there already"):
        authority.insert(chain_of(1)[0])
    with pytest.raises(InputError, match=r"no record 'gone'"):
        Authority(chain_of(1), [], [Edge("gone", "d0")])
    new = Record("new", "note", at(7), {"k": "y"})
    with pytest.raises(InputError, match=r"Edge.superseder='d1'.*edges of 'new'"):
        authority.insert(new, [Edge("d1", "d0")])
    with pytest.raises(InputError, match=r"no record 'gone'"):
        authority.insert(new, [Edge("new", "d0"), Edge("gone", "new")])
    assert "new" not in authority and authority.edges == {} and authority.reverse == {}


def test_a_scope_takes_memory_by_the_record_not_by_the_pair():
    records = chain_of(1500)
    tracemalloc.start()
    try:
        authority = Authority(records, [LATER_NOTE])
        assert authority.frontier(authority.closure(["d0"])) == ["d1499"]
        assert authority.controlling(["d0"]) == ["d1499"]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2000 * len(records)  # bytes; a tuple per pair would be 60 MB


def test_what_leads_out_of_a_crowded_scope_is_followed():
    """Explicit edges, also those that come later, and orders by another time."""
    n = 200
    out = Record("out", "other", at(n), {"k": "x"})
    authority = Authority([*chain_of(n), out], [LATER_NOTE], [Edge("out", "d100")])
    last = f"d{n - 1}"
    assert set(authority.controlling(["d0"])) == {last, "out"}
    assert authority.controlling(["d101"]) == [last]
    late = Record("late", "other", at(n + 1), {"k": "x"})
    authority.insert(late, [Edge("late", "d150")])
    assert set(authority.controlling(["d101"])) == {last, "late"}
    authority.delete("d150")
    assert authority.controlling(["d101"]) == [last]
    published = Rule("other", "note", "k", order=Order.PUBLISHED, name="by publication")
    two = Authority([*chain_of(n), out], [LATER_NOTE, published])
    assert two.controlling(["d0"]) == ["out"]
