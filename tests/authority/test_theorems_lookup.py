"""CAR Theorem 2 and Corollary 3: a look-up is needed; with an anchor and one chain it is enough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.relation import Authority
from argus.authority.resolution import resolve, trace
from argus.authority.rules import Record
from argus.authority.theory import EntityIndex, ScopeTimes, check_conditions, scope_ambiguity
from argus.data.runs import ranking
from tests.authority.test_theorems import BLACKOUT, RANKERS, disjoint_corpus, family
from tests.support.authorities import LATER, at, chain, record
from tests.support.draws import examples

N = 12


def notices(right: int) -> list[Record]:
    """Return a clearance and N notices that read alike, of which one is of its scope."""
    asked = Record("clearance", "approval", at(5), {"ticker": "T0"}, "alice may trade tango")
    return [
        asked,
        *(
            Record(
                f"notice{i:02}", "blackout", at(9), {"ticker": "T0" if i == right else f"T{i + 1}"},
                f"dealing is suspended notice {i}",
            )
            for i in range(N)
        ),
    ]  # fmt: skip


@RANKERS
@pytest.mark.parametrize("k", [2, 5])
def test_theorem_2_relevance_alone_fails_where_scopes_differ_alone(ranker, k):
    right = []
    for i in range(N):
        records = notices(i)
        authority = Authority(records, [BLACKOUT])
        scores = ranker(records)("may alice trade tango")
        right.append(check_conditions(ranking(scores)[:k], authority, ["clearance"]).hold)
        served = resolve({"q": scores}, authority, k=1)["q"]
        assert list(served) == [f"notice{i:02}"]  # a look-up by scope finds each of them
    assert sum(right) <= k - 1  # the list is one and the same, whichever notice is right


@settings(deadline=None)
@given(st.none() | st.floats(-10, 10), st.integers(1, 5))
def test_theorem_2_a_look_up_does_not_depend_on_the_score(score, n):
    records, _ = family(n)
    authority = Authority(records, [BLACKOUT])
    scores = {"d1": 1.0} | ({} if score is None else {"d2": score})
    assert "d2" in trace(scores, authority).run
    assert check_conditions(trace(scores, authority).run, authority, ["d1"]).hold


@RANKERS
@pytest.mark.parametrize("n", [6, 40])
def test_theorem_2_search_among_what_was_retrieved_is_no_look_up(ranker, n):
    """Anchor-based search (Def. 13): promotes only what the first retrieval holds already."""
    records, query = family(n)
    authority = Authority(records, [BLACKOUT])
    scores = ranker(records)(query)
    for k in range(1, n + 1):
        top = {id_: scores[id_] for id_ in ranking(scores)[:k]}
        served = resolve({"q": top}, authority.among(top))["q"]
        assert not check_conditions(served, authority, ["d1"]).hold
        assert check_conditions(resolve({"q": top}, authority)["q"], authority, ["d1"]).hold


@RANKERS
@settings(max_examples=examples(10), deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 4), hops=st.integers(1, 3))
def test_corollary_3_one_chain_and_its_anchor_make_tca_one(ranker, seed, k, hops):
    records, queries = disjoint_corpus(np.random.default_rng(seed), 20, hops)
    authority, index = Authority(records, [LATER]), EntityIndex(records)
    score, reached = ranker(records), 0
    for i, query in enumerate(queries):
        anchor = f"a{i:03}"
        scores = score(query)
        if anchor not in ranking(scores)[:k]:
            continue
        reached += 1
        assert scope_ambiguity([anchor], authority, index).phi == 1
        served = trace(scores, authority, anchors=k, k=k).run
        assert check_conditions(served, authority, [anchor]).hold
        blind = ScopeTimes(records).latest(ranking(scores)[:k], k * hops)  # time is enough, too
        assert check_conditions(blind, authority, [anchor]).hold
    assert reached


def test_corollary_3_needs_one_chain_of_what_is_blind_to_rules():
    records = [*chain("d1", "d2"), record("other", "memo", 9, entity="s")]
    authority, index = Authority(records, [LATER]), EntityIndex(records)
    assert scope_ambiguity(["d1"], authority, index).phi < 1
    blind = ScopeTimes(records).latest(["d1"], 1)
    assert blind == ["other"] and not check_conditions(blind, authority, ["d1"]).hold
    served = resolve({"q": {"d1": 1.0}}, authority)["q"]
    assert check_conditions(served, authority, ["d1"]).hold  # the rules make the factor one
