import math

import pytest

from argus.generative.failures.tables.generation import generation


def test_deciles_of_frequency_have_ranges_and_hit_rates(rows):
    # 20 questions, two in a decile: frequencies 0..19, the five rarest are hits.
    found = generation(
        rows(
            hit_1=[1] * 5 + [0] * 15,
            hit_k=[1] * 10 + [0] * 10,
            score_all=[1.0] * 20,
            frequency_top=[float(f) for f in range(20)],
            frequency_all=[1.0] * 20,
        )
    )
    table = found["t04_frequency_top_deciles"]
    assert (table["n"], table["mean"], table["indicator"]) == (20, 9.5, "frequency_top")
    assert table["columns"] == ["decile", "low", "high", "mean", "weight", "hit_1", "hit_k"]
    assert table["rows"][0] == [1, 0, 1, 0.5, 2, 1, 1]
    assert table["rows"][2] == [3, 4, 5, 4.5, 2, 0.5, 1]
    assert table["rows"][9] == [10, 18, 19, 18.5, 2, 0, 0]
    # One value for all: every decile is the whole.
    tied = found["t04_frequency_all_deciles"]["rows"]
    assert [row[5:] for row in tied] == [[0.25, 0.5]] * 10


def test_deciles_leave_out_questions_that_are_not_judged(rows):
    found = generation(
        rows(
            hit_1=[1] * 10 + [None] * 3,
            hit_k=[1] * 10 + [None] * 3,
            score_all=[1.0] * 13,
            overlap=[0.1] * 10 + [0.9] * 3,
        )
    )["t06_overlap_deciles"]
    assert (found["n"], found["max"]) == (10, 0.1)


def test_fewer_than_ten_questions_have_no_deciles(rows):
    found = generation(rows(hit_1=[1] * 9, hit_k=[1] * 9, score_all=[1.0] * 9, overlap=[0.5] * 9))
    assert found["t06_overlap_deciles"] == {
        "not_applicable": "Only 9 questions have this figure; deciles need 10."
    }


def test_keys_without_frequency_leave_the_other_tables(rows):
    found = generation(
        rows(
            hit_1=[1] * 10, hit_k=[1] * 10, score_all=[1.0] * 10,
            unigram_share=[0.5] * 10, ngram_words=[1.0, 3.0] * 5,
        )
    )  # fmt: skip
    assert "[n-gram, frequency, score]" in found["t04_frequency_top_deciles"]["not_applicable"]
    assert found["t05_unigram_share_deciles"]["mean"] == 0.5
    words = found["t05_ngram_words"]
    assert (words["n"], words["mean"], words["sigma"], words["median"]) == (10, 2, 1, 2)


def test_hits_with_and_without_the_answer_as_n_gram(rows):
    found = generation(
        rows(
            hit_1=[1, 0, 0, 1, None],
            hit_k=[1, 1, 0, 1, None],
            score_all=[1.0] * 5,
            answer_hit_1=[0] * 5,
            answer_ngram_1=[1, 1, 0, None, 1],
            answer_ngram_k=[1, 1, 0, 1, 1],
        )
    )["t07_answer_ngram"]
    assert found["n"] == 4  # the fourth has a figure for the first k alone
    assert found["columns"][:4] == ["passages", "is", "n", "hit_1"]
    made = {tuple(row[:2]): row[2:] for row in found["rows"]}
    n, hit_1, low, high, hit_k, *_ = made["first", "present"]
    assert (n, hit_1, hit_k) == (2, 0.5, 1)
    assert (low, high) == pytest.approx((0.0945, 0.9055), abs=1e-4)  # Wilson, 1 of 2
    assert made["first", "absent"][:2] == [1, 0]
    assert made["first_k", "present"][:2] == [3, pytest.approx(2 / 3)]


def test_a_group_of_nobody_has_no_rates(rows):
    found = generation(
        rows(hit_1=[1], hit_k=[1], score_all=[1.0], answer_hit_1=[1], answer_ngram_1=[1])
    )["t07_answer_ngram"]
    assert found["rows"][1] == ["first", "absent", 0, None, None, None, None, None, None]


def test_lengths_are_summed_over_questions(rows):
    def of(*first, last=0):
        return [*first, *[0] * (10 - len(first)), last]

    found = generation(
        rows(
            score_all=[1.0, 1.0, None],
            length_ngrams=[of(6, 1), of(2, 0, last=1), None],
            length_weight=[of(6.0, 8.0), of(6.0, last=9.0), None],
            length_counted=[of(4, 1), of(0), None],
            length_log_frequency=[of(8.0, 1.0), of(0.0), None],
        )
    )["lengths"]
    assert (found["n"], found["ngrams"]) == (2, 10)
    made = {row[0]: row[1:] for row in found["rows"]}
    assert list(made) == [*map(str, range(1, 11)), "11+"]
    # 8 unigrams that weigh 12 and 4 of which have frequencies, of 10^2 on average.
    assert made["1"] == [8, 0.8, 1.5, 1.5, 2.0]
    assert made["2"] == [1, 0.1, 8.0, 4.0, 1.0]
    assert made["3"] == [0, 0.0, None, None, None]
    assert made["11+"] == [1, 0.1, 9.0, None, None]
    assert math.isclose(sum(row[1] for row in made.values()), 1)


def test_lengths_do_not_need_frequencies(rows):
    found = generation(
        rows(score_all=[1.0], length_ngrams=[[1] + [0] * 10], length_weight=[[2.0] + [0.0] * 10])
    )["lengths"]
    assert found["rows"][0] == ["1", 1, 1.0, 2.0, 2.0, None]


def test_without_n_grams_nothing_is_zero(rows):
    for table in generation(rows(hit_1=[1] * 12, hit_k=[1] * 12)).values():
        assert "--include_keys" in table["not_applicable"]
