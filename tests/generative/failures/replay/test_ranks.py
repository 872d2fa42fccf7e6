"""Ranks of the best positive, with keys switched off: against the search's whole ranking."""

import numpy as np
import pytest

from argus.data.types import Document
from argus.generative.evidence import Key, aggregate
from argus.generative.failures.replay import best_rank, without
from argus.generative.index import build_index
from argus.generative.settings import Scoring
from argus.generative.vocabulary import train_vocabulary

DOCUMENTS = [
    Document(f"d{n}", " ".join(f"w{i}" for i in range(n % 7, n % 7 + n % 23 + 2)), f"title {n}")
    for n in range(200)
]
SCORING = Scoring(smoothing=0.1)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    texts = [f"{d.title} {d.text}" for d in DOCUMENTS]
    return build_index(
        DOCUMENTS, train_vocabulary(texts, 500), tmp_path_factory.mktemp("ranks") / "i",
        pseudo_queries={"d5": ["what is w3"]},
    )  # fmt: skip


@pytest.fixture(scope="module")
def keys(index):
    encode = index.vocabulary.encode
    body = [
        Key(tuple(tokens), -0.5 - 0.1 * n, "body")
        for n, tokens in enumerate(encode(["w3 w4", "w9 w10", "w20", "w5", "w12 w13 w14"]))
    ]
    v = index.vocabulary
    return [
        *body,
        Key((v.border, *encode(["title 7"])[0], v.title_end), -0.3, "title"),
        Key((v.query_start, *encode(["what is w3"])[0], v.title_end), -3.0, "query"),
    ]


@pytest.fixture(scope="module")
def unigrams(index):
    logits = np.random.default_rng(0).normal(0, 3, index.vocabulary_size)
    return (logits - np.logaddexp.reduce(logits)).astype(np.float32)


@pytest.mark.parametrize("most", [1, 10, 16, 17, 60, 150, 1500])
def test_ranks_are_the_places_in_the_whole_ranking(index, keys, unigrams, most):
    scoring = Scoring(smoothing=0.1, full_documents=most)
    ranked = aggregate(index, keys, unigrams, scoring, most).documents.tolist()
    assert len(ranked) == min(most, len(ranked))
    for document in range(0, 200, 3):
        want = ranked.index(document) + 1 if document in ranked else None
        assert best_rank(index, keys, unigrams, scoring, [document]) == want


@pytest.mark.parametrize("what", ["titles", "queries", "unigrams"])
def test_ranks_without_keys_are_those_of_a_search_without_them(index, keys, unigrams, what):
    left = without(index, keys, what)
    scoring = Scoring(smoothing=0.1, unigrams=0 if what == "unigrams" else 5000)
    ranked = aggregate(index, left, unigrams, scoring, 1500).documents.tolist()
    whole = aggregate(index, keys, unigrams, SCORING, 1500).documents.tolist()
    moved = [n for n in range(200) if n in ranked and ranked.index(n) != whole.index(n)]
    assert moved
    for document in moved[:5]:
        got = best_rank(index, left, unigrams, scoring, [document])
        assert got == ranked.index(document) + 1
