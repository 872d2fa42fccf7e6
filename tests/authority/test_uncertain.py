import itertools
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argus.authority.relation import Authority
from argus.authority.rules import Edge, Record, Rule
from argus.authority.times import Moment
from argus.authority.variants import safe_frontier
from argus.errors import InputError
from tests.support.draws import examples
from tests.support.relations import Naive, holds, relations

SEVERAL = ("supersedes", "overrides")


def chances(authority, ids) -> dict[str, float]:
    found = safe_frontier(authority, ids, 0.5)
    return {id_: chance.probability for id_, chance in found.chances.items()}


def naive_chances(relation, ids) -> dict[str, float]:
    """Every outcome of all pairs that a rule or an edge makes, each by Warshall's algorithm."""
    possible = []
    for rule in relation.rules:
        for a, b in itertools.permutations(relation.records, 2):
            if holds(rule, a, b):
                possible.append((Edge(b.id, a.id, relation=rule.relation), rule.confidence))
    possible += [(edge, edge.confidence) for edge in dict.fromkeys(relation.edges)]
    sure = [edge for edge, p in possible if p == 1]
    unsure = [(edge, p) for edge, p in possible if p < 1]
    assume(len(unsure) <= 8)
    result = dict.fromkeys(ids, 0.0)
    for outcome in itertools.product([False, True], repeat=len(unsure)):
        held = [edge for (edge, _), on in zip(unsure, outcome, strict=True) if on]
        weight = math.prod(p if on else 1 - p for (_, p), on in zip(unsure, outcome, strict=True))
        for id_ in (
            Naive(relation.records, (), [*sure, *held]).frontier(ids) if sure or held else ids
        ):
            result[id_] += weight
    return result


@settings(max_examples=examples(150), deadline=None)
@given(relations(names=SEVERAL, most=4), st.data())
def test_exact_chances_equal_a_sum_over_all_outcomes(relation, data):
    assume(not Naive(*relation.parts).has_cycle)
    ids = [record.id for record in relation.records]
    ids = data.draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
    expected = naive_chances(relation, ids)
    found = safe_frontier(Authority(*relation.parts), ids, 0.5)
    assert not any(chance.samples for chance in found.chances.values())
    for id_ in ids:
        assert found.chances[id_].probability == pytest.approx(expected[id_], abs=1e-9)


@settings(max_examples=examples(40), deadline=None)
@given(relations(names=SEVERAL, most=6), st.integers(0, 3))
def test_samples_agree_with_the_exact_chances(relation, seed):
    assume(not Naive(*relation.parts).has_cycle)
    authority, ids = Authority(*relation.parts), [record.id for record in relation.records]
    exact = safe_frontier(authority, ids, 0.5, exact_edges=20)
    assume(not any(chance.samples for chance in exact.chances.values()))
    sampled = safe_frontier(authority, ids, 0.5, exact_edges=0, samples=20_000, seed=seed)
    for id_ in ids:
        probability = exact.chances[id_].probability
        chance = sampled.chances[id_]
        if chance.samples:
            assert chance.half_width < 0.008
            assert abs(chance.probability - probability) < 0.02  # over five standard errors
        else:
            assert chance.probability == pytest.approx(probability)


@settings(max_examples=examples(60), deadline=None)
@given(relations(names=SEVERAL), st.floats(0, 1), st.floats(0, 1))
def test_the_frontier_shrinks_with_alpha(relation, a, b):
    assume(not Naive(*relation.parts).has_cycle)
    authority, ids = Authority(*relation.parts), [record.id for record in relation.records]
    low, high = sorted((a, b))
    options = {"samples": 200, "exact_edges": 6}
    safer = safe_frontier(authority, ids, high, **options)
    assert set(safer.ids) <= set(safe_frontier(authority, ids, low, **options).ids)
    assert safe_frontier(authority, ids, 0, **options).ids == tuple(ids)


def test_chances_by_hand():
    # a -0.9-> b -0.5-> c: a is maximal when its edge fails (b counts though c supersedes it).
    records = [Record(id_, "note") for id_ in "abc"]
    edges = [Edge("b", "a", confidence=0.9), Edge("c", "b", confidence=0.5)]
    authority = Authority(records, [], edges)
    assert chances(authority, ["a", "b", "c"]) == pytest.approx({"a": 0.1, "b": 0.5, "c": 1})
    # Without b in S both edges must hold: 1 - 0.45.
    assert chances(authority, ["a", "c"]) == pytest.approx({"a": 0.55, "c": 1})
    assert safe_frontier(authority, ["a", "c"], 0.55).ids == ("a", "c")
    assert safe_frontier(authority, ["a", "c"], 0.56).ids == ("c",)
    assert safe_frontier(authority, [], 0.5).ids == ()


def in_one_scope(n: int, p: float) -> Authority:
    records = [Record(f"d{i}", "note", Moment(i, i + 1, ""), {"k": "x"}) for i in range(n)]
    return Authority(records, [Rule("note", "note", "k", confidence=p)])


def test_more_uncertain_edges_are_sampled_and_say_so():
    authority = in_one_scope(8, 0.2)  # 28 uncertain edges
    ids = [f"d{i}" for i in range(8)]
    found = safe_frontier(authority, ids, 0.5, samples=4000, seed=1)
    assert any(chance.samples for chance in found.chances.values())
    assert {chance.samples for chance in found.chances.values()} == {4000}
    for i, id_ in enumerate(ids):  # the nearest step decides: one of the later ones holds, or none
        chance = found.chances[id_]
        assert chance.probability == pytest.approx(0.8 ** (7 - i), abs=0.03)
        assert chance.half_width < 0.017
    assert found == safe_frontier(authority, ids, 0.5, samples=4000, seed=1)
    assert found != safe_frontier(authority, ids, 0.5, samples=4000, seed=2)
    near = found.chances["d4"].probability
    assert "d4" in safe_frontier(authority, ids, near, samples=4000, seed=1).ids


def test_a_large_scope_is_refused_not_multiplied_out():
    authority = in_one_scope(700, 0.5)
    with pytest.raises(InputError, match=r"more than 200,000 supersessions between 2 records"):
        safe_frontier(authority, ["d0", "d699"], 0.5)
    assert len(authority.closure(["d0"])) == 700


@pytest.mark.parametrize("alpha", [1.5, math.nan])
def test_what_is_no_probability_is_refused(alpha):
    with pytest.raises(InputError, match=rf"alpha {alpha}; expected a probability from 0 to 1"):
        safe_frontier(in_one_scope(2, 0.5), ["d0"], alpha)
