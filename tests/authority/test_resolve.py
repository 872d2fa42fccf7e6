import math
from datetime import date
from fractions import Fraction
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.conditions import check_conditions
from argus.authority.config import Chains, Places
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.resolve import resolve, strictly_decreasing, trace
from argus.authority.rules import Edge, Rule
from argus.data.runs import ranking, read_run, write_run
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


def test_what_controls_an_anchor_takes_its_place():
    found = trace({"c": 2.0, "a1": 3.0, "b1": 1.0}, AUTHORITY)
    assert [(h.rank, h.id, h.score, h.anchor, h.anchor_rank) for h in found.hits] == [
        (1, "a3", 3.0, "a1", 1),
        (2, "c", 2.0, "c", 2),
        (3, "b2", 1.0, "b1", 3),
    ]
    assert found.anchors == ("a1", "c", "b1")
    assert found.retired == {"a1": ("a3",), "b1": ("b2",)}
    assert found.unknown == ()


def test_a_hit_carries_the_chain_that_led_to_it():
    authority = Authority(
        [record(id_) for id_ in "xyz"], edges=[Edge("y", "x", "R1"), Edge("z", "y", "R2")]
    )
    (hit,) = trace({"x": 1.0}, authority).hits
    assert [(k.superseded, k.superseder, k.rule) for k in hit.chain] == [
        ("x", "y", "R1"),
        ("y", "z", "R2"),
    ]
    (same,) = trace({"z": 1.0}, authority).hits
    assert same.chain == ()


def test_a_document_of_several_anchors_comes_at_the_best():
    assert ids({"a2": 3.0, "c": 2.0, "a1": 1.0, "a3": 0.5}) == ["a3", "c"]
    assert trace({"a2": 3.0, "a1": 1.0}, AUTHORITY).hits[0].anchor == "a2"


def test_equal_scores_go_by_anchor_and_fall_strictly():
    found = trace({"b1": 1.0, "a1": 1.0, "c": 1.0}, AUTHORITY)
    assert [hit.id for hit in found.hits] == ["a3", "b2", "c"]
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(set(scores), reverse=True)
    assert scores[-1] == pytest.approx(1.0)
    assert ranking(found.run) == ["a3", "b2", "c"]


def test_all_that_control_an_anchor_come_in_its_place():
    rules = [Rule("recall", "label", ("d",)), Rule("warning", "label", ("d",))]
    records = [
        record("l", "label", 1, d="1"),
        record("r", "recall", 2, d="1"),
        record("w", "warning", 3, d="1"),
        record("other", "label", 1, d="2"),
    ]
    found = trace({"l": 2.0, "other": 1.0}, Authority(records, rules))
    assert {hit.id for hit in found.hits[:2]} == {"r", "w"} == set(found.retired["l"])
    assert found.hits[2].id == "other"
    assert found.hits[0].score == 2.0
    assert 1.0 < found.hits[1].score < 2.0


def test_unknown_documents_are_served_as_they_are_and_named():
    found = trace({"a1": 3.0, "web": 2.0}, AUTHORITY)
    assert [hit.id for hit in found.hits] == ["a3", "web"]
    assert found.unknown == ("web",)
    assert found.hits[1].chain == ()


def test_k_cuts_what_is_served_and_anchors_what_is_looked_at():
    scores = {"a1": 4.0, "a2": 3.0, "b1": 2.0, "c": 1.0}
    assert ids(scores, k=2) == ["a3", "b2"]
    assert ids(scores, anchors=2) == ["a3"]
    assert ids(scores, anchors=3, k=9) == ["a3", "b2"]


@pytest.mark.parametrize("name", ["k", "anchors"])
def test_depths_below_one_are_named(name):
    with pytest.raises(InputError, match=f"{name}=0; expected a whole number from 1"):
        trace({"c": 1.0}, AUTHORITY, **{name: 0})


def test_a_list_of_ids_is_a_ranking_best_first():
    assert ids(["a1", "c", "b1"]) == ids({"a1": 3.0, "c": 2.0, "b1": 1.0})
    assert list(resolve({"q": ["c", "a1"]}, AUTHORITY)["q"]) == ["c", "a3"]
    assert ids([]) == []


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, None, "1"])
def test_a_score_that_is_no_finite_number_is_refused(wrong):
    with pytest.raises(InputError, match=r"run: a score of .*; expected finite numbers"):
        ids({"c": 2.0, "a1": wrong})


@pytest.mark.parametrize("wrong", [["a1", "a1"], [7], "a1", 7, [["a1", 1.0]], None])
def test_what_is_no_ranking_is_refused(wrong):
    with pytest.raises(InputError, match="expected scores by document, or different ids"):
        ids(wrong)


def test_superseders_can_come_before_every_anchor_that_is_active():
    scores = {"c": 4.0, "b1": 3.0, "web": 2.0, "a1": 1.0}
    assert ids(scores, places=Places.FIRST) == ["b2", "a3", "c", "web"]
    assert ids(scores, places=Places.FIRST, k=1) == ["b2"]
    found = trace(scores, AUTHORITY, places=Places.FIRST)
    assert [hit.rank for hit in found.hits] == [1, 2, 3, 4]
    assert ranking(found.run) == ["b2", "a3", "c", "web"]


def test_at_an_earlier_time_later_documents_do_not_count():
    early = AUTHORITY.as_of(at(2))
    assert ids({"a1": 3.0, "a3": 2.0, "c": 1.0}, early) == ["a2", "c"]
    assert ids({"a1": 3.0}, AUTHORITY.as_of(at(1))) == ["a1"]


