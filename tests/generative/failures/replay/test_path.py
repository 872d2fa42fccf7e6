"""Where n-grams leave the beam, against a plain beam search that keeps every candidate's rank."""

from dataclasses import replace

import pytest

from argus.generative.decode.beam import beam_search
from argus.generative.decode.beams import Search
from argus.generative.failures.replay import path as path_module
from argus.generative.failures.replay.path import Left, follow, kept_by
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


@pytest.mark.parametrize("beams", [1, 2, 5])
@pytest.mark.parametrize("view", ["body", "title", "query"])
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
def test_an_ngram_leaves_alike_whatever_is_followed_beside(parts, view):
    _, index, _, model = parts
    search, source = search_of(parts, view, 3), encoded(parts)
    ngrams = existing(parts, search)
    together = follow(model, source, index, search, [*ngrams, *ngrams[::-1]])
    kept = kept_by(model, source, index, search, ngrams, 24)
    for ngram in [*ngrams[:: max(1, len(ngrams) // 25)], *list(together.written)[:5]]:
        alone = follow(model, source, index, search, [ngram])
        assert alone.left.get(ngram) == together.left.get(ngram)
        assert (ngram in alone.written) == (ngram in together.written)
        alone_kept = kept_by(model, source, index, search, [ngram], 24)
        assert alone_kept.get(ngram) == kept.get(ngram)


@pytest.mark.parametrize("view", ["body", "title", "query"])
def test_what_the_search_writes_is_what_has_not_left(parts, view):
    _, index, _, model = parts
    search, source = search_of(parts, view, 4), encoded(parts)
    (found,), _ = beam_search(model, source, index, search)
    ngrams = existing(parts, search)
    assert follow(model, source, index, search, ngrams).written == {*found.ngrams} & {*ngrams}


def test_a_prefix_that_is_written_but_does_not_go_on_has_left(parts):
    _, index, _, model = parts
    search = search_of(parts, "body", 2)
    ranked = plain_steps(parts, search)[0][0]
    written_only = ranked[2]  # third of four written, of which two go on
    longer = next(n for n in existing(parts, search) if len(n) == 2 and n[:1] == written_only)
    source = encoded(parts)
    paths = follow(model, source, index, search, [longer, written_only])
    assert paths.written == {written_only}
    assert paths.left == {longer: Left(1, 3)}


def test_hypotheses_that_end_take_no_place_from_those_that_go_on(parts):
    """A title that ends among the best leaves its place in the beam to the next candidate."""
    _, index, _, _ = parts
    shown = 0
    for beams in (1, 2, 3):
        search = search_of(parts, "title", beams)
        for n, (ranked, _, live) in enumerate(plain_steps(parts, search), start=1):
            late = {x for x in live if ranked.index(x) >= beams}
            longer = [x for x in existing(parts, search) if x[:n] in late and len(x) > n]
            if longer:
                paths = follow(parts[3], encoded(parts), index, search, longer)
                assert all(left.at > n for left in paths.left.values())
                shown += len(longer)
    assert shown


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


def test_one_search_per_beam_size_serves_all_ngrams(parts, monkeypatch):
    _, index, _, model = parts
    search, source = search_of(parts, "body", 1), encoded(parts)
    made = []

    def counted(model, source, index, search, **how):
        made.append(search.beams)
        return beam_search(model, source, index, search, **how)

    lost = follow(model, source, index, search, existing(parts, search)).left
    monkeypatch.setattr(path_module, "beam_search", counted)
    kept = kept_by(model, source, index, search, lost, 16)
    assert made == [2, 4, 8, 16]
    made.clear()
    soon = [ngram for ngram, beams in kept.items() if beams <= 4]
    assert kept_by(model, source, index, search, soon, 16) == {n: kept[n] for n in soon}
    assert made == [2, 4]


def test_no_beam_beyond_the_largest_is_tried(parts):
    _, index, _, model = parts
    search, source = search_of(parts, "body", 1), encoded(parts)
    ngrams = existing(parts, search)
    far = kept_by(model, source, index, search, ngrams, 64)
    (four, *_) = [ngram for ngram, beams in far.items() if beams == 4]
    assert kept_by(model, source, index, search, [four], 4) == {four: 4}
    assert kept_by(model, source, index, search, [four], 3) == {}


def test_with_a_beam_as_large_as_all_candidates_nothing_leaves(parts):
    _, index, _, model = parts
    search = search_of(parts, "body", 500)
    ngrams = existing(parts, search)
    paths = follow(model, encoded(parts), index, search, ngrams)
    assert paths.written == {*ngrams}
    assert not paths.left
