import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.generative.training.examples import is_stop_word, likeness, start_probabilities

PASSAGE = [
    *["It", "was", "long", "ago", "that", "a", "director", "called", "Ida"],
    *["directed", "the", "first", "film", "about", "whales"],
]


def grams(word):
    marked = f"\0{word}\0"
    return {marked[i : i + 3] for i in range(len(marked) - 2)}


def test_likeness_is_dice_of_letter_trigrams():
    found = likeness(["Directed", "director,", "whales", "--"], "Which director directs?")
    a, b = grams("directed"), grams("director")
    assert found[1] == 1 and found[2] < 0.2 and found[3] == 0
    directs = grams("directs")
    assert found[0] == max(2 * len(a & b) / (len(a) + len(b)),
                           2 * len(a & directs) / (len(a) + len(directs)))  # fmt: skip


def plain(passage, question, span):
    """The definition, read aloud."""
    like = likeness(passage, question)
    starts = range(len(passage) - span + 1)
    n = min(3, span)
    scores = []
    for start in starts:
        trigrams = [like[i : i + n].mean() for i in range(start, start + span - n + 1)]
        scores.append(sum(trigrams))
    allowed = [not is_stop_word(passage[i]) for i in starts]
    if not any(allowed):
        allowed = [True] * len(scores)
    weights = np.exp(scores) * allowed
    return weights / weights.sum()


words = st.lists(st.sampled_from([*PASSAGE, "of", "--"]), min_size=2, max_size=25)


@given(words, words.map(" ".join), st.integers(1, 12))
def test_probabilities_are_those_of_the_definition(passage, question, span):
    found = start_probabilities(passage, question, span)
    if len(passage) <= span:
        assert found.tolist() == [1.0]
    else:
        assert found == pytest.approx(plain(passage, question, span))
