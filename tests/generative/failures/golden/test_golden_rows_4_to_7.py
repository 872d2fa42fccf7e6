"""Questions 4 to 7 of twelve.json, every figure worked out by hand from docs/autopsy.md.

Notation: see test_golden_rows_0_to_3.py.
"""

from __future__ import annotations

from tests.generative.failures.golden.twelve import differences


def test_question_4_the_positive_is_eleventh_of_twelve():
    # 1 Jupiter: T Jupiter 6, Q which planet has rings 10, moons 4   20
    # 2 Jupiter: T Jupiter 6, moons 4   10      3 Titan: moon 9   9
    # 4 Jupiter: T Jupiter 6, planet 1   7      5 Neptune: planet 7   7
    # 6 Uranus: planet 6   7 Mars: moons 5   8 Venus: planet 4   9 Mercury: planet 3
    # 10 Pluto: moons 3   11 Moons of Saturn (correct): most moons 2   12 Earth: moon 1
    expected = dict(
        query_id="4", question="which planet has the most moons", passages=12,
        positives=1, r_precision=0.0, hit_1=0, hit_k=0, first_correct=11, outcome="NN",
        # Text 3: "Titan is the largest moon of Saturn."
        answer_hit_1=0, answer_hit_k=1,
        # Over the whole list: 20 + 10 + 9 + 7 + 7 + 6 + 5 + 4 + 3 + 3 + 2 + 1; titles 3 x 6.
        score_all=77, score_title=18, score_query=10,
        # The eleventh passage is correct, if beyond k.
        score_correct=2, score_title_correct=0, score_query_correct=0,
        answer_title_gain=None, answer_title_gain_correct=None,
        title_score_correct=None, title_score_wrong=6.0,
        # (10 + 1 + 1000)/3.
        frequency_top=337.0, frequency_all=337.0, rarest_top=1,
        # moons of 3; words 1 + 4 + 1.
        unigram_share=1 / 3, ngram_words=2.0,
        # which planet has the most moons: which planet has, moons of 6.
        overlap=4 / 6, answer_ngram_1=0, answer_ngram_k=0,
        # 3 + 2 + 1 + 2 + 8 x 1 n-grams.
        dominance=0.5, ngrams_all=16, title_ngrams_all=3, query_ngrams_all=1,
        ngrams_first=3, query_ngrams_first=1,
        unigram_score_share=0.2, title_score_share=0.3, query_score_share=0.5,
        # jupiter which planet has rings moons: 6 of 6. Jupiter thrice.
        diversity=1.0, title_repetition=3,
        # The first ten are all wrong.
        keys_correct=0.0, keys_wrong=1.0, keys_shared=0.0,
        # T Jupiter 6 + 6 + 6, Q 10, moons 4 + 4 + 5 + 3, moon 9, planet 1 + 7 + 6 + 4 + 3: 74 in
        # 3 + 1 + 4 + 1 + 5 places.
        weight_correct=None, weight_wrong=74 / 14, weight_shared=None,
        answer_outcome="unannotated", answer_rank=3,
        # planet most moons (which, has, the are stop words); "planet that has the most moons".
        gold_holds_answer=1, gold_terms=3, gold_adjacent=1,
    )  # fmt: skip
    assert differences(4, expected) == {}


def test_question_5_nothing_correct_and_no_answer():
    # 1 Peace treaty:        war and 5, peace 3, novel 2        sum 10
    # 2 Peace of Westphalia: T Peace of Westphalia 4, Peace 3   sum 7
    # 3 Novel:               novel 2                            sum 2
    expected = dict(
        query_id="5", question="who wrote the novel war and peace", passages=3,
        positives=2, r_precision=0.0, hit_1=0, hit_k=0, first_correct=None, outcome="NN",
        answer_hit_1=0, answer_hit_k=0,
        score_all=19, score_title=4, score_query=0,
        score_correct=None, score_title_correct=None, score_query_correct=None,
        answer_title_gain=None, answer_title_gain_correct=None,
        title_score_correct=None, title_score_wrong=4.0,
        frequency_top=100.0, frequency_all=100.0, rarest_top=100,
        # peace, novel of 3; words 2 + 1 + 1.
        unigram_share=2 / 3, ngram_words=4 / 3,
        # who wrote the novel war and peace: war and peace novel of 7.
        overlap=4 / 7, answer_ngram_1=0, answer_ngram_k=0,
        dominance=0.5, ngrams_all=6, title_ngrams_all=1, query_ngrams_all=0,
        ngrams_first=3, query_ngrams_first=0,
        unigram_score_share=0.5, title_score_share=0.0, query_score_share=0.0,
        diversity=1.0, title_repetition=1,
        # " peace" and " Peace" are two n-grams. (5 + 3 + 2 + 4 + 3 + 2)/6 places.
        keys_correct=0.0, keys_wrong=1.0, keys_shared=0.0,
        weight_correct=None, weight_wrong=19 / 6, weight_shared=None,
        answer_outcome="absent", answer_rank=None,
        # wrote novel war peace: positive 1 has war, peace, novel (its title is "War and Peace", so
        # does its text begin), positive 2
        # has wrote. Positive 1 holds "Leo Tolstoy".
        gold_holds_answer=1, gold_terms=3, gold_adjacent=1,
    )  # fmt: skip
    assert differences(5, expected) == {}


