"""CAR Definition 4, Corollaries 1 and 2, Theorems 1 to 4 as tests, and what makes them precise."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.relation import Authority
from argus.authority.resolution import resolve, trace
from argus.authority.rules import Record, Rule
from argus.authority.theory import EntityIndex, ScopeTimes, check_conditions, scope_ambiguity
from argus.data.runs import ranking
from argus.indexes.lexical import LexicalIndex
from tests.support.authorities import LATER, Relation, at, chain, divergence, record, relations
from tests.support.draws import examples


def bm25(records):
    """Return BM25 over all texts as query -> document -> score."""
    index = LexicalIndex.build([r.id for r in records], [r.text for r in records])
    return lambda query: dict(zip(index.ids, index.scores(query).tolist(), strict=True))


BLACKOUT = Rule("blackout", "approval", ("ticker",), name="R1")


def family(n):
    """Return Theorem 1's family: a target, n - 1 look-alikes of other scopes, one superseder."""
    records = [
        Record("d1", "approval", at(5), {"ticker": "T0"}, "alice may trade shares of tango zero")
    ]
    for i in range(1, n):
        text = f"alice may trade shares of company{i}"
        records.append(Record(f"like{i:03}", "approval", at(4), {"ticker": f"T{i}"}, text))
    text = "all personnel dealing is suspended until further notice"
    records.append(Record("d2", "blackout", at(9), {"ticker": "T0"}, text))
    return records, "may alice trade shares of tango zero"


@pytest.mark.parametrize("n", [2, 6, 40])
def test_theorem_1_recall_is_perfect_and_tca_zero_below_n(n):
    records, query = family(n)
    scores = bm25(records)(query)
    ranked = ranking(scores)
    authority = Authority(records, [BLACKOUT])
    for k in range(1, n + 1):
        assert "d1" in ranked[:k]
        assert "d2" not in ranked[:k]  # also for k = n: n documents score above it
        assert not check_conditions(ranked[:k], authority, ["d1"]).hold
    assert check_conditions(resolve({"q": scores}, authority, k=1)["q"], authority, ["d1"]).hold


SCORE = st.integers(0, 5).map(float)


@settings(deadline=None)
@given(relations(), st.data())
def test_definition_4_divergence_is_zero_only_at_the_top_score(relation, data):
    scores = {id_: data.draw(SCORE) for id_ in relation.ids}
    found = divergence(scores, relation.authority)
    above = relation.above()
    frontier = {d for d in {found.top} | above[found.top] if not above[d]}
    assert set(found.frontier) == frontier
    assert scores[found.top] == max(scores.values())
    assert found.delta >= 0
    assert (found.delta == 0) == any(scores[c] == max(scores.values()) for c in frontier)
    assert found.delta == max(scores.values()) - max(scores[c] for c in frontier)


@settings(deadline=None)
@given(relations(), st.data())
def test_corollary_1_n_plus_of_k_excludes_the_first_k(relation, data):
    scores = {id_: data.draw(SCORE) for id_ in relation.ids}
    authority = relation.authority
    found, ranked = divergence(scores, authority), ranking(scores)
    for k in range(1, len(ranked) + 1):
        if found.n_plus >= k:
            assert not set(ranked[:k]) & set(found.frontier)
        if found.n_plus_all >= k:
            assert not check_conditions(ranked[:k], authority, [found.top]).hold
    first = min(ranked.index(c) for c in found.frontier)
    tied = sum(scores[d] == scores[found.frontier[0]] for d in ranked)
    assert found.n_plus <= first < found.n_plus + tied  # exact but for ties


def tca(relation: Relation, r: set[str], anchor: str, answer: Callable[[frozenset[str]], object]):
    """Def. 7: the answer from the active documents of the gold chain, and NoIgnoredSuperseder."""
    above = relation.above()
    gold = {anchor} | above[anchor]

    def active(documents):
        return frozenset(d for d in documents if not above[d] & documents)

    correct = answer(active(gold & r)) == answer(active(gold))
    return correct and all(above[d] & r for d in r if above[d])


@settings(deadline=None)
@given(relations(), st.data())
def test_theorem_4_is_tca_where_documents_answer_differently(relation, data):
    r = data.draw(st.sets(st.sampled_from(relation.ids)))
    anchor = data.draw(st.sampled_from(relation.ids))
    expected = tca(relation, r, anchor, answer=lambda active: active)
    assert check_conditions(sorted(r), relation.authority, [anchor]).hold == expected


