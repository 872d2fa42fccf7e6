"""Tables of scoring and annotation over the twelve, worked out by hand.

See test_golden_tables.py.
"""

from math import sqrt

import pytest

from argus.generative.failures.measures import to_table
from argus.generative.failures.tables import figures
from tests.generative.failures.golden.twelve import K, alike, lines, rows, tables


def test_table_8_dominance_of_one_n_gram():
    # Judged: 0.4 0.5 0.3 0.75 0.5 0.5 0.6 - - 0.6 0.6 0.5: sum 5.25. Sorted: 2: 0.3; 0: 0.4;
    # 1, 4, 5, 11: 0.5; 6, 9, 10: 0.6; 3: 0.75. D3 to D6 have a quarter of each of the four (hit_1
    # of 1; hit_k of 1 and 11), D7 to D9 a third of each of the three (hit_1 of 6 and 10).
    table = tables()["scoring"]["t08_dominance_deciles"]
    assert (table["n"], table["mean"]) == (10, pytest.approx(0.525))
    expected = [
        [0.3, 0.3, 0.0, 1.0],
        [0.4, 0.4, 1.0, 1.0],
        *[[0.5, 0.5, 1 / 4, 2 / 4]] * 4,
        *[[0.6, 0.6, 2 / 3, 1.0]] * 3,
        [0.75, 0.75, 0.0, 1.0],
    ]
    assert lines(table, "low", "high", "hit_1", "hit_k") == alike(expected)


def test_eleven_questions_make_deciles_of_one_and_a_tenth():
    # Question 2 (0.3, hits 0 and 1) twice: 0.3 0.3 | 0.4 | 0.5 x 4 | 0.6 x 3 | 0.75.
    # D1: 1.1 of the two. D2: the other 0.9 of them, 0.2 of question 0 (hits 1 and 1).
    # D3: the other 0.8 of it, 0.3 of the four at 0.5, whose mean hits are 1/4 and 1/2.
    # D10: question 3 (0.75, hits 0 and 1), 0.1 of the three at 0.6, whose hits are 2/3 and 1.
    twice = [*rows(), {**rows()[2], "query_id": "12"}]
    table = figures(to_table(twice), k=K, seed=0)["scoring"]["t08_dominance_deciles"]
    found = lines(table, "low", "high", "mean", "weight", "hit_1", "hit_k")
    assert table["n"] == 11
    assert [found[at] for at in (0, 1, 2, 9)] == alike(
        [
            [0.3, 0.3, 0.3, 1.1, 0.0, 1.0],
            [0.3, 0.4, (0.27 + 0.08) / 1.1, 1.1, 0.2 / 1.1, 1.0],
            [0.4, 0.5, (0.32 + 0.15) / 1.1, 1.1, (0.8 + 0.3 / 4) / 1.1, (0.8 + 0.3 / 2) / 1.1],
            [0.6, 0.75, (0.75 + 0.06) / 1.1, 1.1, 0.1 * 2 / 3 / 1.1, 1.0],
        ]
    )


def test_pseudo_queries_and_titles_by_count_and_by_score():
    # N-grams 13 5 15 7 16 6 7 4 5 6 2 8: 94; titles 3 1 4 2 3 1 2 1 2 2 1 2: 24; pseudo-queries of
    # 0, 4, 6, 11. Scores as in the shares: 364, 120, 36.
    expected = [
        ["titles", 24, 24 / 94, 120.0, 120 / 364],
        ["pseudo_queries", 4, 4 / 94, 36.0, 36 / 364],
        ["body", 66, 66 / 94, 208.0, 208 / 364],
    ]
    table = tables()["scoring"]["count_and_score"]
    columns = ("identifiers", "ngrams", "share_of_ngrams", "score", "share_of_score")
    assert (table["n"], table["ngrams"], table["score"]) == (12, 94, pytest.approx(364))
    assert lines(table, *columns) == alike(expected)


def test_hits_where_a_pseudo_query_is_in_the_first_passage():
    # Present in 0, 4, 6, 11: hit_1 of 0, 6; hit_k of 0, 6, 11. Not in 1, 2, 3, 5, 9, 10: hit_1 of
    # 1, 10; hit_k of all but 5.
    expected = [["first", "present", 4, 2 / 4, 3 / 4], ["first", "absent", 6, 2 / 6, 5 / 6]]
    table = tables()["scoring"]["query_ngrams"]
    assert lines(table, "passages", "is", "n", "hit_1", "hit_k") == alike(expected)


