import pytest

from argus.authority.opening import cover, require_covered
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Rule, ScopeKey
from argus.errors import InputError

BLACKOUT = Rule("blackout", "clearance", "ticker", name="R1")


def clearance(id_, time, ticker="X", **metadata):
    scope = {"ticker": ticker} if ticker else {}
    return Record.of(id_, "clearance", scope, time=time, metadata=metadata)


def blackout(id_, time, ticker="X"):
    return Record.of(id_, "blackout", {"ticker": ticker} if ticker else {}, time=time)


def test_parts_retirements_and_doubts_are_counted_per_rule():
    records = [
        clearance("early", "2024-01-01"), clearance("same-day", "2024-02-01T10:00"),
        clearance("late", "2024-03-01"), clearance("undated", None),
        clearance("unscoped", "2024-01-01", ticker=None),
        blackout("b1", "2024-02-01"), blackout("b2", "2024-02-05"), blackout("other", "2024", "Y"),
    ]  # fmt: skip
    (found,) = cover(Authority(records, [BLACKOUT]))
    assert (found.superseding, found.superseded) == (3, 3)
    assert found.retired == 2  # early, and same-day by b2
    assert found.edges == 3  # early: b1, b2; same-day: b2
    assert found.undecided == 1  # same-day, by b1
    assert found.no_scope == ("unscoped",) and found.no_time == ("undated",)


def test_counts_agree_with_every_pair_tried():
    records = [clearance(f"c{i}", f"2024-01-{1 + i % 9:02}") for i in range(20)]
    records += [blackout(f"b{i}", ("2024-01", f"2024-01-{1 + i:02}")[i % 2]) for i in range(9)]
    authority = Authority(records, [BLACKOUT])
    (found,) = cover(authority)
    pairs = [(o, n) for o in records for n in records if BLACKOUT.holds(o, n)]
    assert found.edges == len(pairs) and found.retired == len({o.id for o, _ in pairs})
    later = {
        o.id for o in records for n in records
        if o.type == "clearance" and n.type == "blackout"
        and not o.time.before(n.time) and not n.time.before(o.time)
    }  # fmt: skip
    assert found.undecided == len(later)


def test_equal_times_under_a_rule_of_one_type_are_undecided():
    rule = Rule("law", "law", "about")
    records = [Record.of(i, "law", {"about": "x"}, time="2001-05-05") for i in "abc"]
    (found,) = cover(Authority(records, [rule]))
    assert found.edges == 0 and found.undecided == 3


def test_rules_by_type_count_every_pair_of_a_scope():
    rule = Rule("blackout", "clearance", "ticker", order="type")
    records = [clearance("a", None), clearance("b", None), blackout("c", None)]
    (found,) = cover(Authority(records, [rule]))
    assert (found.retired, found.edges, found.undecided) == (2, 2, 0)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Rule("blakout", "clearance", "ticker"), "no record is of type 'blakout'.*'blackout'"),
        (Rule("blackout", "clearance", "tiker"), "none has the scope key 'tiker'.*mean 'ticker'"),
        (
            Rule("blackout", "clearance", (ScopeKey("ticker", "symbol"),)),
            "of type clearance, none has the scope key 'symbol'",
        ),
        (
            Rule("blackout", "clearance", "ticker", condition={"superseding.level": ("high",)}),
            "of type blackout, none meets its condition",
        ),
    ],
)
def test_a_rule_that_no_record_can_come_under_is_refused(rule, message):
    authority = Authority([clearance("a", "2024"), blackout("b", "2025")], [rule])
    with pytest.raises(InputError, match=message):
        require_covered(authority)


def test_a_rule_by_time_over_records_without_time_is_refused():
    authority = Authority([clearance("a", None), blackout("b", None)], [BLACKOUT])
    with pytest.raises(InputError, match=r"none has a time.*order: type"):
        require_covered(authority)


def test_one_of_several_types_may_be_absent_and_is_told():
    rule = Rule(("blackout", "watchlist"), "clearance", "ticker")
    found = require_covered(Authority([clearance("a", "2024"), blackout("b", "2025")], [rule]))
    assert found[0].retired == 1 and found[0].absent == ("watchlist",)


def test_an_absent_type_that_is_nearly_another_is_a_typo():
    records = [clearance("a", "2024"), blackout("b", "2025"), Record.of("w", "watchlist", {})]
    rule = Rule(("blackout", "watchlst"), "clearance", "ticker")
    with pytest.raises(InputError, match=r"'watchlst'.*Did you mean 'watchlist'"):
        require_covered(Authority(records, [rule]))


def test_a_record_of_several_scopes_is_retired_once():
    records = [clearance("a", "2024", ("X", "Y")), blackout("b", "2025", ("X", "Y"))]
    (found,) = cover(Authority(records, [BLACKOUT]))
    assert found.retired == 1 and found.undecided == 0


def test_a_scope_key_that_is_a_column_is_told_where_it_belongs():
    records = [Record.of(i, t, {}, time="2024", metadata={"ticker": "X"})
               for i, t in (("a", "clearance"), ("b", "blackout"))]  # fmt: skip
    with pytest.raises(InputError, match=r"It is a column: put it into the records' `entities`"):
        require_covered(Authority(records, [BLACKOUT]))
