import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import Document
from argus.generative.evidence import Key, Matched, aggregate
from argus.generative.index import build_index
from argus.generative.searcher import question_ngram_tokens
from argus.generative.settings import Scoring
from argus.generative.vocabulary import train_vocabulary
from tests.support.draws import examples
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


def example():
    """Three passages, borders at 0, 6 and 11; N = 15 tokens.

    0: </s> 10 11 12 13 14
    1: </s> 10 11 20 21
    2: </s> 12 30 31
    """
    passages = [[10, 11, 12, 13, 14], [10, 11, 20, 21], [12, 30, 31]]
    index = PlainIndex(passages, BORDER, vocabulary_size=40, special=SPECIAL)
    keys = [
        Key((10, 11, 12), math.log(0.5), "body"),
        Key((10, 11), math.log(0.4), "body"),
        Key((12,), math.log(0.3), "question"),
        Key((99,), math.log(0.9), "body"),
    ]
    return index, keys


def test_three_passages_by_hand():
    # Smoothing 0, alpha 1: w = log(odds of the model) - log(odds of the corpus), N = 15.
    # (10 11 12): p = 1/2, c = 1: log 1   - log(1/14) = log 14       = 2.63906
    # (10 11):    p = 0.4, c = 2: log 2/3 - log(2/13) = log(13/3)    = 1.46634
    # (12):       p = 0.3, c = 2: log 3/7 - log(2/13) = log(39/14)   = 1.02451
    # Passage 0: (10 11 12) covers all; the others overlap it:        log 14
    # Passage 1: (10 11)                                              log(13/3)
    # Passage 2: (12)                                                 log(39/14)
    index, keys = example()
    ranked = aggregate(index, keys, None, Scoring(smoothing=0, exponent=1), 10)
    assert ranked.documents.tolist() == [0, 1, 2]
    assert ranked.scores == pytest.approx([math.log(14), math.log(13 / 3), math.log(39 / 14)])
    first = ranked.matched[0]
    assert first == [Matched((10, 11, 12), 1, ranked.scores[0])]
    assert [ranked.view_of(m[0]) for m in ranked.matched] == ["body", "body", "question"]


def test_long_keys_cover_every_block_of_positions():
    text = list(range(4, 204))
    index = PlainIndex([text, text[50:]], BORDER, vocabulary_size=300, special=SPECIAL)
    keys = [Key(tuple(text[10:190]), -0.1, "body"), Key(tuple(text[100:120]), -0.2, "body")]
    ranked = aggregate(index, keys, None, Scoring(), 5)
    assert_equal_but_for_rounding(ranked, plain_aggregate(index, keys, None, Scoring(), 5))
    assert [len(m) for m in ranked.matched] == [1, 1]


def test_many_passages_and_keys_grow_every_table():
    rng = np.random.default_rng(0)
    passages = [rng.integers(4, 400, 12).tolist() for _ in range(3000)]
    passages += [[*rng.integers(4, 400, 200).tolist(), 400 + i] for i in range(3)]
    index = _Located(passages, BORDER, vocabulary_size=420, special=SPECIAL)
    keys = [Key((t,), -1.0 - t / 1000, "body") for t in range(4, 400)]
    keys += [
        Key(tuple(passages[i][:n]), -n / 9, "body") for i in range(0, 3000, 8) for n in range(1, 9)
    ]
    scoring = Scoring(full_documents=700)
    ranked = aggregate(index, keys, None, scoring, 600)
    assert len(ranked.documents) == 600
    assert_equal_but_for_rounding(ranked, plain_aggregate(index, keys, None, scoring, 600))


class _Located(PlainIndex):
    """Remembers where n-grams are, so that thousands of keys are bearable."""

    def places(self, ngram):
        memory = self.__dict__.setdefault("memory", {})
        ngram = tuple(ngram)
        if ngram not in memory:
            documents = self.holders().get(ngram[0], [])
            memory[ngram] = [
                (self.starts[d] + p, d)
                for d in documents
                for p in range(len(self.passages[d]))
                if tuple(self.passages[d][p : p + len(ngram)]) == ngram
            ]
        return memory[ngram]

    def holders(self):
        if "held" not in self.__dict__:
            self.held = {}
            for document, passage in enumerate(self.passages):
                for token in set(passage):
                    self.held.setdefault(token, []).append(document)
        return self.held

    def documents_at(self, positions):
        return np.searchsorted(self.starts, positions, side="right") - 1


TEXTS = {
    "Reba McEntire": "Reba McEntire is an American country singer born in Oklahoma.",
    "Linda Davis": "Linda Davis is an American country singer. She sang with Reba McEntire.",
    "Does He Love You": "Does He Love You is a song by Reba McEntire and Linda Davis.",
    "Oklahoma": "Oklahoma is a state of the United States.",
    "Empty of text": "",
}


def test_the_real_index_ranks_as_the_plain_one(tmp_path):
    vocabulary = train_vocabulary([f"{title} {text}" for title, text in TEXTS.items()] * 3, 420)
    documents = [Document(id=t, text=text, title=t) for t, text in TEXTS.items()]
    queries = {"Linda Davis": ["who sings does he love me with reba"]}
    index = build_index(documents, vocabulary, tmp_path / "index", pseudo_queries=queries)
    plain = PlainIndex(
        [index.tokens_of([i])[1][1:].tolist() for i in range(index.n_documents)],
        vocabulary.border, list(TEXTS), vocabulary_size=vocabulary.size,
        special={"pad": vocabulary.pad, "query_start": vocabulary.query_start},
    )  # fmt: skip
    plain.order = index.order
    asked = "who sings does he love me with reba"
    keys = [Key(t, -2.0 * len(t), "question") for t in question_ngram_tokens(asked, vocabulary)]
    head, pseudo = vocabulary.encode(["Linda Davis", asked])
    title = (vocabulary.border, *head, vocabulary.title_end)
    query = (vocabulary.query_start, *pseudo, vocabulary.title_end)
    keys += [Key(title, -0.2, "title"), Key(query, -12.0, "query")]
    unigrams = np.full(vocabulary.size, -math.log(vocabulary.size), np.float32)
    ranked = aggregate(index, keys, unigrams, Scoring(), 5)
    assert_equal_but_for_rounding(ranked, plain_aggregate(plain, keys, unigrams, Scoring(), 5))
    row = [index.id_of(d) for d in ranked.documents].index("Linda Davis")
    assert {"title", "query"} <= {ranked.view_of(m) for m in ranked.matched[row]}
