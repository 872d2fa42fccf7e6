"""Where n-grams leave the beam, against a plain beam search that keeps every candidate's rank."""

from dataclasses import replace

import pytest

from argus.generative.decode.beams import Search, beam_search
from argus.generative.failures.replay import Left, follow, kept_by
from argus.generative.index import build_index
from tests.support.generating import (
    DOCUMENTS,
    PSEUDO_QUERIES,
    next_log_probabilities,
    plain,
    small_vocabulary,
    tiny_model,
)

QUESTION = "which city in France is known for its tall towers"
LONGEST = {"body": 5, "title": 8, "query": 12}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    vocabulary = small_vocabulary()
    folder = tmp_path_factory.mktemp("path")
    index = build_index(DOCUMENTS, vocabulary, folder / "i", pseudo_queries=PSEUDO_QUERIES)
    return vocabulary, index, plain(index), tiny_model(vocabulary)


def search_of(parts, view, beams):
    vocabulary, index, *_ = parts
    prefix, last = {
        "body": ((), None),
        "title": ((index.border,), vocabulary.title_end),
        "query": ((vocabulary.query_start,), vocabulary.title_end),
    }[view]
    given = prefix if view == "query" else ()
    return Search(LONGEST[view], beams, prefix, given, last, frozenset({index.border}))


def encoded(parts):
    import torch

    vocabulary, _, _, model = parts
    with torch.inference_mode():
        return model.encode(vocabulary.sources([QUESTION], "body"))


def plain_steps(parts, search):
    """Beam search by its definition: of each step all candidates in order, and what goes on."""
    vocabulary, _, passages, model = parts
    source = vocabulary.sources([QUESTION], "body")[0]
    live, steps = [((), 0.0)], []
    for _ in range(search.longest):
        candidates = []
        for ngram, total in live:
            logs = next_log_probabilities(model, source, (*search.opening, *ngram))[-1]
            candidates += [
                ((*ngram, int(token)), total + float(logs[token]))
                for token in passages.continuations([*search.prefix, *ngram])[0]
                if token not in search.barred
            ]
        candidates.sort(key=lambda c: -c[1])
        ranked = [ngram for ngram, _ in candidates]
        written = candidates[: 2 * search.beams]
        live = [c for c in written if c[0][-1] != search.last][: search.beams]
        steps.append((ranked, {n for n, _ in written}, {n for n, _ in live}))
    return steps


def plain_left(steps, ngram):
    """At which step, and with which rank, an n-gram left; None where it was written."""
    for n, (ranked, written, live) in enumerate(steps, start=1):
        kept = written if n == len(ngram) else live
        if ngram[:n] not in kept:
            return Left(n, ranked.index(ngram[:n]) + 1)
        if n == len(ngram):
            return None
    raise AssertionError("longer than the search")


def existing(parts, search):
    """All n-grams that a search of any size can write: closed ones where it closes them."""
    _, _, passages, _ = parts
    found, open_ = [], [()]
    for _ in range(search.longest):
        longer = [
            (*ngram, int(token))
            for ngram in open_
            for token in passages.continuations([*search.prefix, *ngram])[0]
            if token not in search.barred
        ]
        found += [n for n in longer if search.last is None or n[-1] == search.last]
        open_ = [n for n in longer if n[-1] != search.last]
    return found


@pytest.mark.parametrize(
    ("view", "beams"), [("body", 1), ("body", 5), ("title", 1), ("title", 2), ("query", 2)]
)
def test_ngrams_leave_at_the_steps_of_a_plain_search(parts, view, beams):
    """All n-grams of the corpus at once."""
    _, index, _, model = parts
    search, source = search_of(parts, view, beams), encoded(parts)
    steps = plain_steps(parts, search)
    wanted = {ngram: plain_left(steps, ngram) for ngram in existing(parts, search)}
    paths = follow(model, source, index, search, list(wanted))
    assert paths.left == {ngram: left for ngram, left in wanted.items() if left}
    assert paths.written == {ngram for ngram, left in wanted.items() if not left}
    if view == "body" and beams > 1:
        later = [left for left in wanted.values() if left and left.at > 1]
        assert later, "some leave after the first token"
        assert paths.written


@pytest.mark.parametrize("view", ["body", "title", "query"])
def test_the_beam_size_that_keeps_an_ngram_is_the_least(parts, view):
    _, index, _, model = parts
    search, source = search_of(parts, view, 1), encoded(parts)
    sizes = (1, 2, 4, 8, 16)
    writes = {}
    for beams in sizes:
        (found,), _ = beam_search(model, source, index, replace(search, beams=beams))
        writes[beams] = set(found.ngrams)
    lost = [n for n in existing(parts, search) if n not in writes[1]]
    kept = kept_by(model, source, index, search, lost, 16)
    for ngram, beams in kept.items():
        assert ngram in writes[beams]
        assert ngram not in writes[beams // 2]
    for ngram in lost:
        assert kept.get(ngram) == next((b for b in sizes if ngram in writes[b]), None)
    assert kept
    assert view != "body" or len({*kept.values()}) > 1
