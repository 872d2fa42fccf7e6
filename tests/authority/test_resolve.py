import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.config import Chains
from argus.authority.relation import Authority
from argus.authority.resolution import resolve, trace
from argus.authority.rules import Rule
from argus.authority.theory import check_conditions
from argus.data.runs import ranking
from argus.errors import InputError
from tests.support.authorities import LATER, at, chain, record, relations

RECORDS = [
    *chain("a1", "a2", "a3", scope="a"),
    *chain("b1", "b2", scope="b"),
    *chain("c", scope="c"),
]
AUTHORITY = Authority(RECORDS, [LATER])


def ids(scores, authority=AUTHORITY, **options):
    return [hit.id for hit in trace(scores, authority, **options).hits]


@settings(deadline=None)
@given(st.lists(st.floats(-1e300, 1e300) | st.sampled_from([0.0, 1.0])))
def test_falling_lowers_scores_by_no_more_than_it_must(scores):
    found = trace({f"x{i}": score for i, score in enumerate(scores)}, AUTHORITY).hits
    last = math.inf
    for score, hit in zip(sorted(scores, reverse=True), found, strict=True):
        lowered = hit.score
        assert lowered == min(score, math.nextafter(last, -math.inf))
        last = lowered


SCORES = st.integers(0, 3).map(float)


@settings(deadline=None)
@given(relations(), st.data())
def test_nothing_superseded_is_served_and_the_conditions_hold(relation, data):
    authority, above = relation.authority, relation.above()
    scores = data.draw(st.dictionaries(st.sampled_from([*relation.ids, "web"]), SCORES))
    found = trace(scores, authority)
    served = [hit.id for hit in found.hits]
    assert len(served) == len(set(served))
    assert ranking(found.run) == served
    assert not any(above.get(id_) for id_ in served)
    assert check_conditions(served, authority, [a for a in scores if a in authority]).hold
    wanted = {new for a in scores for new in {a} | above.get(a, set()) if not above.get(new)}
    assert set(served) == wanted


@settings(deadline=None)
@given(relations(), st.data())
def test_resolving_twice_changes_nothing(relation, data):
    run = {"q": data.draw(st.dictionaries(st.sampled_from([*relation.ids, "web"]), SCORES))}
    options = {
        "k": data.draw(st.none() | st.integers(1, 4)),
        "anchors": data.draw(st.none() | st.integers(1, 4)),
    }
    once = resolve(run, relation.authority, **options)
    again = resolve(once, relation.authority, k=options["k"])
    assert again == once
    assert list(again["q"]) == list(once["q"])


@settings(deadline=None)
@given(relations(), st.data())
def test_every_hit_comes_by_a_chain_of_links_that_hold(relation, data):
    authority = relation.authority
    scores = data.draw(st.dictionaries(st.sampled_from(relation.ids), SCORES, min_size=1))
    by_id = {record.id: record for record in relation.records}
    for hit in trace(scores, authority).hits:
        ends = [hit.anchor] + [link.superseder for link in hit.chain]
        assert ends[-1] == hit.id
        assert [link.superseded for link in hit.chain] == ends[:-1]
        assert hit.anchor == ranking(scores)[hit.anchor_rank - 1]
        for link in hit.chain:
            assert relation.supersedes(by_id[link.superseded], by_id[link.superseder])


@settings(deadline=None)
@given(relations(), st.integers(1, 6), st.data())
def test_at_any_time_it_does_what_a_corpus_of_that_time_would(relation, day, data):
    limit = at(day)
    by_then = [r for r in relation.records if r.time is None or not limit.before(r.time)]
    there = {r.id for r in by_then}
    edges = [e for e in relation.edges if {e.superseder, e.superseded} <= there]
    scores = data.draw(st.dictionaries(st.sampled_from(relation.ids), SCORES))
    view = trace(scores, relation.authority.as_of(limit))
    then = trace(
        {id_: s for id_, s in scores.items() if id_ in there},
        Authority(by_then, relation.rules, edges),
    )
    assert {hit.id for hit in view.hits} == {hit.id for hit in then.hits}
    assert view.run == then.run


def test_on_request_the_chain_of_the_best_anchor_of_a_scope_is_served_alone():
    records = [
        record("clearance", "cleared", 1, ticker="X"),
        record("blackout", "closed", 2, ticker="X"),
        record("later", "cleared", 3, ticker="X"),
        record("other", "cleared", 3, ticker="Y"),
        record("unscoped", "memo"),
        record("unscoped too", "memo"),
    ]
    authority = Authority(records, [Rule("closed", "cleared", "ticker")])
    scores = {"clearance": 5.0, "later": 4.0, "unscoped": 3.0, "unscoped too": 2.0, "other": 1.0}
    served = ["blackout", "unscoped", "unscoped too", "other"]
    assert ids(scores, authority, chains=Chains.FIRST) == served
    assert ids(scores, authority) == ["blackout", "later", *served[1:]]
    rivals = {"a1": 2.0, "a2": 1.0}  # of one chain
    assert ids(rivals, chains=Chains.FIRST) == ["a3"]


def test_scores_that_are_no_finite_numbers_are_refused():
    with pytest.raises(InputError, match="run"):
        resolve({"q": {"a": float("nan")}}, Authority([]))
