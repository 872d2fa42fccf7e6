"""Replay: what is pruned by its definition, ranks with it, and questions that have no replay."""

from itertools import chain

import numpy as np
import pytest

from argus.data.types import Document
from argus.errors import InputError
from argus.generative.decode import Decoding
from argus.generative.evidence import aggregate
from argus.generative.failures.measures.columns import OF_MODEL
from argus.generative.failures.replay import Replay, Replayed
from argus.generative.index import build_index
from argus.generative.keys import Key
from argus.generative.scoring import Scoring, key_weights
from argus.generative.searcher import GenerativeSearcher
from argus.generative.views import Mode
from tests.support.generating import (
    DOCUMENTS,
    PSEUDO_QUERIES,
    log_probability,
    small_vocabulary,
    tiny_model,
)

QUESTIONS = ["where is the tower", "which city in France is known for its tall towers"]
SMALL = {"beams": 3, "body_tokens": 4, "title_tokens": 8, "query_tokens": 12}
FREQUENCIES = Scoring(smoothing=0.01)
EVERYTHING = Scoring(use_frequencies=False)
"""Weighs every n-gram but the least probable: random weights have few above chance."""
LONGER = [*DOCUMENTS, Document("filler", "zz " * 3000)]
"""With it, one occurrence is rare enough for random n-grams to be above chance."""


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    vocabulary = small_vocabulary()
    folder = tmp_path_factory.mktemp("replay")
    index = build_index(LONGER, vocabulary, folder / "i", pseudo_queries=PSEUDO_QUERIES)
    return vocabulary, index, tiny_model(vocabulary)


def searcher_of(parts, scoring=FREQUENCIES, mode=Mode.MINDER, **decoding):
    _, index, model = parts
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


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("document", [0, 1, 4])
def test_what_is_pruned_is_what_the_definition_says(parts, question, document):
    searcher = searcher_of(parts)
    replayed = Replay(searcher).replay(question, [document])
    want = plain_pruned(parts, searcher, question, document)
    got = {pruned.key.tokens: pruned.weight for pruned in replayed.pruned}
    assert got == pytest.approx(want, abs=1e-3)
    weights = [pruned.weight for pruned in replayed.pruned]
    assert weights == sorted(weights, reverse=True)
    for pruned in replayed.pruned:
        assert pruned.text == parts[0].decode(pruned.key.tokens)


def test_some_passages_of_the_tests_have_pruned_ngrams(parts):
    replay = Replay(searcher_of(parts))
    assert any(replay.replay(q, [d]).pruned for q in QUESTIONS for d in range(6))


def test_the_heaviest_one_is_followed_until_it_leaves_and_until_a_beam_keeps_it(parts):
    searcher = searcher_of(parts, EVERYTHING)
    for question in QUESTIONS:
        replayed = Replay(searcher).replay(question, [0])
        first = replayed.pruned[0].key
        view = next(v for v in searcher.views if v.name == first.view)
        free = first.tokens[len(view.search.prefix) :]
        assert 1 <= replayed.left.at <= len(free)
        for beams in (6, 12, 24, 48, 96, 192):
            wider = searcher_of(parts, EVERYTHING, beams=beams)
            written = first.tokens in {k.tokens for k in wider.keys([question])[0].keys}
            assert written == (beams == replayed.kept_by)
            if written:
                break
        else:
            assert replayed.kept_by is None


@pytest.mark.parametrize("rescore", [True, False])
@pytest.mark.parametrize("partial", [True, False])
def test_a_beam_as_large_as_all_candidates_prunes_nothing(parts, rescore, partial):
    searcher = searcher_of(
        parts, EVERYTHING, beams=600, title_tokens=20, query_tokens=40,
        rescore=rescore, partial_titles=partial,
    )  # fmt: skip
    replayed = Replay(searcher).replay(QUESTIONS[0], range(6))
    row = replayed.row()
    assert row["pruned"] == 0
    assert [row[name] for name in OF_MODEL if name.startswith("pruned_")] == [None] * 5
    assert row["rank_unpruned"] == row["rank_now"] == 1
    small = Replay(searcher_of(parts, EVERYTHING, rescore=rescore, partial_titles=partial))
    assert small.replay(QUESTIONS[0], range(6)).row()["pruned"] > 0


