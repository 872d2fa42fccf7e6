"""Tables over the twelve questions, worked out by hand from the figures of test_golden_rows.py.

Question 7 is not judged (no positives), question 8 has no n-grams in its first passage, questions
6 (no answers) and 7 (no positives) have no outcome of Table 9.
"""

from math import sqrt

import pytest

from tests.generative.failures.golden.twelve import alike, lines, tables


def test_quality_is_over_the_eleven_judged_questions():
    # R-precision of 0 to 6, 8 to 11: 1, 1, 2/3, 0, 0, 0, 1/2, 1, 0, 1/3, 0: sum 4.5.
    # hit_1 of 0, 1, 6, 8, 10; hit_k of all but 4, 5.
    # An answer is in the first text of 0, 1, 7, 10; in one of the first ten of all but 5 and 9;
    # question 6 has none.
    found = tables()
    assert (found["questions"], found["judged"], found["k"]) == (12, 11, 10)
    expected: list[list[object]] = [
        ["r_precision", 11, 4.5 / 11],
        ["hit_1", 11, 5 / 11],
        ["hit_k", 11, 9 / 11],
        ["answer_hit_1", 11, 4 / 11],
        ["answer_hit_k", 11, 9 / 11],
    ]
    table = found["quality"]["quality"]
    assert lines(table, "measure", "n", "mean") == alike(expected)


def test_the_distribution_of_positives():
    # 2 1 3 1 1 2 2 - 2 1 3 1: sum 19; squares 4 + 1 + 9 + 1 + 1 + 4 + 4 + 4 + 1 + 9 + 1 = 39;
    # variance 39/11 - (19/11)^2 = 68/121.
    found = tables()["quality"]
    assert found["positives"] == pytest.approx(
        {"n": 11, "mean": 19 / 11, "sigma": sqrt(68) / 11, "median": 2.0, "min": 1.0, "max": 3.0}
    )


def test_table_16_counts_outcomes():
    # PP 0, 8; PN 1, 6, 10; NP 2, 11; NN 3, 4, 5, 9.
    expected = [["PP", 2, 2 / 11], ["PN", 3, 3 / 11], ["NP", 2, 2 / 11], ["NN", 4, 4 / 11]]
    table = tables()["quality"]["t16_outcomes"]
    assert lines(table, "outcome", "questions", "share") == alike(expected)


def test_shares_of_score_over_all_and_over_correct_passages():
    # Scores 35 16 56 24 77 19 31 13 16 23 20 34: 364. Titles 15 4 25 12 18 4 8 5 9 4 8 8: 120.
    # Pseudo-queries 6 (0), 10 (4), 12 (6), 8 (11): 36.
    titles = (
        *(15 / 35, 4 / 16, 25 / 56, 12 / 24, 18 / 77, 4 / 19),
        *(8 / 31, 5 / 13, 9 / 16, 4 / 23, 8 / 20, 8 / 34),
    )
    queries = (6 / 35, 10 / 77, 12 / 31, 8 / 34)
    # Correct, of questions 0 1 2 3 4 6 8 9 10 11: scores 29 10 28 3 2 23 12 6 20 12: 145.
    # Titles 12 0 13 0 0 2 9 3 8 0: 47. Pseudo-queries 6 (0), 12 (6): 18.
    right = (12 / 29, 13 / 28, 2 / 23, 9 / 12, 3 / 6, 8 / 20)
    asked = (6 / 29, 12 / 23)
    expected = {
        "all": (12, [120 / 364, sum(titles) / 12], [36 / 364, sum(queries) / 12]),
        "correct": (10, [47 / 145, sum(right) / 10], [18 / 145, sum(asked) / 10]),
    }
    for passages, (n, *shares) in expected.items():
        table = tables()["metadata"][f"score_shares_{passages}"]
        assert table["n"] == n
        assert lines(table, "pooled", "mean") == alike(shares)


