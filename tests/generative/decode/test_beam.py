"""Beam search under the index's constraint, against brute force and a plain reading."""

import pytest

from argus.generative.decode.beams import Search
from tests.support.generating import (
    QUESTIONS,
    decoded,
    log_probability,
    ngrams_of,
    plain_beam_search,
)


def decode(parts, questions, search):
    vocabulary, index, _, model = parts
    return decoded(vocabulary, index, model, search, questions)


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
