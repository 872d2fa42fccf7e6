import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.entities import ScopeTimes
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.resolve import resolve
from argus.authority.times import parse_moment
from argus.errors import InputError
from tests.support.authorities import LATER, chain, record, relations

RECORDS = [
    *chain("a1", "a2", "a3", scope="a"),
    *chain("b1", "b2", scope="b"),
    record("bare", "doc", 9),
    record("timeless", "doc", None, entity="a"),
]
SCOPES = ScopeTimes(RECORDS)


def test_what_is_later_in_a_scope_is_found_whatever_its_type():
    assert SCOPES.later("a1") == ["a3", "a2"]
    assert SCOPES.later("a3") == []
    scopes = ScopeTimes([*RECORDS, record("noise", "note", 20, entity="a")])
    assert scopes.later("a2") == ["noise", "a3"]


def test_scopes_agree_that_share_and_differ_in_no_key():
    scopes = ScopeTimes(
        [
            record("old", "t", 1, employee="ann", ticker="X"),
            record("ticker-wide", "t", 2, ticker="X"),
            record("other-employee", "t", 3, employee="bob", ticker="X"),
            record("elsewhere", "t", 4, employee="eve", ticker="Z"),
            record("several", "t", 5, employee=("bob", "ann"), ticker="X"),
            record("everyone", "t", 6),
        ]
    )
    assert scopes.later("old") == ["several", "ticker-wide"]


def test_of_a_record_without_time_the_keys_decide_and_it_follows_none_that_has_one():
    assert SCOPES.later("timeless") == ["a3", "a2", "a1"]
    assert "timeless" not in SCOPES.later("a1")


def test_what_may_be_of_the_same_time_is_not_later():
    times = {"year": "2024", "may": "2024-05", "day": "2024-05-03", "next": "2025"}
    records = [Record(id_, "doc", parse_moment(t), {"x": "1"}) for id_, t in times.items()]
    scopes = ScopeTimes(records)
    assert [scopes.later(id_) for id_ in times] == [["next"], ["next"], ["next"], []]


def test_records_are_ordered_by_time_the_latest_first_then_by_id():
    records = [record(id_, "doc", day) for id_, day in [("c", 2), ("a", 1), ("b", 2), ("d", None)]]
    assert ScopeTimes(records).latest_first("abcd") == ["b", "c", "a", "d"]


def test_the_holders_of_most_keys_come_latest_first():
    records = [
        record("both", "t", 1, product="p", cve=("1", "2")),
        record("later", "t", 2, product="p", cve="1"),
        record("one", "t", 3, product="p"),
    ]
    scopes = ScopeTimes(records)
    named = [("product", "p"), ("cve", "1"), ("cve", "2")]
    assert scopes.holders(named) == ["later", "both"], "a key counts once"
    assert scopes.holders(named[:1]) == ["one", "later", "both"]
    assert scopes.holders(named[2:]) == ["both"]
    assert scopes.holders([]) == scopes.holders([("product", "unknown")]) == []


def test_in_each_anchors_place_comes_what_is_later_once():
    anchors = ["bare", "a2", "a1", "b1"]
    assert SCOPES.latest(anchors, 9) == ["bare", "a3", "a2", "b2"]
    assert SCOPES.latest(anchors, 2) == ["bare", "a3"]
    assert SCOPES.latest([], 2) == []


def test_an_unknown_record_is_named():
    for ask in (
        SCOPES.later,
        lambda id_: SCOPES.latest([id_], 1),
        lambda i: SCOPES.latest_first([i]),
    ):
        with pytest.raises(InputError, match="no record 'gone'; expected the id of one of the 7"):
            ask("gone")


@settings(deadline=None)
@given(relations(), st.data())
def test_it_finds_what_a_look_at_every_record_finds(relation, data):
    scopes = ScopeTimes(relation.records)
    one = data.draw(st.sampled_from(relation.records))
    expected = {
        other.id
        for other in relation.records
        if other.id != one.id
        and (one.time is None or (other.time and one.time.before(other.time)))
        and one.entities & other.entities
        and all(
            set(one.values(key)) & set(other.values(key)) for key in one.scope if key in other.scope
        )
    }  # fmt: skip
    found = scopes.later(one.id)
    assert len(found) == len(expected) and set(found) == expected
    assert found == scopes.latest_first(reversed(found))


def test_the_latest_is_right_where_a_scope_holds_one_chain():
    records = [r for i in range(20) for r in chain(f"{i}a", f"{i}b", f"{i}c", scope=f"s{i}")]
    scopes, authority = ScopeTimes(records), Authority(records, [LATER])
    for i in range(20):
        anchor = f"{i}{'abc'[i % 3]}"
        assert scopes.latest([anchor], 1) == list(resolve({"q": {anchor: 1.0}}, authority)["q"])
