"""Replay: what is pruned by its definition, ranks with it, and questions that have no replay."""

from itertools import chain

import pytest

from argus.data.types import Document
from argus.generative.evidence import Key, aggregate, key_weights
from argus.generative.failures.measures import OF_REPLAY
from argus.generative.failures.replay import replay
from argus.generative.index import build_index
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import Decoding, Mode, Scoring
from tests.support.generating import (
    DOCUMENTS,
    PSEUDO_QUERIES,
    log_probability,
    small_vocabulary,
    tiny_model,
    vast,
)

QUESTIONS = ["where is the tower", "which city in France is known for its tall towers"]
SMALL = {"beams": 3, "body_tokens": 4, "title_tokens": 8, "query_tokens": 12}
FREQUENCIES = Scoring(smoothing=0.01)
EVERYTHING = Scoring(smoothing=0)
# Weighs every n-gram but the least probable: random weights have few above chance.
COLUMNS = list(OF_REPLAY)
# With it, one occurrence is rare enough for random n-grams to be above chance.
LONGER = [*DOCUMENTS, Document("filler", "zz " * 3000)]


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    vocabulary = small_vocabulary()
    folder = tmp_path_factory.mktemp("replay")
    index = build_index(LONGER, vocabulary, folder / "i", pseudo_queries=PSEUDO_QUERIES)
    return vocabulary, index, tiny_model(vocabulary)


def searcher_of(parts, scoring=FREQUENCIES, mode=Mode.MINDER, **decoding):
    _, index, model = parts
    index = vast(index) if scoring is EVERYTHING else index
    return GenerativeSearcher(index, model, mode, Decoding(**{**SMALL, **decoding}), scoring)


def plain_pruned(parts, searcher, question, document):
    """The definition: all n-grams of a passage, scored one by one, that weigh and are no key."""
    vocabulary, index, model = parts
    d = DOCUMENTS[document]
    (text,), end = vocabulary.encode([d.text]), vocabulary.title_end
    body = {
        tuple(text[a:b]) for a in range(len(text)) for b in range(a + 1, min(a + 4, len(text)) + 1)
    }
    title = [(index.border, *t, end) for t in vocabulary.encode([d.title]) if t and len(t) < 8]
    asked = [
        (vocabulary.query_start, *q, end)
        for q in vocabulary.encode(PSEUDO_QUERIES.get(d.id, []))
        if len(q) < 12
    ]
    (written,) = searcher.keys([question])
    have = {key.tokens for key in written.keys}
    plain, titled, of_query = (
        vocabulary.sources([question], marker)[0] for marker in (None, "title", "query")
    )
    found = {}
    for source, free, ngrams in ((plain, 0, body), (titled, 1, title), (of_query, 1, asked)):
        for ngram in ngrams:
            key = Key(ngram, min(0.0, log_probability(model, source, ngram[free:])), "any")
            weights = key_weights(
                [key], index.counts([ngram]), index.n_tokens, vocabulary.query_start,
                searcher.scoring,
            )  # fmt: skip
            if weights[0] > 0 and ngram not in have:
                found[ngram] = weights[0]
    return found


@pytest.mark.parametrize(
    ("question", "document"), [(QUESTIONS[0], 0), (QUESTIONS[1], 1), (QUESTIONS[1], 4)]
)
def test_what_is_pruned_is_what_the_definition_says(parts, question, document):
    searcher = searcher_of(parts)
    replayed = replay(searcher, question, [document])
    want = plain_pruned(parts, searcher, question, document)
    got = {pruned.key.tokens: pruned.weight for pruned in replayed.pruned}
    assert got == pytest.approx(want, abs=1e-3)
    weights = [pruned.weight for pruned in replayed.pruned]
    assert weights == sorted(weights, reverse=True)


def test_a_beam_as_large_as_all_candidates_prunes_nothing(parts):
    searcher = searcher_of(parts, EVERYTHING, beams=600, title_tokens=20, query_tokens=40)
    replayed = replay(searcher, QUESTIONS[0], range(6))
    assert replayed.pruned == ()
    assert replayed.unpruned == replayed.now == 1
    small = searcher_of(parts, EVERYTHING)
    assert replay(small, QUESTIONS[0], range(6)).pruned


def test_pruned_ngrams_are_keys_of_the_second_ranking(parts):
    searcher = searcher_of(parts, EVERYTHING)
    differ = hold = 0
    for question in QUESTIONS:
        (written,) = searcher.keys([question])
        for document in range(6):
            replayed = replay(searcher, question, [document])
            more = [p.key for p in replayed.pruned]
            both = [
                aggregate(searcher.index, keys, written.unigrams, searcher.scoring, 1500)
                for keys in (written.keys, [*written.keys, *more])
            ]
            now, unpruned = (r.documents.tolist().index(document) + 1 for r in both)
            assert (replayed.now, replayed.unpruned) == (now, unpruned)
            held = {m.tokens for m in chain(*both[1].matched)}
            hold += bool(held & {key.tokens for key in more})  # else stronger ones cover them
            differ += now != unpruned
    assert hold
    assert differ