def test_what_an_answer_weighs_more_as_a_title():
    # All: questions 0, 2, 8: 3, 1.5, 2.5: mean 7/3, from it 4/6, -5/6, 1/6: variance 42/36/3.
    # Correct: 3, 1, 2.5: mean 13/6, from it 5/6, -7/6, 2/6: variance 78/36/3.
    expected = [["all", 3, 7 / 3, sqrt(7 / 18), 2.5], ["correct", 3, 13 / 6, sqrt(13 / 18), 2.5]]
    table = tables()["metadata"]["answer_title_gain"]
    assert lines(table, "passages", "n", "mean", "sigma", "median") == alike(expected)


def test_title_score_of_correct_passages_against_the_others():
    # Questions that have both: 0: 6/3 - 1 = 1; 2: 6.5/6 - 1 = 1/12; 6: 2/6 - 1 = -2/3;
    # 9: 3/1 - 1 = 2. Mean (12 + 1 - 8 + 24)/12/4 = 29/48; median (1/12 + 1)/2 = 13/24;
    # squares 1 + 1/144 + 4/9 + 4 = 785/144; variance 785/576 - (29/48)^2 = 2299/2304.
    table = tables()["metadata"]["title_score_difference"]
    figures = {name: table[name] for name in ("n", "mean", "sigma", "median", "min", "max")}
    assert figures == pytest.approx(
        {
            **{"n": 4, "mean": 29 / 48, "sigma": sqrt(2299) / 48, "median": 13 / 24},
            **{"min": -2 / 3, "max": 2.0},
        }
    )
    assert table["extreme_id"] == "9"


def test_table_4_deciles_share_tied_questions():
    # frequency_top of the ten that are judged and have it, sorted: 10: 5.5; 1: 70; 3, 5, 9: 100;
    # 0: 242.2; 6: 255.25; 2: 325; 4: 337; 11: 367. Every decile weighs 10/10 = 1.
    # D1 is question 10: hits 1 and 1. D2 is question 1.
    # D3, D4, D5 each have a third of 3, 5 and 9: hit_1 0; hit_k (1 + 0 + 1)/3.
    # D9 is question 4: hits 0 and 0. Sum 5.5 + 70 + 300 + 242.2 + 255.25 + 325 + 337 + 367.
    table = tables()["generation"]["t04_frequency_top_deciles"]
    expected = [
        [1, 5.5, 5.5, 5.5, 1.0, 1.0, 1.0],
        [2, 70.0, 70.0, 70.0, 1.0, 1.0, 1.0],
        *([decile, 100.0, 100.0, 100.0, 1.0, 0.0, 2 / 3] for decile in (3, 4, 5)),
        [6, 242.2, 242.2, 242.2, 1.0, 1.0, 1.0],
        [7, 255.25, 255.25, 255.25, 1.0, 1.0, 1.0],
        [8, 325.0, 325.0, 325.0, 1.0, 0.0, 1.0],
        [9, 337.0, 337.0, 337.0, 1.0, 0.0, 0.0],
        [10, 367.0, 367.0, 367.0, 1.0, 0.0, 1.0],
    ]
    columns = ("decile", "low", "high", "mean", "weight", "hit_1", "hit_k")
    assert lines(table, *columns) == alike(expected)
    assert (table["n"], table["mean"]) == (10, pytest.approx(1901.95 / 10))
    # Sorted the fifth and sixth are 100 and 242.2.
    assert table["median"] == pytest.approx(171.1)


def test_spearman_s_rho_of_frequency_and_hits():
    # Ranks of the ten above, less their mean 5.5: 10: -4.5; 1: -3.5; 3, 5, 9 (ranks 3, 4, 5, so 4
    # each): -1.5; 0: 0.5; 6: 1.5; 2: 2.5; 4: 3.5; 11: 4.5. Squares 20.25 + 12.25 + 3 x 2.25 + 0.25
    # + 2.25 + 6.25 + 12.25 + 20.25 = 80.5.
    # hit_1 is 1 for 10, 1, 0, 6: ranks 7 to 10, so 8.5, or +3; the six others 3.5, or -2: squares
    # 4 x 9 + 6 x 4 = 60. Products 3 x (-4.5 - 3.5 + 0.5 + 1.5) - 2 x 6 = -30.
    # hit_k is 0 for 5 and 4: ranks 1.5, or -4; the eight others 6.5, or +1: squares 40. Products
    # -4 x (-1.5 + 3.5) + 1 x (-2) = -10.
    # Two-sided p by Student's t of 8 degrees, with c = 1 - rho^2:
    # 1 - |rho| (1 + c/2 + 3c^2/8 + 5c^3/16).
    table = tables()["correlations"]["correlations"]
    found = {
        (line[0], line[1]): line[2:]
        for line in lines(table, "indicator", "outcome", "n", "rho", "p_value")
    }
    for outcome, rho in (("hit_1", -30 / sqrt(80.5 * 60)), ("hit_k", -10 / sqrt(80.5 * 40))):
        c = 1 - rho**2
        p_value = 1 - abs(rho) * (1 + c / 2 + 3 * c**2 / 8 + 5 * c**3 / 16)
        assert found["frequency_top", outcome] == [10, pytest.approx(rho), pytest.approx(p_value)]