def test_pruned_ngrams_are_keys_of_the_second_ranking(parts):
    _, index, _ = parts
    searcher = searcher_of(parts, EVERYTHING)
    differ = hold = 0
    for question in QUESTIONS:
        (written,) = searcher.keys([question])
        for document in range(6):
            replayed = Replay(searcher).replay(question, [document])
            more = [p.key for p in replayed.pruned]
            both = [
                aggregate(index, keys, written.unigrams, searcher.scoring, 1500)
                for keys in (written.keys, [*written.keys, *more])
            ]
            now, unpruned = (r.documents.tolist().index(document) + 1 for r in both)
            assert (replayed.now, replayed.unpruned) == (now, unpruned)
            held = {m.tokens for m in chain(*both[1].matched)}
            hold += bool(held & {key.tokens for key in more})  # else stronger ones cover them
            differ += now != unpruned
    assert hold
    assert differ


def test_ranks_are_of_the_best_of_all_positives(parts):
    replay = Replay(searcher_of(parts, EVERYTHING))
    alone = [replay.replay(QUESTIONS[0], [d]).now for d in range(6)]
    assert replay.replay(QUESTIONS[0], [3, 5, 2, 0]).now == min(alone[d] for d in (3, 5, 2, 0))


def test_ngrams_are_those_of_the_first_three_positives_each_taken_once(parts):
    replay = Replay(searcher_of(parts, EVERYTHING))
    three, five = (replay.replay(QUESTIONS[0], p) for p in ([0, 1, 2], [0, 1, 0, 2, 4, 3]))
    assert five.pruned == three.pruned
    assert five.positives == (0, 1, 2, 4, 3)


def test_a_row_has_the_columns_of_the_model_in_their_order(parts):
    row = Replay(searcher_of(parts, EVERYTHING)).replay(QUESTIONS[0], [np.int64(0)]).row()
    assert list(row) == list(OF_MODEL)
    assert None not in (row["rank_without_titles"], row["rank_without_queries"])
    assert {type(row[name]) for name in ("pruned", "pruned_at", "pruned_rank", "rank_now")} == {int}


@pytest.mark.parametrize(("question", "positives"), [(QUESTIONS[0], []), (" ", [0]), ("", [0])])
def test_without_a_positive_or_words_nothing_is_replayed(parts, question, positives):
    replayed = Replay(searcher_of(parts)).replay(question, positives)
    assert replayed == Replayed(tuple(positives))
    assert replayed.row() == dict.fromkeys(OF_MODEL)


def test_a_positive_of_nothing_but_a_title_is_replayed(parts):
    replayed = Replay(searcher_of(parts, EVERYTHING, beams=1)).replay(QUESTIONS[1], [4])
    assert {p.key.view for p in replayed.pruned} <= {"title"}


def test_an_index_without_titles_has_no_rank_without_them(parts, tmp_path):
    vocabulary, _, model = parts
    index = build_index(DOCUMENTS, vocabulary, tmp_path / "i", titles=False)
    searcher = GenerativeSearcher(index, model, Mode.SEAL, Decoding(**SMALL), EVERYTHING)
    row = Replay(searcher).replay(QUESTIONS[0], [0]).row()
    assert (row["rank_without_titles"], row["rank_without_queries"]) == (None, None)
    assert row["rank_without_unigrams"] is not None


@pytest.mark.parametrize("number", [-1, 7])
def test_numbers_that_the_index_does_not_have_are_refused(parts, number):
    with pytest.raises(InputError, match=rf"passage number {number}; expected 0 to 6"):
        Replay(searcher_of(parts)).replay(QUESTIONS[0], [0, number])


def test_a_largest_beam_below_one_is_refused(parts):
    with pytest.raises(InputError, match="0 beams; expected at least 1"):
        Replay(searcher_of(parts), most_beams=0)
