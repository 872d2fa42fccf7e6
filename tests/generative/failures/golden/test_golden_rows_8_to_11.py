"""Questions 8 to 11 of twelve.json, every figure worked out by hand from docs/autopsy.md.

Notation: see test_golden_rows_0_to_3.py.
"""

from __future__ import annotations

from tests.generative.failures.golden.twelve import differences


def test_question_8_the_first_passage_has_no_n_grams():
    # 1 Penicillin (correct):        keys null
    # 2 Alexander Fleming (correct): T Alexander Fleming 7, T Alexander 2 (a beginning),
    #                                Alexander Fleming 1, the same with a comma 2          sum 12
    # 3 Howard Florey (wrong):       penicillin 4                                          sum 4
    expected = dict(
        query_id="8", question="who discovered penicillin", passages=3,
        positives=2, r_precision=1.0, hit_1=1, hit_k=1, first_correct=1, outcome="PP",
        # Text 2 is the first that holds it.
        answer_hit_1=0, answer_hit_k=1,
        # Over the passages that have n-grams: 12 + 4; titles 7 + 2; correct is passage 2.
        score_all=16, score_title=9, score_query=0,
        score_correct=12, score_title_correct=9, score_query_correct=0,
        # As words, both body n-grams are the answer, of the titles the longer: 7/2 - 1.
        answer_title_gain=2.5, answer_title_gain_correct=2.5,
        # 7 + 2 in its one passage.
        title_score_correct=9.0, title_score_wrong=None,
        # Nothing can be said of the first passage's n-grams.
        frequency_top=None, frequency_all=None, rarest_top=None,
        unigram_share=None, ngram_words=None, overlap=None, answer_ngram_1=None,
        # T Alexander Fleming of passage 2.
        answer_ngram_k=1,
        dominance=None, ngrams_all=5, title_ngrams_all=2, query_ngrams_all=0,
        ngrams_first=None, query_ngrams_first=None,
        unigram_score_share=None, title_score_share=None, query_score_share=None,
        diversity=None, title_repetition=1,
        # Four of the five are in passage 2 alone, penicillin in passage 3.
        keys_correct=4 / 5, keys_wrong=1 / 5, keys_shared=0.0,
        # (7 + 2 + 1 + 2)/4.
        weight_correct=3.0, weight_wrong=4.0, weight_shared=None,
        answer_outcome="hit", answer_rank=None,
        # "discovered penicillin".
        gold_holds_answer=1, gold_terms=2, gold_adjacent=1,
    )  # fmt: skip
    assert differences(8, expected) == {}


def test_question_9_terms_apart_and_gold_without_the_answer():
    # 1 Tomato (wrong):      tomatoes 6, of tomatoes 4                          sum 10
    # 2 Tomato soup (wrong): T Tomato soup 1 (frequency 0), tomatoes 6          sum 7
    # 3 Tom (correct):       T Tom 3, tomatoes 3                                sum 6
    expected = dict(
        query_id="9", question="does tom like tomatoes", passages=3,
        positives=1, r_precision=0.0, hit_1=0, hit_k=1, first_correct=3, outcome="NN",
        answer_hit_1=0, answer_hit_k=0,
        score_all=23, score_title=4, score_query=0,
        score_correct=6, score_title_correct=3, score_query_correct=0,
        answer_title_gain=None, answer_title_gain_correct=None,
        title_score_correct=3.0, title_score_wrong=1.0,
        frequency_top=100.0, frequency_all=100.0, rarest_top=100,
        # tomatoes of 2; words 1 + 2; tomatoes of does tom like tomatoes.
        unigram_share=1 / 2, ngram_words=1.5, overlap=1 / 4, answer_ngram_1=0, answer_ngram_k=0,
        dominance=0.6, ngrams_all=6, title_ngrams_all=2, query_ngrams_all=0,
        ngrams_first=2, query_ngrams_first=0,
        unigram_score_share=0.6, title_score_share=0.0, query_score_share=0.0,
        # tomatoes of tomatoes.
        diversity=2 / 3, title_repetition=1,
        # T Tom | of tomatoes, T Tomato soup | tomatoes.
        keys_correct=1 / 4, keys_wrong=2 / 4, keys_shared=1 / 4,
        # 3; (4 + 1)/2; (6 + 6 + 3)/3.
        weight_correct=3.0, weight_wrong=2.5, weight_shared=5.0,
        answer_outcome="hit", answer_rank=None,
        # "Tom likes pizza and tomatoes." has tom and tomatoes, between them likes and pizza, and
        # no "yes". The title, Tom, adds none.
        gold_holds_answer=0, gold_terms=2, gold_adjacent=0,
    )  # fmt: skip
    assert differences(9, expected) == {}


