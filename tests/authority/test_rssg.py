import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.entities import EntityIndex
from argus.authority.relation import Authority
from argus.authority.rules import Rule
from argus.authority.theory import neighbourhood, supersession_graph
from argus.errors import InputError
from tests.support.authorities import LATER, at, chain, record, relations


def test_every_rule_is_tried_on_every_pair_and_says_which_holds():
    rules = [LATER, Rule("note", "doc", ("entity",), name="notes")]
    records = [*chain("d1", "d2"), record("n", "note", 3, entity="s")]
    graph = supersession_graph(records, rules)
    assert graph.checks == 3 * 2 * 2
    found = {(link.superseded, link.superseder, link.rule) for link in graph.links}
    assert found == {("d1", "d2", "later"), ("d1", "n", "notes"), ("d2", "n", "notes")}
    assert graph.frontier == ["n"]


def test_contamination_is_kept_apart_from_what_the_rules_connect():
    records = [*chain("d1", "d2"), record("noise", "spam", 9, entity="s")]
    graph = supersession_graph(records, [LATER])
    assert graph.frontier == ["d2", "noise"]
    assert graph.controlling(["d1"]) == ["d2"]
    assert graph.closure(["d1"]) == ["d1", "d2"]


def test_a_document_twice_counts_once_and_none_gives_none():
    one = record("d", "doc", 1, entity="s")
    assert supersession_graph([one, one], [LATER]).documents == ("d",)
    empty = supersession_graph([], [LATER])
    assert (empty.checks, empty.frontier, empty.controlling([])) == (0, [], [])


def test_an_anchor_outside_the_graph_is_named():
    with pytest.raises(InputError, match="anchor 'x' is not in the graph"):
        supersession_graph(chain("d1"), [LATER]).closure(["x"])


def test_a_neighbourhood_shares_an_entity_anchors_first():
    records = [*chain("d1", "d2"), *chain("x1", scope="t"), record("n", "note", 3, entity="s")]
    authority, index = Authority(records, [LATER]), EntityIndex(records)
    found = neighbourhood(["d2"], authority, index)
    assert [r.id for r in found] == ["d2", "d1", "n"]
    early = neighbourhood(["d1"], authority.as_of(at(2)), index)
    assert [r.id for r in early] == ["d1", "d2"]
    with pytest.raises(InputError, match="hops=0"):
        neighbourhood(["d1"], authority, index, hops=0)
    with pytest.raises(InputError, match="no record 'gone'"):
        neighbourhood(["gone"], authority, index)


def test_a_chain_of_several_keys_leaves_the_neighbourhood():
    records = [
        record("d1", "doc", 1, x="1"),
        record("d2", "doc", 2, x="1", y="2"),
        record("d3", "doc", 3, y="2"),
    ]
    rules = [Rule("doc", "doc", ("x",)), Rule("doc", "doc", ("y",))]
    authority, index = Authority(records, rules), EntityIndex(records, rules)
    near, far = (neighbourhood(["d1"], authority, index, hops=hops) for hops in (1, 2))
    assert supersession_graph(near, rules).controlling(["d1"]) == ["d2"]
    assert supersession_graph(far, rules).controlling(["d1"]) == ["d3"]


@settings(deadline=None)
@given(relations(edges=False), st.data())
def test_it_finds_what_the_lookups_find(relation, data):
    authority, index = relation.authority, EntityIndex(relation.records, relation.rules)
    anchor = data.draw(st.sampled_from(relation.ids))
    members = neighbourhood([anchor], authority, index, hops=None)
    graph = supersession_graph(members, relation.rules)
    assert set(graph.controlling([anchor])) == set(authority.controlling([anchor]))
    assert set(graph.closure([anchor])) == set(authority.closure([anchor]))
    assert graph.frontier == authority.frontier([r.id for r in members])
    for member in members:
        found = {(k.superseder, k.rule) for k in graph.links if k.superseded == member.id}
        assert found == {(k.superseder, k.rule) for k in authority.links(member.id)}


@settings(deadline=None)
@given(relations(edges=False), st.data())
def test_it_counts_n_times_n_less_one_times_m_checks(relation, data):
    some = data.draw(st.lists(st.sampled_from(relation.records), unique_by=lambda r: r.id))
    graph = supersession_graph(some, relation.rules)
    n, m = len(some), len(relation.rules)
    assert graph.checks == n * (n - 1) * m <= n**2 * m
