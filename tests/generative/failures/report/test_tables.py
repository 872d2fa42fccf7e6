import pytest

from argus.generative.failures.report.specs import SHOWN
from argus.generative.failures.report.tables import (
    alike,
    by_chance,
    change,
    in_words,
    labels_of,
    p_value,
    part_of,
    side_by_side,
    signed,
    span,
)


def test_labels_are_short_names_or_letters():
    assert labels_of(["a very long name indeed"]) == [""]
    assert labels_of(["SEAL", "MINDER"]) == ["SEAL", "MINDER"]
    assert labels_of(["SEAL", "SEAL"]) == ["A", "B"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [(None, "–"), (3, "3"), (28753.4, "28,753"), (0.12345, "0.123"), (1e-18, "0.000"),
     (12.345, "12.3"), (7.0, "7"), ("q1", "q1")],
)  # fmt: skip
def test_numbers_are_said_shortly(number, expected):
    assert in_words(number) == expected


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


def test_numbers_of_a_row_have_equally_many_decimals():
    assert alike(0.10667, 0.2) == [["0.107", 0.10667], ["0.200", 0.2]]
    assert alike(0.0, 0.201) == [["0.000", 0.0], ["0.201", 0.201]]
    assert alike(9.87654, 123.4) == [["9.9", 9.87654], ["123.4", 123.4]]
    assert alike(25832.47, -3.2) == [["25,832", 25832.47], ["-3", -3.2]]
    assert alike(None, 12.0) == [None, ["12.00", 12.0]]
    assert alike(None, None) == [None, None]


def test_a_share_says_of_how_many():
    assert part_of(9 / 14, 14) == ["64% (9\u00a0of\u00a014)", 9 / 14]
    assert part_of(0.9048, 1234)[0] == "90% (1,117\u00a0of\u00a01,234)"
    assert part_of(None, 0) == ["–", None]


def test_a_difference_has_its_interval_where_there_is_one():
    assert change(0.1, 0.02, 0.18) == "+0.100 (+0.020\u00a0to\u00a0+0.180)"
    assert change(0.1, None, None) == "+0.100"
    assert change(None, None, None) == "–"


@pytest.mark.parametrize(
    ("tests", "said_of_them"), [(42, "about 2 of them"), (20, "about one of them"), (4, None)]
)
def test_many_p_values_come_with_how_many_are_small_by_chance(tests, said_of_them):
    told = by_chance(tests)
    assert bool(told) == (said_of_them is not None)
    if told:
        assert told[0].startswith(f"{tests} p-values are shown; {said_of_them} would be below 0.05")


def test_rows_by_number_are_in_order_whichever_system_has_them():
    (shown,) = (s for s in SHOWN if s.name == "pruned_kept_by")
    one, other = (
        {"replay": {"pruned_kept_by": {"n": 9, "columns": ["beam", "questions"], "rows": rows}}}
        for rows in ([[30, 4], [240, 3], [None, 2]], [[60, 5], [120, 4]])
    )
    made = side_by_side(shown, {"A": one, "B": other}, 10)
    assert made["rows"] == [
        ["30", 4, None], ["60", None, 5], ["120", None, 4], ["240", 3, None],
        ["none of those tried", 2, None],
    ]  # fmt: skip