def test_table_5_unigrams_and_words():
    # Unigram share, judged: 1/3 1 1/2 0 1/3 2/3 1/4 - - 1/2 0 1/3: sum 1 + 1 + 1 + 2/3 + 1/4.
    # D1 and D2 are each half of 3 and 10 (share 0): hits (0 + 1)/2 and 1. D10 is question 1.
    generation = tables()["generation"]
    table = generation["t05_unigram_share_deciles"]
    assert (table["n"], table["mean"]) == (10, pytest.approx((3 + 2 / 3 + 1 / 4) / 10))
    rows = lines(table, "low", "high", "hit_1", "hit_k")
    assert [rows[at] for at in (0, 1, 9)] == alike(
        [[0.0, 0.0, 0.5, 1.0], [0.0, 0.0, 0.5, 1.0], [1.0, 1.0, 1.0, 1.0]]
    )
    # Words of the eleven that have them: 8/3 1 4/3 2 2 4/3 4 5/3 - 3/2 5/2 3: sum 23; sorted the
    # sixth is 2.
    words = generation["t05_ngram_words"]
    assert {name: words[name] for name in ("n", "mean", "median", "min", "max")} == pytest.approx(
        {"n": 11, "mean": 23 / 11, "median": 2.0, "min": 1.0, "max": 4.0}
    )


def test_table_6_and_14_overlap_and_diversity():
    # Judged questions 0 to 6, 9, 10, 11.
    overlaps = (7 / 8, 1 / 3, 4 / 7, 2 / 9, 2 / 3, 4 / 7, 4 / 5, 1 / 4, 4 / 7, 2 / 3)
    table = tables()["generation"]["t06_overlap_deciles"]
    assert (table["n"], table["mean"]) == (10, pytest.approx(sum(overlaps) / 10))
    diversities = (13 / 16, 1, 1, 1 / 2, 1, 1, 13 / 16, 2 / 3, 1, 7 / 9)
    table = tables()["scoring"]["t14_diversity_deciles"]
    assert (table["n"], table["mean"]) == (10, pytest.approx(sum(diversities) / 10))
    # The five of diversity 1 (1, 2, 4, 5, 10) are D6 to D10, each a fifth of all: hit_1 of 1 and
    # 10, hit_k of 1, 2 and 10.
    assert lines(table, "low", "high", "hit_1", "hit_k")[5:] == alike([[1.0, 1.0, 0.4, 0.6]] * 5)


def test_table_7_hits_where_the_answer_is_an_n_gram():
    # First: 0, 1, 10 (all hit); not 2, 3, 4, 5, 9, 11: hit_k of 2, 3, 9, 11.
    # First k: 0, 1, 2, 3, 8, 10, 11: hit_1 of 0, 1, 8, 10; not 4, 5, 9: hit_k of 9.
    # Question 6 has no answers, 7 is not judged, 8 has no first n-grams.
    expected = [
        ["first", "present", 3, 1.0, 1.0],
        ["first", "absent", 6, 0.0, 4 / 6],
        ["first_k", "present", 7, 4 / 7, 1.0],
        ["first_k", "absent", 3, 0.0, 1 / 3],
    ]
    table = tables()["generation"]["t07_answer_ngram"]
    assert lines(table, "passages", "is", "n", "hit_1", "hit_k") == alike(expected)
