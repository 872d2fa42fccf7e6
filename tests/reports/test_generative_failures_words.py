import pytest

from argus.reports.sections.failure_specs import SHOWN
from argus.reports.sections.failure_tables import (
    labels_of,
    p_value,
    said,
    side_by_side,
    signed,
    span,
)


def test_labels_are_short_names_or_letters_and_none_for_one_system():
    assert labels_of(["a very long name indeed"]) == [""]
    assert labels_of(["SEAL", "MINDER"]) == ["SEAL", "MINDER"]
    assert labels_of(["SEAL", "SEAL"]) == ["A", "B"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [(None, "–"), (3, "3"), (28753.4, "28,753"), (0.12345, "0.123"), (1e-18, "0.000"),
     (12.345, "12.3"), (7.0, "7"), ("q1", "q1")],
)  # fmt: skip
def test_numbers_are_said_shortly(number, expected):
    assert said(number) == expected


def test_ranges_and_p_are_said_without_breaks():
    assert span(91.0, 356.5).replace("\u2060", "") == "91–356"
    assert span(-0.2, 0.3) == "-0.200\u00a0to\u00a00.300"
    assert (p_value(0.0004), p_value(0.0449)) == ("<\u00a00.001", "0.045")


def test_differences_have_a_sign_and_no_negative_zero():
    assert signed(-0.0001) == "+0.000"
    assert signed(0.1, -0.25) == "+0.100\u00a0to\u00a0-0.250"


@pytest.mark.parametrize(("text", "small"), [("short", True), ("a long question " * 4, False)])
def test_half_a_page_is_only_for_what_fits_into_it(text, small):
    (shown,) = (s for s in SHOWN if s.name == "title_score_difference")
    found = {"metadata": {"title_score_difference": {"n": 3, "extreme_question": text}}}
    made = side_by_side(shown, {"A": found, "B": found}, 10)
    assert made["rows"] == [["questions", "3", "3"], ["its text", text, text]]
    assert made["small"] is small
