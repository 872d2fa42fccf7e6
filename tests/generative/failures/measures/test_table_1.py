"""Table 1 of the thesis: n-grams of "who sings does he love me with reba"."""

import numpy as np
import pytest

from argus.generative.evidence import Key, key_weights
from argus.generative.failures.measures import measure
from argus.generative.failures.reading import BODY, TITLE, Case, Keys, Ngram, Passage, words
from argus.generative.settings import Scoring

# N-gram, view, score, frequency.
TABLE = [
    ("Linda Davis", TITLE, 216.33, 9),
    ('"Does He Love', BODY, 196.06, 23),
    ("Reba", BODY, 103.56, 1_851),
    ("country singles", BODY, 83.47, 777),
    ("country music singer", BODY, 39.20, 4_024),
]
WIKIPEDIA_TOKENS = 3_000_000_000  # 21 million passages of 100 words, to the order of magnitude


def eq_2(logs):
    keys = [Key((7,), log, "body") for log in logs]
    counts = np.array([frequency for *_, frequency in TABLE])
    return key_weights(keys, counts, WIKIPEDIA_TOKENS, 3, Scoring())


def test_a_rarer_n_gram_weighs_more_and_the_published_order_follows_but_for_one_pair():
    # "Reba" (1,851) scores above "country singles" (777): the model finds it more probable.
    falling = sorted(range(5), key=lambda i: TABLE[i][-1])
    assert falling == [0, 1, 3, 2, 4]
    for log in (-0.1, -2.0, -8.0):
        weights = eq_2([log] * 5)[falling]
        assert weights[-1] > 0 and (np.diff(weights) < 0).all()
    probable = eq_2([-2.0, -2.0, -2.0, -4.0, -2.0])
    assert probable[2] > probable[3]


def test_figures_of_the_question():
    question = words("who sings does he love me with reba")
    ngrams = tuple(Ngram(t, view, words(t), words(t), n) for t, view, _, n in TABLE)
    keys = Keys(np.arange(5), np.array([score for _, _, score, _ in TABLE]))
    passages = (Passage("d", "", "", True, keys),)
    row = measure(Case("q", " ".join(question), question, (), None, passages, ngrams), 10)
    # 216.33 + 196.06 + 103.56 + 83.47 + 39.20 = 638.62; the title is the heaviest: 0.33875.
    assert row["dominance"] == row["title_score_share"] == pytest.approx(216.33 / 638.62)
    # "Reba" is the only unigram.
    assert row["unigram_score_share"] == pytest.approx(103.56 / 638.62)
    # (9 + 23 + 1851 + 777 + 4024) / 5 = 1336.8; does, he, love, reba of 8 tokens.
    assert row["frequency_top"] == row["frequency_all"] == pytest.approx(1336.8)
    assert (row["rarest_top"], row["overlap"], row["unigram_share"]) == (9, 0.5, 0.2)
