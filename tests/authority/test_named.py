"""Replacement by name, whatever the dates say; equal times decided by id; both told."""

from __future__ import annotations

import pytest

from argus.authority.opening import cover, unruled_types
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Rule, ScopeKey, id_order
from argus.authority.stream import Stream
from argus.authority.times import parse_moment
from argus.errors import InputError

OBSOLETES = Rule("rfc", "rfc", (ScopeKey("obsoletes", "_id"),), name="named", order="named")
NEWER = Rule("rfc", "rfc", "topic", name="newer", ties="id")


def rfc(id_, time=None, *obsoletes, topic="http", **kwargs):
    scope = {"obsoletes": obsoletes, "topic": topic}
    return Record.of(id_, "rfc", scope, time=time, **kwargs)


@pytest.mark.parametrize("times", [("2001", "2000"), ("2000-05", "2000-05"), (None, None)])
def test_a_name_supersedes_whatever_the_dates_say(times):
    authority = Authority([rfc("old", times[0]), rfc("new", times[1], "old")], [OBSOLETES])
    assert authority.controlling(["old"]) == ["new"]
    assert OBSOLETES.holds(authority.record("old"), authority.record("new"))
    (covered,) = cover(authority)
    assert (covered.retired, covered.edges, covered.undecided) == (1, 1, 0)


def test_a_chain_of_names_ends_in_what_nobody_names():
    authority = Authority([rfc("a"), rfc("b", None, "a"), rfc("c", None, "b", "x")], [OBSOLETES])
    assert authority.closure(["a"]) == ["a", "b", "c"]
    assert [link.rule for link in authority.chain("a", "c")] == ["named"] * 2
    assert authority.frontier(["a", "c"]) == ["c"]


def test_mutual_replacement_is_refused_as_a_cycle():
    pair = [rfc("a", "2000", "b"), rfc("b", "2001", "a")]
    with pytest.raises(InputError, match=r"a cycle of 2: 'a', superseded by 'b' \(named\)"):
        Authority(pair, [OBSOLETES])
    authority = Authority(pair[:1], [OBSOLETES])
    with pytest.raises(InputError, match="a cycle of 2"):
        authority.insert(pair[1])
    assert list(authority.records) == ["a"]


def test_what_a_record_names_of_itself_says_nothing():
    by_number = Rule("rfc", "rfc", (ScopeKey("obsoletes", "topic"),), order="named")
    authority = Authority([rfc("a", None, "http"), rfc("b", None, "http", topic="x")], [by_number])
    assert authority.controlling(["a"]) == ["b"]
    assert authority.is_active("b")


def test_a_name_counts_at_an_earlier_time_only_where_its_bearer_does():
    authority = Authority([rfc("old", "2000"), rfc("new", "2005", "old")], [OBSOLETES])
    assert authority.as_of("2004").controlling(["old"]) == ["old"]
    assert authority.as_of("2006").controlling(["old"]) == ["new"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": "named"}, "no key by which one 'rfc' names the other"),
        ({"order": "type", "ties": "id"}, "'rfc' would supersede itself"),
        ({"ties": "ids"}, "ties='ids'; expected 'undecided' or 'id'"),
    ],
)
def test_rules_that_say_nothing_of_an_order_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Rule("rfc", "rfc", "topic", **arguments)


def test_ties_without_times_are_refused():
    with pytest.raises(InputError, match="ties by id, and order named"):
        Rule("rfc", "rfc", (ScopeKey("obsoletes", "_id"),), order="named", ties="id")


def test_equal_times_are_decided_by_id_and_told():
    records = [rfc("r10", "2000-05"), rfc("r9", "2000-05"), rfc("r8", "2000")]
    authority = Authority(records, [NEWER])
    assert authority.controlling(["r9"]) == ["r10"]
    assert [link.rule for link in authority.chain("r9", "r10")] == ["newer (equal times, by id)"]
    assert list(authority.tied) == [Edge("r10", "r9", "newer (equal times, by id)")]
    (covered,) = cover(authority)
    assert covered.undecided == 3  # r8 is of some day of the same year
    assert {frozenset(pair) for pair in covered.pairs} == {
        frozenset(("r8", "r9")), frozenset(("r8", "r10")),
    }  # fmt: skip
    assert Authority(records, [Rule("rfc", "rfc", "topic")]).controlling(["r9"]) == ["r9"]


def test_of_two_types_the_superseding_one_wins_a_tie():
    rule = Rule("patch", "flaw", "cve", ties="id")
    flaw = Record.of("z", "flaw", {"cve": "1"}, time="2024-01-02")
    patch = Record.of("a", "patch", {"cve": "1"}, time="2024-01-02")
    assert Authority([flaw, patch], [rule]).controlling(["z"]) == ["a"]


def test_ties_follow_what_comes_goes_and_is_corrected():
    stream = Stream(Authority([rfc("r1", "2000")], [NEWER]))
    stream.watch("q", ["r1"])
    change = stream.insert(rfc("r2", "2000"))
    assert (change.superseded, change.invalidated) == (("r1",), ("q",))
    assert stream.result("q").frontier == ("r2",)
    change = stream.correct("r2", time=parse_moment("1999"))
    assert stream.result("q").frontier == ("r1",) and change.invalidated == ("q",)
    assert not stream.authority.tied
    stream.correct("r2", time=parse_moment("2000"))
    stream.delete("r2")
    assert stream.result("q").frontier == ("r1",) and not stream.authority.tied


def test_too_many_of_one_time_are_refused():
    with pytest.raises(InputError, match="202 records of http have the time 2000"):
        Authority([rfc(f"r{i}", "2000") for i in range(202)], [NEWER])


def test_ids_are_ordered_as_people_read_them():
    ids = ["RFC10", "RFC9", "2b", "RFC9a", "10", "b"]
    assert sorted(ids, key=id_order) == ["2b", "10", "RFC9", "RFC9a", "RFC10", "b"]
    long = ["9" * 4999, "1" * 5000, "2" * 5000]
    assert sorted(reversed(long), key=id_order) == long


def test_types_that_no_rule_names_are_counted():
    memo, note = Record.of("m", "memo", {}), Record.of("n", "note", {})
    records = [memo, note, Record.of("m2", "memo", {}), rfc("a"), rfc("b")]
    assert [(t["type"], t["records"]) for t in unruled_types(records, [NEWER])] == [
        ("memo", 2), ("note", 1),
    ]  # fmt: skip
    (left,) = unruled_types(records, [NEWER], [Edge("m", "n")])
    assert left == {"type": "memo", "records": 1, "instead": None}
    assert unruled_types(records, []) == []
    rule = Rule("BlackoutAnnounced", "PreClearanceApproved", "ticker")
    events = [Record.of("e", "blackout_announced", {})]
    assert unruled_types(events, [rule])[0]["instead"] == "BlackoutAnnounced"
