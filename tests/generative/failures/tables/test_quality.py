import pytest

from argus.generative.failures.tables.quality import quality
from argus.measures.intervals import wilson


def test_means_have_wilson_intervals_and_say_their_n(rows):
    found = quality(
        rows(
            positives=[1, 2, 1, None],
            r_precision=[1.0, 0.5, 0.0, None],
            hit_1=[1, 1, 0, None],
            hit_k=[1, 1, 1, None],
            answer_hit_1=[1, 0, None, 0],
            answer_hit_k=[1, 1, None, 0],
            outcome=["PN", "PP", "NP", None],
        )
    )
    table = found["quality"]
    assert table["n"] == 4
    made = {row[0]: row[1:] for row in table["rows"]}
    assert made["r_precision"][:2] == [3, 0.5]
    assert made["hit_1"][:2] == [3, pytest.approx(2 / 3)]
    low, high = wilson(2 / 3, 3)
    assert made["hit_1"][2:] == [float(low), float(high)]
    assert made["hit_k"][:2] == [3, 1.0]
    assert made["answer_hit_1"][:2] == [3, pytest.approx(1 / 3)]
    # NN is counted, too: 0 of 3.
    outcomes = found["t16_outcomes"]
    assert outcomes["n"] == 3
    assert [row[:2] for row in outcomes["rows"]] == [["PP", 1], ["PN", 1], ["NP", 1], ["NN", 0]]
    assert [row[2] for row in outcomes["rows"]] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])


def test_positives_are_counted_one_by_one_then_in_tens(rows):
    found = quality(rows(positives=[1, 1, 3, 12, 101, None], hit_1=[0] * 5 + [None]))
    # Mean (1 + 1 + 3 + 12 + 101) / 5; squares 2·22.6² + 20.6² + 11.6² + 77.4² = 7571.2
    sigma = (7571.2 / 5) ** 0.5
    assert found["positives"] == pytest.approx(
        {"n": 5, "mean": 23.6, "sigma": sigma, "median": 3, "min": 1, "max": 101}
    )
    made = found["positives_histogram"]
    assert made["n"] == 5
    assert [row for row in made["rows"] if row[2]] == [
        [1, 1, 2], [3, 3, 1], [11, 20, 1], [101, 101, 1],
    ]  # fmt: skip
    assert len(made["rows"]) == 10 + 9 + 1


def test_a_histogram_ends_with_the_greatest_value(rows):
    made = quality(rows(positives=[1, 3], hit_1=[0, 1]))["positives_histogram"]
    assert made["rows"] == [[1, 1, 1], [2, 2, 0], [3, 3, 1]]


def test_without_positives_it_says_what_to_give(rows):
    found = quality(rows(positives=[None, None], hit_1=[None, None]))
    for table in found.values():
        assert list(table) == ["not_applicable"]
    assert "positive_ctxs" in found["positives"]["not_applicable"]
    assert "--correct answer" in found["t16_outcomes"]["not_applicable"]


def test_answer_hits_need_no_positives(rows):
    found = quality(rows(hit_1=[None, None], answer_hit_1=[1, 0], answer_hit_k=[1, 1]))
    assert [row[:3] for row in found["quality"]["rows"]] == [
        ["answer_hit_1", 2, 0.5], ["answer_hit_k", 2, 1.0],
    ]  # fmt: skip