def test_table_13_number_of_n_grams():
    # Judged: 6 3 6 2 3 3 4 - - 2 2 3: 34; squares 36 + 9 + 36 + 4 + 9 + 9 + 16 + 4 + 4 + 9 = 136;
    # variance 13.6 - 3.4^2 = 2.04. D1 to D3 are each a third of 3, 9, 10 (2 n-grams): hit_1 of 10;
    # mean frequency (100 + 100 + 5.5)/3. D8 is question 6. D9 and D10 are each half of 0 and 2:
    # hit_1 of 0; (203.5 + 262)/2.
    table = tables()["scoring"]["t13_ngrams_first_deciles"]
    names = ("n", "mean", "sigma", "median", "min", "max")
    assert {name: table[name] for name in names} == pytest.approx(
        {"n": 10, "mean": 3.4, "sigma": sqrt(2.04), "median": 3.0, "min": 2.0, "max": 6.0}
    )
    found = lines(table, "low", "high", "hit_1", "hit_k", "frequency_all")
    assert [found[at] for at in (0, 2, 7, 9)] == alike(
        [
            *[[2.0, 2.0, 1 / 3, 1.0, 205.5 / 3]] * 2,
            [4.0, 4.0, 1.0, 1.0, 255.25],
            [6.0, 6.0, 1 / 2, 1.0, 465.5 / 2],
        ]
    )


def test_table_15_hits_by_title_repetition():
    # Once: 0 1 3 5 6 8 9 10: hit_1 of 0, 1, 6, 8, 10; hit_k of all but 5. Twice: 2, 11. Thrice: 4.
    expected = [[1, 8, 5 / 8, 7 / 8], [2, 2, 0.0, 1.0], [3, 1, 0.0, 0.0]]
    table = tables()["scoring"]["t15_title_repetition"]
    assert lines(table, "title_repetition", "n", "hit_1", "hit_k") == alike(expected)


def test_table_17_n_grams_of_correct_and_of_wrong_passages():
    # Of questions 0 1 2 3 4 5 6 8 9 10 11.
    correct = (5 / 8, 1 / 2, 1 / 5, 1 / 6, 0, 0, 4 / 6, 4 / 5, 1 / 4, 1, 2 / 5)
    wrong = (1 / 8, 1 / 4, 2 / 5, 4 / 6, 1, 1, 1 / 6, 1 / 5, 1 / 2, 0, 2 / 5)
    shared = (1 / 4, 1 / 4, 2 / 5, 1 / 6, 0, 0, 1 / 6, 0, 1 / 4, 0, 1 / 5)
    # Weights of 0 1 2 3 6 8 9 10 11; of 0 1 2 3 4 5 6 8 9 11; of 0 1 2 3 6 9 11.
    weights = (
        (24 / 7, 4, 4, 2, 21 / 4, 3, 3, 10, 4),
        (3, 4, 13 / 4, 4, 74 / 14, 19 / 6, 6, 4, 5 / 2, 16 / 3),
        (8 / 5, 2, 35 / 9, 3, 2, 5, 10 / 3),
    )
    means = [sum(w) / len(w) for w in weights]
    sigmas = [
        sqrt(sum((value - mean) ** 2 for value in w) / len(w))
        for w, mean in zip(weights, means, strict=True)
    ]
    expected = [
        [name, sum(shares) / 11, len(w), mean, sigma]
        for name, shares, w, mean, sigma in zip(
            ("correct", "wrong", "shared"), (correct, wrong, shared), weights, means, sigmas,
            strict=True,
        )
    ]  # fmt: skip
    table = tables()["scoring"]["t17_keys"]
    columns = ("in_passages", "mean_share", "questions", "mean_weight", "sigma_weight")
    assert lines(table, *columns) == alike(expected)


def test_table_9_outcomes_of_the_ten_with_answers_and_positives():
    # Hit: 0 1 2 3 8 9 10 11; unannotated: 4; absent: 5.
    expected = [["hit", 8, 0.8], ["unannotated", 1, 0.1], ["absent", 1, 0.1]]
    table = tables()["annotation"]["t09_outcomes"]
    assert table["n"] == 10
    assert lines(table, "outcome", "questions", "share") == alike(expected)


def test_texts_of_the_positives():
    # The answer is in the positives of 0 to 5, 8, 10, 11: hit_1 of 0, 1, 8, 10; hit_k of all but
    # 4, 5; not in those of 9. Terms 3 2 4 4 3 3 2 - 2 2 3 3: 31. Apart in 9 alone: hit_1 of five of
    # the ten others, hit_k of eight.
    texts = tables()["texts"]
    columns = ("is", "n", "hit_1", "hit_k")
    assert lines(texts["gold_holds_answer"], *columns) == alike(
        [["present", 9, 4 / 9, 7 / 9], ["absent", 1, 0.0, 1.0]]
    )
    terms = texts["gold_terms"]
    assert (terms["n"], terms["mean"], terms["median"]) == (11, pytest.approx(31 / 11), 3.0)
    assert lines(texts["gold_adjacent"], *columns) == alike(
        [["present", 10, 5 / 10, 8 / 10], ["absent", 1, 0.0, 1.0]]
    )
