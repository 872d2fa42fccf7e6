"""Beam search under the index's constraint, against brute force and a plain reading."""

import numpy as np
import pytest

from argus.generative.decode.beam import beam_search
from argus.generative.decode.beams import Search, Timings
from tests.support.generating import (
    DOCUMENTS,
    QUESTIONS,
    decoded,
    log_probability,
    ngrams_of,
    plain_beam_search,
)


def decode(parts, questions, search, observer=None):
    vocabulary, index, _, model = parts
    return decoded(vocabulary, index, model, search, questions, observer)


def as_dict(found):
    kept = dict(zip(found.ngrams, found.log_probabilities, strict=True))
    assert len(kept) == len(found.ngrams), "an n-gram was found twice"
    return kept


def assert_same(got, want):
    assert got.keys() == want.keys()
    assert max(abs(got[n] - want[n]) for n in want) < 1e-5


def test_enough_beams_write_every_ngram_with_its_probability(parts):
    vocabulary, index, passages, model = parts
    want = ngrams_of(passages.passages, 4, index.border)
    search = Search(4, beams=len(want), barred=frozenset({index.border}))
    found, _ = decode(parts, QUESTIONS[:2], search)
    for question, mine in zip(QUESTIONS, found, strict=False):
        source = vocabulary.sources([question], "body")[0]
        assert_same(as_dict(mine), {n: log_probability(model, source, n) for n in want})


def test_with_enough_beams_titles_are_those_of_the_corpus(parts):
    vocabulary, index, _, model = parts
    titles = {tuple(t) for t in vocabulary.encode([d.title for d in DOCUMENTS]) if t}
    closed = {(*t, vocabulary.title_end) for t in titles} | {(vocabulary.title_end,)}
    search = Search(
        60, beams=20, prefix=(index.border,), last=vocabulary.title_end,
        barred=frozenset({index.border}),
    )  # fmt: skip
    (found,), _ = decode(parts, QUESTIONS[:1], search)
    ended = {n: p for n, p in as_dict(found).items() if n[-1] == vocabulary.title_end}
    assert sum(found.ended) == len(ended)
    source = vocabulary.sources(QUESTIONS[:1], "body")[0]
    assert_same(ended, {n: log_probability(model, source, n) for n in closed})


@pytest.mark.parametrize("beams", [1, 2, 5])
@pytest.mark.parametrize("view", ["body", "title", "query"])
def test_few_beams_keep_what_the_definition_keeps(parts, beams, view):
    vocabulary, index, passages, model = parts
    prefix, last = {
        "body": ((), None),
        "title": ((index.border,), vocabulary.title_end),
        "query": ((vocabulary.query_start,), vocabulary.title_end),
    }[view]
    barred = frozenset({index.border})
    given = prefix if view == "query" else ()
    found, _ = decode(parts, QUESTIONS, Search(5, beams, prefix, given, last, barred))
    for question, mine in zip(QUESTIONS, found, strict=True):
        want = plain_beam_search(
            model, vocabulary.sources([question], "body")[0], passages,
            beams=beams, longest=5, prefix=prefix, given=given, last=last, barred=barred,
        )  # fmt: skip
        assert_same(as_dict(mine), want)
        assert mine.ended == [n[-1] == last for n in mine.ngrams]


def test_scores_do_not_depend_on_the_questions_decoded_beside(parts):
    _, index, _, _ = parts
    search = Search(6, 4, barred=frozenset({index.border}))
    together, _ = decode(parts, QUESTIONS, search)
    for question, mine in zip(QUESTIONS, together, strict=True):
        (alone,), _ = decode(parts, [question], search)
        assert_same(as_dict(mine), as_dict(alone))


def test_what_is_found_lies_inside_one_passage(parts):
    _, index, passages, _ = parts
    found, _ = decode(parts, QUESTIONS, Search(30, 15, barred=frozenset({index.border})))
    for mine in found:
        assert max(map(len, mine.ngrams)) > 10
        assert all(passages.count(n) > 0 and index.border not in n for n in mine.ngrams)


def test_first_tokens_come_with_log_probabilities_over_all(parts):
    vocabulary, *_ = parts
    _, first = decode(parts, QUESTIONS, Search(2, 2))
    assert first.shape == (3, vocabulary.size)
    assert np.exp(first.astype(np.float64)).sum(1) == pytest.approx(1, abs=1e-5)


def test_the_time_of_the_constraint_is_part_of_the_whole(parts):
    import torch

    vocabulary, index, _, model = parts
    timings = Timings()
    with torch.inference_mode():
        sources = model.encode(vocabulary.sources(QUESTIONS, "body"))
        beam_search(model, sources, index, Search(5, 5), timings)
    assert 0 < timings.constraint < timings.total


def test_an_observer_is_shown_each_step_and_changes_nothing(parts):
    _, index, passages, _ = parts
    search = Search(4, 3, barred=frozenset({index.border}))
    pools = []
    watched, _ = decode(parts, QUESTIONS, search, lambda pool: pools.append(pool) or True)
    alone, _ = decode(parts, QUESTIONS, search)
    assert watched == alone
    assert [pool.written.shape[1] for pool in pools] == [0, 1, 2, 3]
    for pool in pools:
        assert pool.first_rows[-1] == len(pool.written) == len(pool.sums) == len(pool.normalizers)
        assert np.flatnonzero(pool.barred).tolist() == [index.border]
        for row, ngram in enumerate(pool.written.tolist()):
            allowed = pool.tokens[pool.pointers[row] : pool.pointers[row + 1]].tolist()
            assert allowed == sorted(passages.continuations(ngram)[0])
    sums = dict(zip(map(tuple, pools[2].written.tolist()), pools[2].sums, strict=True))
    found = [as_dict(one) for one in alone]
    assert all(any(f.get(n) == total for f in found) for n, total in sums.items())


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_an_observer_stops_the_search_and_keeps_what_was_found(parts, steps):
    _, index, _, _ = parts
    search = Search(4, 3, barred=frozenset({index.border}))
    found, first = decode(
        parts, QUESTIONS, search, lambda pool: pool.written.shape[1] < steps
    )  # fmt: skip
    whole, same = decode(parts, QUESTIONS, search)
    assert np.array_equal(first, same)
    for mine, all_of_it in zip(found, whole, strict=True):
        assert mine.ngrams == [n for n in all_of_it.ngrams if len(n) <= steps]
