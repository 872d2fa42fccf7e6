import pytest

from argus.generative.failures.measures.generation import generation
from tests.generative.failures.measures.making import found, made

SIX = {"a": 9, "b": 1, "c": 5, "d": 5, "e": 5, "f": 5}


def test_frequencies_of_the_five_heaviest_by_hand():
    # a, c, d, e, f are heaviest: (10 + 30 + 40 + 50 + 70) / 5 = 40; with b's 160: 360 / 6 = 60.
    counts = {"a": 10, "b": 160, "c": 30, "d": 40, "e": 50, "f": 70}
    row = generation(made(found(None, SIX), counts=counts), 10)
    assert (row["frequency_top"], row["frequency_all"], row["rarest_top"]) == (40, 60, 10)


def test_of_equally_heavy_n_grams_those_listed_first_count():
    # Six tie, so f is out: (1 + 2 + 3 + 4 + 5) / 5 = 3.
    counts = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 1000}
    row = generation(made(found(None, dict.fromkeys("abcdef", 1)), counts=counts), 10)
    assert row["frequency_top"] == 3


def test_ngrams_without_frequency_are_left_out_of_the_mean():
    # The five heaviest stay a, c, d, e, f; of those c, d are known: (30 + 40) / 2.
    counts = {"a": None, "b": 2, "c": 30, "d": 40, "e": None, "f": None}
    row = generation(made(found(None, SIX), counts=counts), 10)
    assert (row["frequency_top"], row["frequency_all"], row["rarest_top"]) == (35, 24, 30)


def test_without_any_frequency_only_the_frequencies_are_missing():
    row = generation(made(found(None, {"a": 1}), counts={"a": None}), 10)
    assert (row["frequency_top"], row["frequency_all"], row["rarest_top"]) == (None, None, None)
    assert row["unigram_share"] == 1


def test_a_frequency_of_0_is_known():
    row = generation(made(found(None, {"a": 2, "b": 1}), counts={"a": 0, "b": 4}), 10)
    assert (row["frequency_top"], row["rarest_top"]) == (2, 0)


def test_only_the_first_passage_counts():
    case = made(found(None, {"a b": 1}), found(None, {"c": 9}), counts={"a b": 3, "c": 7})
    row = generation(case, 10)
    assert (row["frequency_all"], row["unigram_share"], row["ngram_words"]) == (3, 0, 2)


def test_a_title_or_pseudo_query_of_one_token_is_no_unigram():
    # Of "a", "</s> rome", "|| who", "b c" only the first is one: 1/4. Words: (1 + 1 + 1 + 2) / 4.
    keys = {"a": 1, "</s> rome": 1, "|| who": 1, "b c": 1}
    row = generation(made(found(None, keys)), 10)
    assert (row["unigram_share"], row["ngram_words"]) == (0.25, 1.25)


def test_overlap_is_over_different_tokens_of_the_question():
    # Different: who sang does he (4); "he" and "does" are in n-grams: 2/4.
    case = made(
        found(None, {"does he": 1, "</s> He": 1}), found(None, {"who": 1}),
        question="Who sang does he, he?",
    )  # fmt: skip
    assert generation(case, 10)["overlap"] == 0.5


def test_a_question_without_tokens_has_no_overlap():
    assert generation(made(found(None, {"a": 1}), question="?"), 10)["overlap"] is None


def test_answers_are_looked_for_inside_n_grams():
    case = made(
        found(None, {"old": 1}),
        found(None, {"in old Rome today": 1}),
        answers=["nothing", "Old Rome"],
    )
    first_two = [(row["answer_ngram_1"], row["answer_ngram_k"]) for row in
                 (generation(case, 1), generation(case, 2))]  # fmt: skip
    assert first_two == [(0, 0), (0, 1)]


def test_an_answer_does_not_run_over_two_n_grams():
    case = made(found(None, {"old": 1, "rome": 1}), answers=["old rome"])
    assert generation(case, 1)["answer_ngram_1"] == 0


@pytest.mark.parametrize("first", [found(None), found(None, {})])
def test_passages_below_a_first_without_ngrams_hold_the_answer(first):
    row = generation(made(first, found(None, {"rome": 1}), answers=["rome"], question="a"), 10)
    assert row.pop("answer_ngram_k") == 1
    assert len(row) == 7
    assert set(row.values()) == {None}


@pytest.mark.parametrize("passages", [[], [found(None)], [found(None, {})]])
def test_without_n_grams_nothing_applies(passages):
    row = generation(made(*passages, answers=["rome"], question="a"), 10)
    assert len(row) == 8
    assert set(row.values()) == {None}


def test_without_answers_no_n_gram_holds_one():
    row = generation(made(found(None, {"a": 1})), 10)
    assert (row["answer_ngram_1"], row["answer_ngram_k"]) == (None, None)
