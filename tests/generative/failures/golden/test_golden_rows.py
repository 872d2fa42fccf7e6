"""Questions of twelve.json, every figure worked out by hand from docs/failures.md.

Figures of the other questions: see test_golden_tables.py.

Notation: T an n-gram of a title, Q of a pseudo-query, the others of the body; each is followed by
its weight. "1: 2 | 3" are sums or lists over the first, second and third passage.
"""

from tests.generative.failures.golden.twelve import differences


def test_question_0_two_correct_and_the_answer_in_both_views():
    # 1 Linda Davis (correct):      T Linda Davis 8, Linda Davis 2, Q who sang does he love you with
    #                               reba 6, country music 1, Reba 2, duet 1                sum 20
    # 2 Does He Love You (correct): T Does He Love You 4, Linda Davis 2, Reba 2, duet 1    sum 9
    # 3 Reba McEntire (wrong):      T Reba McEntire 3, Reba 2, country music 1             sum 6
    expected = dict(
        query_id="0", question="who sings does he love you with reba", passages=3,
        # R = 2, both of the first two are correct: 2/2. Text 1 holds "Linda Davis".
        positives=2, r_precision=1.0, hit_1=1, hit_k=1, first_correct=1, outcome="PP",
        answer_hit_1=1, answer_hit_k=1,
        # All: 20 + 9 + 6; titles 8 + 4 + 3; Q 6. Correct are 1 and 2: 20 + 9; 8 + 4; 6.
        score_all=35, score_title=15, score_query=6,
        score_correct=29, score_title_correct=12, score_query_correct=6,
        # Only passage 1 has the answer as title (8) and as other (2): 8/2 - 1. In passage 2 the
        # title is another one.
        answer_title_gain=3.0, answer_title_gain_correct=3.0,
        # Correct: (8 + 4)/2. Wrong: 3.
        title_score_correct=6.0, title_score_wrong=3.0,
        # The five heaviest of 1: T 8 (frequency 10), Q 6 (1), Linda Davis 2 (100), Reba 2 (100),
        # then of the two of weight 1 the one listed first, country music (1000):
        # (10 + 1 + 100 + 100 + 1000)/5 = 1211/5. All six, with duet (10): 1221/6.
        frequency_top=242.2, frequency_all=203.5, rarest_top=1,
        # Unigrams Reba and duet of 6. Words: 2 + 2 + 8 + 2 + 1 + 1 = 16, of 6 n-grams.
        unigram_share=2 / 6, ngram_words=16 / 6,
        # Of who sings does he love you with reba (8) all but "sings" are in n-grams.
        overlap=7 / 8, answer_ngram_1=1, answer_ngram_k=1,
        # 8/20. N-grams 6 + 4 + 3; titles 1 + 1 + 1.
        dominance=0.4, ngrams_all=13, title_ngrams_all=3, query_ngrams_all=1,
        ngrams_first=6, query_ngrams_first=1,
        # (Reba 2 + duet 1)/20, 8/20, 6/20.
        unigram_score_share=0.15, title_score_share=0.4, query_score_share=0.3,
        # 16 tokens; different: linda davis who sang does he love you with reba country music duet.
        diversity=13 / 16, title_repetition=1,
        # 8 different n-grams. In correct ones alone: T Linda Davis, Linda Davis, Q, duet, T Does He
        # Love You; in the wrong one alone: T Reba McEntire; in both: Reba, country music.
        keys_correct=5 / 8, keys_wrong=1 / 8, keys_shared=2 / 8,
        # (8 + 2 + 2 + 6 + 1 + 1 + 4)/7; 3; (Reba 2 + 2 + 2, country music 1 + 1)/5.
        weight_correct=24 / 7, weight_wrong=3.0, weight_shared=8 / 5,
        answer_outcome="hit", answer_rank=None,
        # Content words: sings does love reba (who, he, you, with are stop words). Both positives
        # have does, love, reba; "Does He Love": does and love, a stop word between.
        gold_holds_answer=1, gold_terms=3, gold_adjacent=1,
    )  # fmt: skip
    assert differences(0, expected) == {}


