import math
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.config import Chains
from argus.authority.relation import Authority
from argus.authority.resolution import resolve, trace
from argus.authority.rules import Record, Rule
from argus.authority.theory import check_conditions
from argus.data.runs import ranking
from argus.errors import InputError
from tests.support.authorities import LATER, at, chain, relations

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


class TestOneChainPerScope:
    RECORDS = (
        Record.of("clearance", "cleared", {"ticker": "X"}, time="2024-01-01"),
        Record.of("blackout", "closed", {"ticker": "X"}, time="2024-02-01"),
        Record.of("later", "cleared", {"ticker": "X"}, time="2024-03-01"),
        Record.of("other", "cleared", {"ticker": "Y"}, time="2024-03-01"),
        Record.of("unscoped", "memo", {}),
        Record.of("unscoped too", "memo", {}),
    )
    SCORES = MappingProxyType(
        {"clearance": 5.0, "later": 4.0, "unscoped": 3.0, "unscoped too": 2.0, "other": 1.0}
    )

    def test_all_chains_are_served_by_default(self):
        authority = Authority(self.RECORDS, [Rule(("closed",), ("cleared",), "ticker")])
        found = trace(self.SCORES, authority)
        ids = ["blackout", "later", "unscoped", "unscoped too", "other"]
        assert [hit.id for hit in found.hits] == ids

    def test_on_request_only_that_of_the_best_anchor_of_a_scope(self):
        authority = Authority(self.RECORDS, [Rule(("closed",), ("cleared",), "ticker")])
        found = trace(self.SCORES, authority, chains=Chains.FIRST)
        assert [hit.id for hit in found.hits] == ["blackout", "unscoped", "unscoped too", "other"]

    def test_anchors_of_one_chain_are_no_rivals(self):
        rule = Rule(("v",), ("v",), "of")
        records = [Record.of(f"v{i}", "v", {"of": "x"}, time=f"200{i}") for i in range(3)]
        found = trace({"v0": 2.0, "v1": 1.0}, Authority(records, [rule]), chains=Chains.FIRST)
        assert [hit.id for hit in found.hits] == ["v2"]


def test_scores_that_are_no_finite_numbers_are_refused():
    with pytest.raises(InputError, match="run"):
        resolve({"q": {"a": float("nan")}}, Authority([]))