def test_where_nothing_retrieved_was_in_force_nothing_is_served():
    found = trace({"a3": 1.0, "a2": 2.0}, AUTHORITY.as_of(at(1)))
    assert (found.hits, found.run, found.retired) == ((), {}, {})
    assert found.anchors == ("a2", "a3")


def test_doubtful_supersessions_are_followed_up_to_theta():
    rule = Rule("doc", "doc", ("entity",), confidence=0.5)
    authority = Authority(chain("old", "new"), [rule])
    assert ids({"old": 1.0}, authority, theta=0.5) == ["new"]
    assert ids({"old": 1.0}, authority, theta=0.6) == ["old"]


def test_a_run_is_resolved_query_by_query_and_left_as_it_was():
    run = {"q1": {"a1": 1.0}, "q2": {}, "q3": {"b2": 2.0, "b1": 3.0}}
    before = {query: dict(scores) for query, scores in run.items()}
    assert resolve(run, AUTHORITY) == {"q1": {"a3": 1.0}, "q2": {}, "q3": {"b2": 3.0}}
    assert run == before


def test_its_order_survives_a_run_file(tmp_path):
    run = resolve({"q": {"b1": 1.0, "c": 1.0, "a1": 1.0}}, AUTHORITY, places=Places.FIRST)
    write_run(tmp_path / "out.trec", run)
    assert read_run(tmp_path / "out.trec") == run


@settings(deadline=None)
@given(st.lists(st.floats(-1e300, 1e300) | st.sampled_from([0.0, 1.0])))
def test_falling_lowers_scores_by_no_more_than_it_must(scores):
    found = list(strictly_decreasing(scores))
    last = math.inf
    for score, lowered in zip(scores, found, strict=True):
        assert lowered == min(score, math.nextafter(last, -math.inf))
        last = lowered


SCORES = st.integers(0, 3).map(float)


@settings(deadline=None)
@given(relations(), st.data())
def test_nothing_superseded_is_served_and_the_conditions_hold(relation, data):
    authority, above = relation.authority, relation.above()
    scores = data.draw(st.dictionaries(st.sampled_from([*relation.ids, "web"]), SCORES))
    places = data.draw(st.sampled_from(Places))
    found = trace(scores, authority, places=places)
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
        "places": data.draw(st.sampled_from(Places)),
    }
    once = resolve(run, relation.authority, **options)
    again = resolve(once, relation.authority, k=options["k"], places=options["places"])
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


@pytest.mark.parametrize("theta", [math.nan, 1.5, -0.1, math.inf])
def test_a_confidence_that_is_none_is_refused(theta):
    with pytest.raises(InputError, match=rf"theta={theta}; expected a confidence from 0 to 1"):
        resolve({"q": {"a1": 1.0}}, AUTHORITY, theta=theta)


def test_places_and_chains_may_be_given_by_name_and_none_other():
    scores = {"c": 2.0, "a1": 1.0}
    assert ids(scores, places="first") == ids(scores, places=Places.FIRST) == ["a3", "c"]
    assert ids(scores, places="anchor", chains="first") == ["c", "a3"]
    with pytest.raises(InputError, match="places='bogus'; expected 'anchor' or 'first'"):
        trace(scores, AUTHORITY, places="bogus")
    with pytest.raises(InputError, match="chains='bogus'; expected 'all' or 'first'"):
        resolve({"q": scores}, AUTHORITY, chains="bogus")


@pytest.mark.parametrize("field", ["time", "published"])
def test_a_record_of_a_plain_date_says_how_dates_are_given(field):
    with pytest.raises(InputError, match=rf"{field}=.* of 'a'; expected a Moment.*Record\.of"):
        Record("a", "policy", **{field: date(2024, 1, 1)})
    with pytest.raises(InputError, match="scope='tax' of 'a'; expected a mapping"):
        Record("a", "policy", scope="tax")


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
        assert [hit.id for hit in found.hits] == ids and not found.passed_over

    def test_on_request_only_that_of_the_best_anchor_of_a_scope(self):
        authority = Authority(self.RECORDS, [Rule(("closed",), ("cleared",), "ticker")])
        found = trace(self.SCORES, authority, chains=Chains.FIRST)
        assert [hit.id for hit in found.hits] == ["blackout", "unscoped", "unscoped too", "other"]
        assert found.passed_over == {"later": "clearance"}

    def test_anchors_of_one_chain_are_no_rivals(self):
        rule = Rule(("v",), ("v",), "of")
        records = [Record.of(f"v{i}", "v", {"of": "x"}, time=f"200{i}") for i in range(3)]
        found = trace({"v0": 2.0, "v1": 1.0}, Authority(records, [rule]), chains=Chains.FIRST)
        assert [hit.id for hit in found.hits] == ["v2"] and not found.passed_over


@pytest.mark.parametrize(
    "run",
    [
        {1: 1.0, "new": 0.5}, {b"old": 1.0}, {"a": 10**400}, {"a": Fraction(10**400)},
        {"a": float("nan")}, [1, 2],
    ],
)  # fmt: skip
def test_rankings_that_are_none_are_refused(run):
    authority = Authority([Record("1", "t"), Record("new", "t")], edges=[Edge("new", "1")])
    with pytest.raises(InputError, match="run: "):
        resolve({"q": run}, authority)
    with pytest.raises(InputError, match="run: a run that is a list"):
        resolve([run], authority)


@pytest.mark.parametrize("option", [{"k": 1.5}, {"k": "3"}, {"k": True}, {"k": 0},
                                    {"anchors": "2"}, {"theta": "0.5"}])  # fmt: skip
def test_options_of_another_kind_are_refused(option):
    ((name, value),) = option.items()
    with pytest.raises(InputError, match=f"{name}={value!r}; expected a"):
        resolve({"q": {"a": 1.0}}, Authority([Record("a", "t")]), **option)