def test_theorem_4_is_not_necessary_for_answers_of_a_part():
    rules = [Rule("recall", "label", ("d",)), Rule("warning", "label", ("d",))]
    kinds = ["label", "recall", "warning"]
    relation = Relation([record(k, k, i, d="1") for i, k in enumerate(kinds, 1)], rules, [])
    r = {"label", "recall"}  # the priority of the answer: a recall decides alone
    assert tca(relation, r, "label", lambda active: "recall" in active)
    assert not check_conditions(r, relation.authority, ["label"]).hold


def disjoint_corpus(rng, chains, hops, words=60):
    """Return entity-disjoint chains whose superseders share no word with any query, and queries."""
    records, queries = [], []
    for i in range(chains):
        text = " ".join(f"w{w}" for w in rng.integers(0, words, 6))
        records.append(Record(f"a{i:03}", "doc", at(1), {"entity": f"e{i}"}, text))
        records += [
            Record(f"z{i:03}h{h}", "doc", at(1 + h), {"entity": f"e{i}"}, f"x{i} y{h}")
            for h in range(1, hops + 1)
        ]
        queries.append(" ".join(rng.permutation(text.split())[:2]))
    return records, queries


@settings(max_examples=examples(10), deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 4), hops=st.integers(1, 3))
def test_corollary_2_tca_of_two_stages_is_anchor_recall(seed, k, hops):
    records, queries = disjoint_corpus(np.random.default_rng(seed), 30, hops)
    authority, score = Authority(records, [LATER]), bm25(records)
    for i, query in enumerate(queries):
        scores = score(query)
        served = trace(scores, authority, anchors=k, k=k).run
        found = f"a{i:03}" in ranking(scores)[:k]
        assert check_conditions(served, authority, [f"a{i:03}"]).hold == found


def test_corollary_2_is_a_lower_bound_where_relevance_finds_more():
    authority = Authority(chain("d1", "d2", "d3"), [LATER])
    served = resolve({"q": {"d2": 1.0}}, authority)["q"]  # the anchor d1 was not retrieved
    assert check_conditions(served, authority, ["d1"]).hold


def test_theorem_3_anchors_bound_no_query_that_names_its_scope():
    records = chain("d1", "d2") + chain("x1", "x2", scope="t")
    authority, index = Authority(records, [LATER]), EntityIndex(records)
    served = authority.frontier(index.sharing([("entity", "s")]))  # nothing retrieved at all
    assert check_conditions(served, authority, ["d1"]).hold


@settings(deadline=None)
@given(relations(), st.data())
def test_theorem_3_the_closure_passes_with_superseded_ones(relation, data):
    authority, above = relation.authority, relation.above()
    anchors = data.draw(st.lists(st.sampled_from(relation.ids), min_size=1))
    closure = authority.closure(anchors)
    assert check_conditions(closure, authority, anchors).hold
    shown = {d for d in closure if above[d]}
    assert shown == set(closure) - set(authority.controlling(anchors))
    assert shown >= {a for a in anchors if above[a]}


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


@pytest.mark.parametrize("k", [2, 5])
def test_theorem_2_relevance_alone_fails_where_scopes_differ_alone(k):
    right = []
    for i in range(N):
        records = notices(i)
        authority = Authority(records, [BLACKOUT])
        scores = bm25(records)("may alice trade tango")
        right.append(check_conditions(ranking(scores)[:k], authority, ["clearance"]).hold)
        served = resolve({"q": scores}, authority, k=1)["q"]
        assert list(served) == [f"notice{i:02}"]  # a look-up by scope finds each of them
    assert sum(right) <= k - 1  # the list is one and the same, whichever notice is right


@pytest.mark.parametrize("n", [6, 40])
def test_theorem_2_search_among_what_was_retrieved_is_no_look_up(n):
    """Anchor-based search (Def. 13): promotes only what the first retrieval holds already."""
    records, query = family(n)
    authority = Authority(records, [BLACKOUT])
    scores = bm25(records)(query)
    for k in range(1, n + 1):
        top = {id_: scores[id_] for id_ in ranking(scores)[:k]}
        served = resolve({"q": top}, authority.among(top))["q"]
        assert not check_conditions(served, authority, ["d1"]).hold
        assert check_conditions(resolve({"q": top}, authority)["q"], authority, ["d1"]).hold


@settings(max_examples=examples(10), deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 4), hops=st.integers(1, 3))
def test_corollary_3_one_chain_and_its_anchor_make_tca_one(seed, k, hops):
    records, queries = disjoint_corpus(np.random.default_rng(seed), 20, hops)
    authority, index = Authority(records, [LATER]), EntityIndex(records)
    score, reached = bm25(records), 0
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
