"""Replacement by name, whatever the dates say; equal times decided by id; both told."""

from __future__ import annotations

import pytest

from argus.authority.opening import cover
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Rule, ScopeKey
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
    assert [covered[name] for name in ("retired", "edges", "undecided")] == [1, 1, 0]


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


def test_equal_times_are_decided_by_id_and_told():
    records = [rfc("r10", "2000-05"), rfc("r9", "2000-05"), rfc("r8", "2000")]
    authority = Authority(records, [NEWER])
    assert authority.controlling(["r9"]) == ["r10"]
    assert [link.rule for link in authority.chain("r9", "r10")] == ["newer (equal times, by id)"]
    assert list(authority.tied) == [Edge("r10", "r9", "newer (equal times, by id)")]
    (covered,) = cover(authority)
    assert covered["undecided"] == 3  # r8 is of some day of the same year
    assert {frozenset((p["superseded"], p["superseding"])) for p in covered["undecided_pairs"]} == {
        frozenset(("r8", "r9")), frozenset(("r8", "r10")),
    }  # fmt: skip
    assert Authority(records, [Rule("rfc", "rfc", "topic")]).controlling(["r9"]) == ["r9"]


def test_ties_follow_what_comes_goes_and_is_corrected():
    stream = Stream(Authority([rfc("r1", "2000")], [NEWER]))
    stream.watch("q", ["r1"])
    change = stream.insert(rfc("r2", "2000"))
    assert (change.superseded, change.invalidated) == (("r1",), ("q",))
    assert stream.result("q") == ("r2",)
    change = stream.correct("r2", time=parse_moment("1999"))
    assert stream.result("q") == ("r1",) and change.invalidated == ("q",)
    assert not stream.authority.tied
    stream.correct("r2", time=parse_moment("2000"))
    stream.delete("r2")
    assert stream.result("q") == ("r1",) and not stream.authority.tied
