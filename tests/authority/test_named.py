"""Replacement by name, whatever the dates say."""

from __future__ import annotations

import pytest

from argus.authority.opening import cover
from argus.authority.relation import Authority
from argus.authority.rules import Record, Rule, ScopeKey
from argus.errors import InputError

OBSOLETES = Rule("rfc", "rfc", (ScopeKey("obsoletes", "_id"),), name="named", order="named")


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


def test_a_named_order_without_a_name_is_refused():
    with pytest.raises(InputError, match="'rfc' would supersede itself"):
        Rule("rfc", "rfc", "topic", order="named")
