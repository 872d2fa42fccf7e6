import pytest
from hypothesis import given, settings

from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.resolve import resolve
from argus.authority.scope_only import FullScopes, latest_in_scope, rank_latest, resolve_by_scope
from argus.authority.times import parse_moment
from argus.errors import InputError
from tests.support.authorities import LATER, chain, record, relations

RECORDS = [
    *chain("a1", "a2", "a3", scope="a"),
    *chain("b1", "b2", scope="b"),
    record("wide", "doc", 9, entity="a", other="1"),
    record("bare", "doc", 9),
    record("timeless", "doc", None, entity="t"),
]
INDEX = FullScopes(RECORDS)


def test_the_latest_of_the_whole_scope_is_served_whatever_its_type():
    assert latest_in_scope(INDEX, "a1") == ["a3"]
    assert latest_in_scope(INDEX, "a3") == ["a3"]
    index = FullScopes([*RECORDS, record("noise", "note", 20, entity="a")])
    assert latest_in_scope(index, "a1") == ["noise"]


def test_records_of_a_wider_scope_are_of_another():
    assert latest_in_scope(INDEX, "wide") == ["wide"]
    assert INDEX.scope("wide") == {("entity", "a"), ("other", "1")}


def test_a_record_without_scope_or_a_scope_without_time_stays_as_it_is():
    assert latest_in_scope(INDEX, "bare") == ["bare"]
    assert latest_in_scope(INDEX, "timeless") == ["timeless"]
    index = FullScopes([*RECORDS, record("dated", "doc", 1, entity="t")])
    assert latest_in_scope(index, "timeless") == ["dated"]


def test_equal_and_overlapping_times_are_all_latest_the_latest_start_first():
    times = {"year": "2024", "may": "2024-05", "day": "2024-05-03", "same": "2024-05-03"}
    records = [Record(id_, "doc", parse_moment(t), {"x": "1"}) for id_, t in times.items()]
    records.append(Record("before", "doc", parse_moment("2024-05-02"), {"x": "1"}))
    assert latest_in_scope(FullScopes(records), "before") == ["day", "same", "may", "year"]


def test_a_ranking_keeps_its_order_each_document_once():
    scores = {"b1": 3.0, "a1": 5.0, "a2": 4.0, "gone": 4.5}
    found = rank_latest(scores, INDEX)
    assert found == {"a3": 5.0, "gone": 4.5, "b2": 3.0}
    assert list(found) == ["a3", "gone", "b2"]
    assert list(rank_latest(scores, INDEX, k=2)) == ["a3", "gone"]
    assert list(rank_latest(scores, INDEX, anchors=1)) == ["a3"]


def test_scores_fall_strictly_so_that_order_survives_a_run_file():
    found = rank_latest({"a1": 1.0, "b1": 1.0, "bare": 1.0}, INDEX)
    values = list(found.values())
    assert list(found) == ["a3", "b2", "bare"]
    assert values == sorted(set(values), reverse=True)


def test_a_run_is_resolved_query_by_query():
    run = {"q1": {"a1": 1.0}, "q2": {"b1": 1.0}, "q3": {}}
    assert resolve_by_scope(run, INDEX) == {"q1": {"a3": 1.0}, "q2": {"b2": 1.0}, "q3": {}}


@pytest.mark.parametrize("name", ["k", "anchors"])
def test_depths_below_one_are_named(name):
    with pytest.raises(InputError, match=f"{name}=0"):
        rank_latest({"a1": 1.0}, INDEX, **{name: 0})


def test_an_unknown_anchor_is_named():
    with pytest.raises(InputError, match="no record 'gone'; expected the id of one of the 8"):
        latest_in_scope(INDEX, "gone")


@settings(deadline=None)
@given(relations())
def test_what_is_latest_has_nothing_later_in_its_scope(relation):
    index = FullScopes(relation.records)
    for one in relation.records:
        same = [r for r in relation.records if r.entities == one.entities and r.time]
        expected = {r.id for r in same if not any(r.time.before(other.time) for other in same)}
        if not one.entities or not expected:
            expected = {one.id}
        assert set(latest_in_scope(index, one.id)) == expected


def test_where_a_scope_holds_one_chain_it_does_what_the_rules_do():
    records = [r for i in range(20) for r in chain(f"{i}a", f"{i}b", f"{i}c", scope=f"s{i}")]
    run = {"q": {f"{i}{'abc'[i % 3]}": float(i) for i in range(20)}}
    assert resolve_by_scope(run, FullScopes(records)) == resolve(run, Authority(records, [LATER]))
