from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.relation import Authority
from argus.authority.rules import Rule
from argus.authority.theory import EntityIndex
from tests.support.authorities import record, relations
from tests.support.rssg import neighbourhood, supersession_graph


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