def test_question_2_two_of_three_correct_after_a_wrong_one():
    # 1 Raphael (wrong):          T Raphael 6, Sistine Chapel 5, painted the 4 (no frequency),
    #                             Palace 2, Apostolic 2, rooms 1                           sum 20
    # 2 Michelangelo (correct):   T Michelangelo 6, Michelangelo 3, Sistine Chapel 5,
    #                             ceiling 1                                                sum 15
    # 3 Sistine Chapel (correct): T Sistine Chapel 7, Sistine Chapel 4, Palace 2           sum 13
    # 4 Michelangelo (wrong, another passage of that title): T Michelangelo 6, Michelangelo 2   8
    # The third positive, Sistine Chapel ceiling, was not found.
    expected = dict(
        query_id="2", question="who painted the ceiling of the sistine chapel", passages=4,
        # Of the first three, the second and third.
        positives=3, r_precision=2 / 3, hit_1=0, hit_k=1, first_correct=2, outcome="NP",
        # Text 2 holds it first.
        answer_hit_1=0, answer_hit_k=1,
        # 20 + 15 + 13 + 8; 6 + 6 + 7 + 6. Correct: 15 + 13; 6 + 7.
        score_all=56, score_title=25, score_query=0,
        score_correct=28, score_title_correct=13, score_query_correct=0,
        # Passage 2: 6/3 - 1 = 1; passage 4: 6/2 - 1 = 2; mean 1.5. Correct is passage 2 alone.
        answer_title_gain=1.5, answer_title_gain_correct=1.0,
        # (6 + 7)/2; (6 + 6)/2.
        title_score_correct=6.5, title_score_wrong=6.0,
        # The five heaviest are T Raphael 6, Sistine Chapel 5, painted the 4, Palace 2, Apostolic 2;
        # the third has no frequency and leaves the mean: (100 + 100 + 1000 + 100)/4. All that have
        # one: (1300 + 10)/5.
        frequency_top=325.0, frequency_all=262.0, rarest_top=100,
        # Palace, Apostolic, rooms of 6 (the title of one token is none).
        # Words: 1 + 2 + 2 + 1 + 1 + 1 = 8.
        unigram_share=3 / 6, ngram_words=8 / 6,
        # who painted the ceiling of sistine chapel ("the" once): painted the sistine chapel of 7.
        overlap=4 / 7, answer_ngram_1=0, answer_ngram_k=1,
        dominance=6 / 20, ngrams_all=15, title_ngrams_all=4, query_ngrams_all=0,
        ngrams_first=6, query_ngrams_first=0,
        # (2 + 2 + 1)/20; 6/20.
        unigram_score_share=0.25, title_score_share=0.3, query_score_share=0.0,
        # raphael sistine chapel painted the palace apostolic rooms: 8 of 8. Michelangelo twice.
        diversity=1.0, title_repetition=2,
        # 10 different. In correct ones (2, 3) alone: ceiling, T Sistine Chapel. In wrong ones
        # (1, 4) alone: T Raphael, painted the, Apostolic, rooms. In both: Sistine Chapel, Palace,
        # T Michelangelo, Michelangelo.
        keys_correct=2 / 10, keys_wrong=4 / 10, keys_shared=4 / 10,
        # (1 + 7)/2; (6 + 4 + 2 + 1)/4; Sistine Chapel 5 + 5 + 4, Palace 2 + 2, T Michelangelo
        # 6 + 6, Michelangelo 3 + 2: 35 in 9 places.
        weight_correct=4.0, weight_wrong=13 / 4, weight_shared=35 / 9,
        answer_outcome="hit", answer_rank=None,
        # painted, ceiling, sistine, chapel are all in "painted the ceiling of the Sistine Chapel"
        # (and in title and text of the positive that was not found).
        gold_holds_answer=1, gold_terms=4, gold_adjacent=1,
    )  # fmt: skip
    assert differences(2, expected) == {}


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