def test_question_6_without_answers():
    # 1 Rainbow (correct):      rainbow forms 4, Q how does a rainbow form when the sun shines on
    #                           falling rain 12, rainbow 2, T Rainbow 2                 sum 20
    # 2 Double rainbow (wrong): T Double rainbow 6, rainbow 2                           sum 8
    # 3 Refraction (correct):   sunlight 3                                              sum 3
    expected = dict(
        query_id="6", question="describe how a rainbow forms", passages=3,
        # R = 2: one of the first two.
        positives=2, r_precision=0.5, hit_1=1, hit_k=1, first_correct=1, outcome="PN",
        answer_hit_1=None, answer_hit_k=None,
        # 20 + 8 + 3; 2 + 6; 12. Correct: 20 + 3; 2; 12.
        score_all=31, score_title=8, score_query=12,
        score_correct=23, score_title_correct=2, score_query_correct=12,
        answer_title_gain=None, answer_title_gain_correct=None,
        title_score_correct=2.0, title_score_wrong=6.0,
        # (10 + 1 + 1000 + 10)/4.
        frequency_top=255.25, frequency_all=255.25, rarest_top=1,
        # rainbow of 4 (T Rainbow is a title); words 2 + 12 + 1 + 1.
        unigram_share=1 / 4, ngram_words=4.0,
        # describe how a rainbow forms: all but "describe".
        overlap=4 / 5, answer_ngram_1=None, answer_ngram_k=None,
        dominance=0.6, ngrams_all=7, title_ngrams_all=2, query_ngrams_all=1,
        ngrams_first=4, query_ngrams_first=1,
        unigram_score_share=0.1, title_score_share=0.1, query_score_share=0.6,
        # 16 tokens; rainbow (4 times) forms how does a form when the sun shines on falling rain.
        diversity=13 / 16, title_repetition=1,
        # rainbow forms, Q, T Rainbow, sunlight | T Double rainbow | rainbow.
        keys_correct=4 / 6, keys_wrong=1 / 6, keys_shared=1 / 6,
        # (4 + 12 + 2 + 3)/4; 6; (2 + 2)/2.
        weight_correct=21 / 4, weight_wrong=6.0, weight_shared=2.0,
        answer_outcome=None, answer_rank=None,
        # describe rainbow forms: "A rainbow forms".
        gold_holds_answer=None, gold_terms=2, gold_adjacent=1,
    )  # fmt: skip
    assert differences(6, expected) == {}


def test_question_7_without_positives_and_without_frequencies():
    # 1 Eiffel Tower:   T Eiffel Tower 5, Eiffel Tower 3, opened 2   sum 10
    # 2 Gustave Eiffel: tower 3                                      sum 3
    expected = dict(
        query_id="7", question="when was the eiffel tower opened", passages=2,
        positives=None, r_precision=None, hit_1=None, hit_k=None, first_correct=None, outcome=None,
        # Text 1 holds "1889".
        answer_hit_1=1, answer_hit_k=1,
        score_all=13, score_title=5, score_query=0,
        score_correct=None, score_title_correct=None, score_query_correct=None,
        answer_title_gain=None, answer_title_gain_correct=None,
        title_score_correct=None, title_score_wrong=None,
        frequency_top=None, frequency_all=None, rarest_top=None,
        # opened of 3; words 2 + 2 + 1; eiffel tower opened of 6.
        unigram_share=1 / 3, ngram_words=5 / 3, overlap=3 / 6, answer_ngram_1=0, answer_ngram_k=0,
        dominance=0.5, ngrams_all=4, title_ngrams_all=1, query_ngrams_all=0,
        ngrams_first=3, query_ngrams_first=0,
        unigram_score_share=0.2, title_score_share=0.5, query_score_share=0.0,
        # eiffel tower eiffel tower opened.
        diversity=3 / 5, title_repetition=1,
        keys_correct=None, keys_wrong=None, keys_shared=None,
        weight_correct=None, weight_wrong=None, weight_shared=None,
        answer_outcome=None, answer_rank=None,
        gold_holds_answer=None, gold_terms=None, gold_adjacent=None,
    )  # fmt: skip
    assert differences(7, expected) == {}