def test_question_10_a_single_passage_for_three_positives():
    # 1 Nile (correct): longest river in Africa 12, T Nile 8   sum 20
    expected = dict(
        query_id="10", question="what is the longest river in africa", passages=1,
        # R = 3; there is no second passage, so it counts as not correct.
        positives=3, r_precision=1 / 3, hit_1=1, hit_k=1, first_correct=1, outcome="PN",
        answer_hit_1=1, answer_hit_k=1,
        score_all=20, score_title=8, score_query=0,
        score_correct=20, score_title_correct=8, score_query_correct=0,
        # The answer is a title n-gram, but no other.
        answer_title_gain=None, answer_title_gain_correct=None,
        title_score_correct=8.0, title_score_wrong=None,
        # (1 + 10)/2.
        frequency_top=5.5, frequency_all=5.5, rarest_top=1,
        # Nile is a title; words 4 + 1; longest river in africa of 7.
        unigram_share=0.0, ngram_words=2.5, overlap=4 / 7, answer_ngram_1=1, answer_ngram_k=1,
        dominance=0.6, ngrams_all=2, title_ngrams_all=1, query_ngrams_all=0,
        ngrams_first=2, query_ngrams_first=0,
        unigram_score_share=0.0, title_score_share=0.4, query_score_share=0.0,
        diversity=1.0, title_repetition=1,
        keys_correct=1.0, keys_wrong=0.0, keys_shared=0.0,
        weight_correct=10.0, weight_wrong=None, weight_shared=None,
        answer_outcome="hit", answer_rank=None,
        # longest river africa: "longest river".
        gold_holds_answer=1, gold_terms=3, gold_adjacent=1,
    )  # fmt: skip
    assert differences(10, expected) == {}


def test_question_11_a_nameless_positive_and_a_passage_twice():
    # 1 Brazil (wrong):                T Brazil 4, Brazil 4, Q what language do people speak in
    #                                  brazil 8                                         sum 16
    # 2 Languages of Brazil (correct): official language 5, Brazil 4, PORTUGUESE 3      sum 12
    # 3 Brazil (wrong, another passage of that title): T Brazil 4, Brazil 2             sum 6
    # 4 is passage 2 again and does not count. The positive has no id; its text differs from that
    # of passage 2 in case and punctuation alone.
    expected = dict(
        query_id="11", question="what language is spoken in brazil", passages=3,
        positives=1, r_precision=0.0, hit_1=0, hit_k=1, first_correct=2, outcome="NP",
        answer_hit_1=0, answer_hit_k=1,
        # 16 + 12 + 6; 4 + 4; 8.
        score_all=34, score_title=8, score_query=8,
        score_correct=12, score_title_correct=0, score_query_correct=0,
        answer_title_gain=None, answer_title_gain_correct=None,
        title_score_correct=None, title_score_wrong=4.0,
        # (100 + 1000 + 1)/3.
        frequency_top=367.0, frequency_all=367.0, rarest_top=1,
        # Brazil of 3 (the other is a title); words 1 + 1 + 7.
        unigram_share=1 / 3, ngram_words=3.0,
        # what language is spoken in brazil: what language in brazil of 6.
        overlap=4 / 6, answer_ngram_1=0, answer_ngram_k=1,
        dominance=0.5, ngrams_all=8, title_ngrams_all=2, query_ngrams_all=1,
        ngrams_first=3, query_ngrams_first=1,
        unigram_score_share=0.25, title_score_share=0.25, query_score_share=0.5,
        # 9 tokens; brazil (3 times) what language do people speak in.
        diversity=7 / 9, title_repetition=2,
        # official language, PORTUGUESE | T Brazil, Q | Brazil.
        keys_correct=2 / 5, keys_wrong=2 / 5, keys_shared=1 / 5,
        # (5 + 3)/2; (4 + 8 + 4)/3; (4 + 4 + 2)/3.
        weight_correct=4.0, weight_wrong=16 / 3, weight_shared=10 / 3,
        answer_outcome="hit", answer_rank=None,
        # language spoken brazil: "language spoken". The title has Languages, another word.
        gold_holds_answer=1, gold_terms=3, gold_adjacent=1,
    )  # fmt: skip
    assert differences(11, expected) == {}
