"""Two times per record: when it takes effect, and when it became known."""

from __future__ import annotations

import pytest

from argus.authority.relation import Authority
from argus.authority.rules import Order, Record, Rule
from argus.authority.times import FOREVER, parse_moment


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


def test_a_year_counts_when_it_is_over():
    """2024 as a date: only then has it certainly taken effect."""
    authority = Authority([record("coarse", "2024")], [rule("effective")])
    assert not authority.as_of(day("2024-12-30")).in_force("coarse")
    assert authority.as_of(day("2024-12-31")).in_force("coarse")
    assert authority.as_of(day("2024")).in_force("coarse")  # by the end of what is asked for


def test_a_document_before_its_time_takes_no_part():
    """Ordered by publication: interim was known later and has effect, early has none yet."""
    view = Authority(PAIR, [rule("published")]).as_of(day("2024-04-15"))
    assert not view.is_active("early") and view.is_active("interim")
    assert list(view.links("early")) == list(view.older("interim")) == []
    assert view.superseded_by_any(["interim"]) == set()
    assert view.controlling(["early"]) == view.closure(["early"]) == view.frontier(["early"]) == []
    assert Authority(PAIR, [rule("published")]).superseded_by_any(["interim"]) == {"early"}


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
    assert view.at.horizon(Order(order)) == (horizon and day(horizon).end)
    assert Authority(PAIR).at.horizon(Order(order)) == FOREVER
