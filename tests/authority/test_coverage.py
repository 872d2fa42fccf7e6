import pytest

from argus.authority.opening import cover, require_covered
from argus.authority.relation import Authority
from argus.authority.rules import Record, Rule, ScopeKey
from argus.errors import InputError

BLACKOUT = Rule("blackout", "clearance", "ticker", name="R1")


def clearance(id_, time, ticker="X", **metadata):
    scope = {"ticker": ticker} if ticker else {}
    return Record.of(id_, "clearance", scope, time=time, metadata=metadata)


def blackout(id_, time, ticker="X"):
    return Record.of(id_, "blackout", {"ticker": ticker} if ticker else {}, time=time)


def test_counts_agree_with_every_pair_tried():
    records = [clearance(f"c{i}", f"2024-01-{1 + i % 9:02}") for i in range(20)]
    records += [blackout(f"b{i}", ("2024-01", f"2024-01-{1 + i:02}")[i % 2]) for i in range(9)]
    authority = Authority(records, [BLACKOUT])
    (found,) = cover(authority)
    pairs = [(o, n) for o in records for n in records if BLACKOUT.holds(o, n)]
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
    authority = Authority([clearance("a", "2024"), blackout("b", "2025")], [rule])
    with pytest.raises(InputError, match=message):
        require_covered(authority)
