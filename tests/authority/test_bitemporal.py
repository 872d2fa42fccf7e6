"""Two times per record: when it takes effect, and when it became known."""

from __future__ import annotations

import pytest

from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Order, Rule
from argus.authority.times import FOREVER, parse_moment
from argus.errors import InputError


def record(id_: str, effective: str | None, published: str | None = None) -> Record:
    return Record(
        id_, "order", parse_moment(effective), {"k": "x"}, published=parse_moment(published)
    )


def rule(order: str) -> Rule:
    return Rule("order", "order", "k", order=order)


EARLY = record("early", "2024-06-01", "2024-01-10")
"""Announced in January for June."""
INTERIM = record("interim", "2024-03-01", "2024-02-20")
"""Announced in February for March."""
PAIR = [EARLY, INTERIM]


def day(text: str):
    return parse_moment(text)


def test_an_earlier_publication_supersedes_by_its_later_effect():
    authority = Authority(PAIR, [rule("effective")])
    assert authority.chain("interim", "early")[0].superseder == "early"
    assert authority.controlling(["interim"]) == ["early"]


def test_the_same_two_are_ordered_the_other_way_by_publication():
    authority = Authority(PAIR, [rule("published")])
    assert authority.controlling(["early"]) == ["interim"]
    assert authority.is_active("interim")


def test_what_has_not_taken_effect_by_then_supersedes_nothing():
    authority = Authority(PAIR, [rule("effective")])
    spring = authority.as_of(day("2024-04-15"))
    assert spring.controlling(["interim"]) == ["interim"]
    assert not spring.in_force("early") and spring.in_force("interim")
    assert authority.as_of(day("2024-06-01")).controlling(["interim"]) == ["early"]
    assert authority.controlling(["interim"]) == ["early"]  # the relation itself is as it was


@pytest.mark.parametrize(
    ("effective", "known", "controlling"),
    [
        ("2024-12-31", "2024-01-31", []),  # interim, which is asked for, was unknown
        ("2024-12-31", "2024-01-05", []),  # nothing was known
        ("2024-02-25", "2024-02-25", []),  # known, without effect yet
        ("2024-04-15", "2024-02-25", ["interim"]),
        ("2024-12-31", "2024-02-25", ["early"]),
    ],
)
def test_what_was_not_known_by_then_counts_for_nothing(effective, known, controlling):
    view = Authority(PAIR, [rule("effective")]).as_of(day(effective), day(known))
    assert view.controlling(["interim"]) == controlling


def test_known_alone_may_be_asked():
    authority = Authority(PAIR, [rule("published")])
    january = authority.as_of(None, day("2024-01-31"))
    assert january.controlling(["early"]) == ["early"]
    assert authority.as_of(None, day("2024-02")).controlling(["early"]) == ["interim"]


def test_without_publication_known_is_when_it_took_effect():
    one, two = record("one", "2024-01-01"), record("two", "2024-02-01")
    assert two.known == two.time
    authority = Authority([one, two], [rule("published")])
    assert authority.controlling(["one"]) == ["two"]
    assert authority.as_of(None, day("2024-01-15")).controlling(["one"]) == ["one"]


def test_a_record_without_any_time_is_always_in_force():
    undated = record("undated", None)
    view = Authority([undated, EARLY], [rule("effective")]).as_of(day("1900"), day("1900"))
    assert view.in_force("undated") and not view.in_force("early")
    assert view.controlling(["undated"]) == ["undated"]


def test_a_year_counts_when_it_is_over():
    """2024 as a date: only then has it certainly taken effect."""
    authority = Authority([record("coarse", "2024")], [rule("effective")])
    assert not authority.as_of(day("2024-12-30")).in_force("coarse")
    assert authority.as_of(day("2024-12-31")).in_force("coarse")
    assert authority.as_of(day("2024")).in_force("coarse")  # by the end of what is asked for


def test_a_record_with_a_publication_alone_takes_effect_then():
    authority = Authority([record("told", None, "2024-02-20")])
    assert not authority.as_of(day("2024-02-19")).in_force("told")
    assert authority.as_of(day("2024-02-20")).in_force("told")


def test_a_document_before_its_time_takes_no_part():
    """Ordered by publication: interim was known later and has effect, early has none yet."""
    view = Authority(PAIR, [rule("published")]).as_of(day("2024-04-15"))
    assert not view.is_active("early") and view.is_active("interim")
    assert list(view.links("early")) == list(view.older("interim")) == []
    assert view.superseded_by_any(["interim"]) == set()
    assert view.controlling(["early"]) == view.closure(["early"]) == view.frontier(["early"]) == []
    assert Authority(PAIR, [rule("published")]).superseded_by_any(["interim"]) == {"early"}


def test_a_chain_does_not_lead_through_what_was_not_in_force():
    records = [record("a", "2024-01-01"), record("b", "2024-02-01"), record("c", "2024-03-01")]
    authority = Authority(records, [rule("effective")])
    view = authority.as_of(day("2024-02-15"))
    assert view.closure(["a"]) == ["a", "b"]
    assert view.frontier(["a", "b", "c"]) == ["b"]
    assert view.frontier(["a", "c"]) == ["a"]
    assert view.chain("a", "c") == []


def test_a_view_counts_its_own_calls_and_is_one():
    authority = Authority(PAIR, [rule("effective")])
    view = authority.as_of(day("2024-04-15"))
    view.closure(["interim"])
    assert view.calls.lookups == 1 and authority.calls.lookups == 0
    assert view.is_view and not authority.is_view
    assert not authority.as_of(None).is_view


def test_a_view_is_not_changed():
    authority = Authority(PAIR, [rule("effective")])
    view = authority.as_of(day("2024-04-15"))
    with pytest.raises(
        InputError, match=r"a view of an earlier time; expected the relation itself"
    ):
        view.insert(record("new", "2024-05-01"))
    with pytest.raises(InputError, match=r"what is past is not changed"):
        view.delete("early")
    assert list(authority.records) == ["early", "interim"]
    authority.insert(record("new", "2024-04-01"))
    assert view.controlling(["interim"]) == ["new"]  # the relation may be, and the view shows it


@pytest.mark.parametrize(
    ("order", "effective", "known", "horizon"),
    [
        ("effective", "2024", None, "2024"),
        ("effective", None, "2024", None),
        ("effective", "2024", "2024", None),
        ("published", None, "2024", "2024"),
        ("published", "2024", None, None),
        ("type", "2024", None, None),
    ],
)
def test_a_rule_has_a_horizon_by_the_time_that_it_orders_by(order, effective, known, horizon):
    view = Authority(PAIR).as_of(effective, known)
    assert view.horizon(Order(order)) == (horizon and day(horizon).end)
    assert Authority(PAIR).horizon(Order(order)) == FOREVER
