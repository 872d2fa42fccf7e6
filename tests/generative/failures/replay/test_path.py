"""Where n-grams leave the beam, against a plain beam search that keeps every candidate's rank."""

from dataclasses import replace

import pytest

from argus.generative.decode.beam import Search, beam_search
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
LONGEST = 5


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
    return Search(LONGEST, beams, prefix, given, last, frozenset({index.border}))


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
            logs = next_log_probabilities(model, source, (*search.given, *ngram))[-1]
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
def test_an_ngram_leaves_at_the_step_and_with_the_rank_of_a_plain_search(parts, view, beams):
    _, index, _, model = parts
    search, source = search_of(parts, view, beams), encoded(parts)
    steps = plain_steps(parts, search)
    wanted = {ngram: plain_left(steps, ngram) for ngram in existing(parts, search)}
    at_once = [n for n, left in wanted.items() if left and left.at == 1]
    later = [n for n, left in wanted.items() if not left or left.at > 1]
    for ngram in at_once[::20] + later[:40]:
        path = follow(model, source, index, search, ngram)
        assert (path.left, path.written) == (wanted[ngram], wanted[ngram] is None)
    assert later
    if view == "body" and beams > 1:
        assert any(wanted[n] for n in later[:40]), "some leave after the first token"


@pytest.mark.parametrize("view", ["body", "title", "query"])
def test_what_the_search_writes_is_what_has_not_left(parts, view):
    _, index, _, model = parts
    search, source = search_of(parts, view, 4), encoded(parts)
    (found,), _ = beam_search(model, source, index, search)
    written = set(found.ngrams)
    for ngram in existing(parts, search)[::3]:
        assert follow(model, source, index, search, ngram).written == (ngram in written)


def test_a_prefix_that_is_written_but_does_not_go_on_has_left(parts):
    _, index, _, model = parts
    search = search_of(parts, "body", 2)
    ranked = plain_steps(parts, search)[0][0]
    written_only = ranked[2]  # third of four written, of which two go on
    longer = next(n for n in existing(parts, search) if len(n) == 2 and n[:1] == written_only)
    source = encoded(parts)
    assert follow(model, source, index, search, written_only).written
    assert follow(model, source, index, search, longer).left == Left(1, 3)


def test_hypotheses_that_end_take_no_place_from_those_that_go_on(parts):
    """A title that ends among the best leaves its place in the beam to the next candidate."""
    _, index, _, _ = parts
    shown = 0
    for beams in (1, 2, 3):
        search = search_of(parts, "title", beams)
        for n, (ranked, _, live) in enumerate(plain_steps(parts, search), start=1):
            late = [x for x in live if ranked.index(x) >= beams]
            for prefix in late:
                longer = [
                    x for x in existing(parts, search) if x[:n] == prefix and len(x) > n
                ]  # fmt: skip
                for ngram in longer:
                    left = follow(parts[3], encoded(parts), index, search, ngram).left
                    assert left is None or left.at > n
                    shown += 1
    assert shown


@pytest.mark.parametrize("view", ["body", "title"])
def test_the_beam_size_that_keeps_an_ngram_writes_it_and_no_smaller_one_tried_does(parts, view):
    _, index, _, model = parts
    search, source = search_of(parts, view, 1), encoded(parts)

    def writes(beams, ngram):
        (found,), _ = beam_search(model, source, index, replace(search, beams=beams))
        return ngram in found.ngrams

    sizes = set()
    ngrams = existing(parts, search)
    for ngram in ngrams[:: max(1, len(ngrams) // 20)]:
        if follow(model, source, index, search, ngram).written:
            continue
        kept = kept_by(model, source, index, search, ngram, 16)
        sizes.add(kept)
        tried = [b for b in (2, 4, 8, 16) if kept is None or b < kept]
        assert not any(writes(b, ngram) for b in tried)
        assert kept is None or writes(kept, ngram)
    assert len(sizes) > 1


def test_no_beam_beyond_the_largest_is_tried(parts):
    _, index, _, model = parts
    search, source = search_of(parts, "body", 1), encoded(parts)
    ngram = next(
        n for n in existing(parts, search)
        if kept_by(model, source, index, search, n, 64) == 4
    )  # fmt: skip
    assert kept_by(model, source, index, search, ngram, 4) == 4
    assert kept_by(model, source, index, search, ngram, 3) is None


def test_with_a_beam_as_large_as_all_candidates_nothing_leaves(parts):
    _, index, _, model = parts
    search = search_of(parts, "body", 500)
    source = encoded(parts)
    for ngram in existing(parts, search)[::11]:
        assert follow(model, source, index, search, ngram).written
