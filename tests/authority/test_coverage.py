import pytest

from argus.authority.opening import cover, require_covered
from argus.authority.relation import Authority
from argus.authority.rules import Record, Rule, ScopeKey
from argus.errors import InputError
from tests.support.relations import holds

BLACKOUT = Rule("blackout", "clearance", "ticker", name="R1")


def event(type_, id_, time):
    return Record.of(id_, type_, {"ticker": "X"}, time=time)


def test_counts_agree_with_every_pair_tried():
    records = [event("clearance", f"c{i}", f"2024-01-{1 + i % 9:02}") for i in range(20)]
    records += [
        event("blackout", f"b{i}", ("2024-01", f"2024-01-{1 + i:02}")[i % 2]) for i in range(9)
    ]
    authority = Authority(records, [BLACKOUT])
    (found,) = cover(authority)
    pairs = [(o, n) for o in records for n in records if holds(BLACKOUT, o, n)]
    assert found["edges"] == len(pairs) and found["retired"] == len({o.id for o, _ in pairs})
    later = {
        o.id for o in records for n in records
        if o.type == "clearance" and n.type == "blackout"
        and not o.time.before(n.time) and not n.time.before(o.time)
    }  # fmt: skip
    assert found["undecided"] == len(later)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            Rule("blakout", "clearance", "ticker"),
            "of 0 records of type blakout, none there.*'blackout'",
        ),
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
    authority = Authority([event("clearance", "a", "2024"), event("blackout", "b", "2025")], [rule])
    with pytest.raises(InputError, match=message):
        require_covered(authority)


OBSOLETES = Rule("rfc", "rfc", (ScopeKey("obsoletes", "_id"),), name="named", order="named")


def rfc(id_, time=None, *obsoletes, topic="http", **kwargs):
    scope = {"obsoletes": obsoletes, "topic": topic}
    return Record.of(id_, "rfc", scope, time=time, **kwargs)


@pytest.mark.parametrize("times", [("2001", "2000"), ("2000-05", "2000-05"), (None, None)])
def test_a_name_supersedes_whatever_the_dates_say(times):
    authority = Authority([rfc("old", times[0]), rfc("new", times[1], "old")], [OBSOLETES])
    assert authority.controlling(["old"]) == ["new"]
    assert holds(OBSOLETES, authority.record("old"), authority.record("new"))
    (covered,) = cover(authority)
    assert [covered[name] for name in ("retired", "edges", "undecided")] == [1, 1, 0]


def test_a_named_order_without_a_name_is_refused():
    with pytest.raises(InputError, match="'rfc' would supersede itself"):
        Rule("rfc", "rfc", "topic", order="named")
