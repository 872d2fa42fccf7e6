"""Two times per record: when it takes effect, and when it became known."""

import pytest

from argus.authority.relation import Authority
from argus.authority.rules import Record, Rule
from argus.authority.times import parse_moment


def record(id_: str, effective: str | None, published: str | None = None) -> Record:
    return Record(
        id_, "order", parse_moment(effective), {"k": "x"}, published=parse_moment(published)
    )


def rule(order: str) -> Rule:
    return Rule("order", "order", "k", order=order)


# Announced in January for June.
EARLY = record("early", "2024-06-01", "2024-01-10")
# Announced in February for March.
INTERIM = record("interim", "2024-03-01", "2024-02-20")
PAIR = [EARLY, INTERIM]


def day(text: str):
    return parse_moment(text)


@pytest.mark.parametrize(
    ("effective", "known", "controlling"),
    [
        (None, None, ["early"]),  # announced first, in effect later
        ("2024-06-01", None, ["early"]),
        ("2024-04-15", None, ["interim"]),  # early has not taken effect
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
