"""Table 1 of the thesis: n-grams of "who sings does he love me with reba"."""

from itertools import pairwise

import numpy as np
import pytest

from argus.generative.evidence import Key, key_weights
from argus.generative.failures.measures import measure
from argus.generative.settings import Scoring
from tests.generative.failures.measures.making import found, made

SCORES = {
    "</s> Linda Davis": 216.33,
    '"Does He Love': 196.06,
    "Reba": 103.56,
    "country singles": 83.47,
    "country music singer": 39.20,
}
FREQUENCIES = {
    "</s> Linda Davis": 9,
    '"Does He Love': 23,
    "Reba": 1_851,
    "country singles": 777,
    "country music singer": 4_024,
}
CASE = made(
    found(True, SCORES),
    question="who sings does he love me with reba",
    positives=1,
    counts=FREQUENCIES,
)
WIKIPEDIA_TOKENS = 3_000_000_000  # 21 million passages of 100 words, to the order of magnitude
QUERY_START = 3


def eq_2(logs):
    keys = [Key((7,), log, "body") for log in logs]
    counts = np.array(list(FREQUENCIES.values()))
    return key_weights(keys, counts, WIKIPEDIA_TOKENS, QUERY_START, Scoring())


@pytest.mark.parametrize("log", [-0.1, -2.0, -8.0])
def test_at_equal_probability_a_rarer_n_gram_weighs_more(log):
    weights = eq_2([log] * 5)
    by_frequency = weights[np.argsort(list(FREQUENCIES.values()))]
    assert all(rarer > frequent > 0 for rarer, frequent in pairwise(by_frequency))


def test_the_published_order_follows_frequency_but_for_one_pair():
    # "Reba" (1,851) scores above "country singles" (777): the model finds it more probable.
    names = list(SCORES)
    falling = sorted(names, key=lambda name: FREQUENCIES[name])
    assert [names[i] for i in (0, 1, 3, 2, 4)] == falling
    equal = eq_2([-2.0] * 5)
    assert equal[3] > equal[2]
    probable = eq_2([-2.0, -2.0, -2.0, -4.0, -2.0])
    assert probable[2] > probable[3]


def test_dominance_and_title_share():
    # 216.33 + 196.06 + 103.56 + 83.47 + 39.20 = 638.62; the title is the heaviest: 0.33875.
    row = measure(CASE, 10)
    assert sum(SCORES.values()) == pytest.approx(638.62)
    assert row["dominance"] == row["title_score_share"] == pytest.approx(216.33 / 638.62)
    assert row["dominance"] == pytest.approx(0.33875, abs=5e-6)
    # "Reba" is the only unigram: 103.56 / 638.62.
    assert row["unigram_score_share"] == pytest.approx(103.56 / 638.62)


def test_frequency_and_overlap():
    # (9 + 23 + 1851 + 777 + 4024) / 5 = 1336.8; does, he, love, reba of 8 tokens.
    row = measure(CASE, 10)
    assert row["frequency_top"] == row["frequency_all"] == pytest.approx(1336.8)
    assert row["rarest_top"] == 9
    assert (row["overlap"], row["unigram_share"]) == (0.5, 0.2)
