"""Backtracking against a plain reading of its definition."""

from __future__ import annotations

import math

import pytest

from argus.errors import InputError
from argus.generative.decode.beams import Search
from argus.generative.failures.replay import Replay
from argus.generative.searcher import GenerativeSearcher
from argus.generative.settings import Cure, Decoding, Mode, Scoring
from tests.support.generating import (
    QUESTIONS,
    decoded,
    next_log_probabilities,
    ngrams_of,
    vast,
)


def decode(parts, search, questions=QUESTIONS):
    vocabulary, index, _, model = parts
    return decoded(vocabulary, index, model, search, questions)[0]


def search_of(parts, view="body", **cure):
    vocabulary, index, *_ = parts
    prefix, last = {
        "body": ((), None),
        "title": ((index.border,), vocabulary.title_end),
    }[view]
    return Search(5, 4, prefix, (), last, frozenset({index.border}), **cure)


def as_dict(hypotheses):
    kept = dict(zip(hypotheses.ngrams, hypotheses.log_probabilities, strict=True))
    assert len(kept) == len(hypotheses.ngrams), "an n-gram was kept twice"
    return kept


def assert_same(got, want):
    assert got.keys() == want.keys()
    assert max(abs(got[n] - want[n]) for n in want) < 1e-5


def extensions(parts, source, search, ngram, total):
    """All that a plain index has after an n-gram, with its sum, by token."""
    _, _, passages, model = parts
    logs = next_log_probabilities(model, source, ngram)[-1]
    return [
        ((*ngram, int(t)), total + float(logs[t]))
        for t in sorted(passages.continuations([*search.prefix, *ngram])[0])
        if t not in search.barred
    ]


def plain_backtracking(parts, source, search):
    """Round after round, each from its beginning: what went on in earlier ones is left out."""
    _, index, passages, _ = parts
    smoothing = Scoring.smoothing

    def odds(candidate):
        count = passages.count([*search.prefix, *candidate[0]])
        return candidate[1] - math.log((count + smoothing) / (index.n_tokens + smoothing))

    before, kept = [[((), 0.0)]] + [[] for _ in range(search.longest)], {}
    gone = [set() for _ in range(search.longest)]
    for round_ in range(search.rounds + 1):
        for depth in range(search.longest):
            pool = [
                c
                for n, s in before[depth]
                for c in extensions(parts, source, search, n, s)
                if c[0] not in gone[depth]
            ]
            pool.sort(key=lambda c: -(odds(c) if round_ else c[1]))
            for ngram, total in pool[: 2 * search.beams]:
                kept.setdefault(ngram, total)
            live = [c for c in pool[: 2 * search.beams] if c[0][-1] != search.last]
            gone[depth].update(n for n, _ in live[: search.beams])
            before[depth + 1] = before[depth + 1] + live[: search.beams]
    return kept


@pytest.mark.parametrize("view", ["body", "title"])
@pytest.mark.parametrize("rounds", [1, 3])
def test_rounds_write_what_going_back_writes(parts, view, rounds):
    search = search_of(parts, view, rounds=rounds)
    for question, mine in zip(QUESTIONS, decode(parts, search), strict=True):
        source = parts[0].sources([question], "body")[0]
        assert_same(as_dict(mine), plain_backtracking(parts, source, search))


@pytest.mark.parametrize("cure", list(Cure))
@pytest.mark.parametrize("mode", list(Mode))
def test_every_cure_answers_in_every_mode(parts, cure, mode):
    _, index, _, model = parts
    decoding = Decoding(cure=cure, beams=6, body_tokens=5)
    searcher = GenerativeSearcher(index, model, mode, decoding, Scoring(smoothing=0.1))
    for written in searcher.keys(QUESTIONS):
        assert {key.view for key in written.keys} >= {"body", "question"}
        assert index.counts([key.tokens for key in written.keys]).min() > 0


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"cure": Cure.BACKTRACKING, "rounds": 0}, "--rounds"),
        ({"cure": "wider"}, "--cure"),
    ],
)
def test_settings_of_a_cure_out_of_range(settings, where):
    with pytest.raises(InputError) as caught:
        Decoding(**settings)
    assert caught.value.where == where


@pytest.mark.parametrize("cure", list(Cure))
def test_a_replay_counts_what_a_cure_writes(parts, cure):
    _, index, _, model = parts
    decoding = Decoding(cure=cure, beams=6, body_tokens=4, title_tokens=1)
    scoring = Scoring(smoothing=0)
    searcher = GenerativeSearcher(vast(index), model, Mode.SEAL, decoding, scoring)
    gold = Replay(searcher, most_beams=1).replay(QUESTIONS[0], [0]).gold
    (written,) = searcher.keys(QUESTIONS[:1])
    known = {key.tokens for key in written.keys}
    begin, end = index.splits([0])[0].tolist()
    text = index.tokens_of([0])[1][begin:end].tolist()
    of_text = ngrams_of([text], 4, index.border)
    assert gold is not None and gold.written == len(known & of_text) > 0
    assert {one.key.tokens for one in gold.pruned} == of_text - known
    assert gold.share == len(gold.pruned) / len(of_text)
    lost = sum(one.weight for one in gold.pruned)
    assert gold.weight_share == pytest.approx(lost / (lost + gold.written_weight))
