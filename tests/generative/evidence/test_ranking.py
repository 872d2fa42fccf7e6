import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.generative.evidence import Key, Matched, aggregate
from argus.generative.settings import Scoring
from tests.support.draws import examples
from tests.support.in_memory_index import in_memory
from tests.support.plain_evidence import plain_aggregate
from tests.support.plain_index import PlainIndex

BORDER, PAD, TITLE_END, QUERY_START = 0, 1, 2, 3
SPECIAL = {"pad": PAD, "title_end": TITLE_END, "query_start": QUERY_START}


@st.composite
def corpora(draw, most=12):
    """Passages over an alphabet of 2 to 50, some of them repeated; token 1 is padding."""
    alphabet = draw(st.sampled_from([2, 3, 5, 12, 50]))
    tokens = st.integers(2, alphabet + 1)
    passages = draw(st.lists(st.lists(tokens, max_size=24), min_size=1, max_size=most))
    repeated = draw(st.lists(st.sampled_from(passages), max_size=4))
    return [*passages, *repeated], alphabet + 4  # some tokens occur nowhere


@st.composite
def key_lists(draw, passages, size):
    """N-grams of passages with borders, self-overlapping ones, and some that occur nowhere."""
    keys = []
    for _ in range(draw(st.integers(0, 14))):
        kind = draw(st.sampled_from(["part", "part", "part", "run", "random"]))
        if kind == "part":
            text = [BORDER, *draw(st.sampled_from(passages)), BORDER]
            start = draw(st.integers(0, len(text) - 1))
            tokens = text[start : start + draw(st.integers(1, 10))]
        elif kind == "run":
            tokens = [draw(st.integers(0, size - 1))] * draw(st.integers(1, 4))
        else:
            tokens = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=4))
        log = draw(st.sampled_from([-0.01, -0.3, -1.0, -2.5, -8.0, -60.0, 0.0, -math.inf]))
        keys.append(Key(tuple(tokens), log - len(tokens) / 7 if log else log, "body"))
    return keys


SCORINGS = st.builds(
    Scoring,
    smoothing=st.sampled_from([0.0, 0.5, 5.0]),
    exponent=st.sampled_from([1.0, 2.0, 2.5]),
    repetition_penalty=st.sampled_from([0.0, 0.8, 1.0]),
    length_penalty=st.sampled_from([0.0, 0.3]),
    max_occurrences=st.sampled_from([1, 3, 10, 1500]),
    full_documents=st.sampled_from([1, 3, 1500]),
    unigrams=st.sampled_from([None, 0, 3, 5000]),
    query_bonus=st.sampled_from([0.0, 14.0]),
)


@st.composite
def cases(draw):
    passages, size = draw(corpora())
    index = PlainIndex(passages, BORDER, vocabulary_size=size, special=SPECIAL)
    keys = draw(key_lists(passages, size))
    unigrams = None
    if draw(st.booleans()):
        seed = draw(st.integers(0, 2**32 - 1))
        logits = np.random.default_rng(seed).normal(0, draw(st.sampled_from([1, 4])), size)
        unigrams = (logits - np.log(np.exp(logits).sum())).astype(np.float32)
    return index, keys, unigrams, draw(SCORINGS), draw(st.sampled_from([1, 2, 5, 100]))


def assert_equal_but_for_rounding(ranked, plain):
    """Same documents, scores and matches; equal scores may change places within rounding."""
    assert len(ranked.documents) == len(ranked.scores) == len(ranked.matched) == len(plain)
    assert ranked.scores == pytest.approx([score for _, score, _ in plain], rel=1e-9, abs=1e-9)
    assert ranked.documents.tolist() == [document for document, _, _ in plain]
    for matched, (_, _, expected) in zip(ranked.matched, plain, strict=True):
        assert [(m.tokens, m.count) for m in matched] == [(t, c) for t, c, _ in expected]
        assert [m.weight for m in matched] == pytest.approx(
            [w for _, _, w in expected], rel=1e-9, abs=1e-9
        )


@settings(max_examples=examples(400), deadline=None)
@given(cases())
def test_ranking_is_the_plain_reading(case):
    index, keys, unigrams, scoring, k = case
    ranked = aggregate(index, keys, unigrams, scoring, k)
    assert_equal_but_for_rounding(ranked, plain_aggregate(index, keys, unigrams, scoring, k))


def test_long_keys_cover_every_block_of_positions():
    text = list(range(4, 204))
    index = PlainIndex([text, text[50:]], BORDER, vocabulary_size=300, special=SPECIAL)
    keys = [Key(tuple(text[10:190]), -0.1, "body"), Key(tuple(text[100:120]), -0.2, "body")]
    ranked = aggregate(index, keys, None, Scoring(), 5)
    assert_equal_but_for_rounding(ranked, plain_aggregate(index, keys, None, Scoring(), 5))
    assert [len(m) for m in ranked.matched] == [1, 1]


def test_three_passages_by_hand():
    # 0: </s> 10 11 12 13 14   1: </s> 10 11 20 21   2: </s> 12 30 31   (15 tokens)
    # Smoothing 0, alpha 1: w = log(odds of the model) - log(odds of the corpus), N = 15.
    # (10 11 12): p = 1/2, c = 1: log 1   - log(1/14) = log 14       = 2.63906
    # (10 11):    p = 0.4, c = 2: log 2/3 - log(2/13) = log(13/3)    = 1.46634
    # (12):       p = 0.3, c = 2: log 3/7 - log(2/13) = log(39/14)   = 1.02451
    # In passage 0 (10 11 12) covers all; the others overlap it.
    passages = [[10, 11, 12, 13, 14], [10, 11, 20, 21], [12, 30, 31]]
    index = PlainIndex(passages, BORDER, vocabulary_size=40, special=SPECIAL)
    keys = [
        Key((10, 11, 12), math.log(0.5), "body"),
        Key((10, 11), math.log(0.4), "body"),
        Key((12,), math.log(0.3), "question"),
        Key((99,), math.log(0.9), "body"),
    ]
    ranked = aggregate(index, keys, None, Scoring(smoothing=0, exponent=1), 10)
    assert ranked.documents.tolist() == [0, 1, 2]
    assert ranked.scores == pytest.approx([math.log(14), math.log(13 / 3), math.log(39 / 14)])
    assert ranked.matched[0] == [Matched((10, 11, 12), 1, ranked.scores[0])]
    assert [ranked.view_of(m[0]) for m in ranked.matched] == ["body", "body", "question"]


def test_many_passages_and_keys_of_a_real_index_grow_every_table():
    rng = np.random.default_rng(0)
    passages = [rng.integers(4, 400, 12).tolist() for _ in range(3000)]
    passages += [[*rng.integers(4, 400, 200).tolist(), 400 + i] for i in range(3)]
    index = in_memory(passages, 420, BORDER, cuts=[1000])
    index.vocabulary = PlainIndex([[4]], BORDER, vocabulary_size=420, special=SPECIAL).vocabulary
    keys = [Key((t,), -1.0 - t / 1000, "body") for t in range(4, 400)]
    keys += [
        Key(tuple(passages[i][:n]), -n / 9, "body") for i in range(0, 3000, 8) for n in range(1, 9)
    ]
    scoring = Scoring(full_documents=700)
    ranked = aggregate(index, keys, None, scoring, 600)
    assert len(ranked.documents) == 600
    assert_equal_but_for_rounding(ranked, plain_aggregate(index, keys, None, scoring, 600))
