"""Score given n-grams by the model's probability, without search (teacher forcing).

`score_all`: encoded questions, each with its n-grams -> log P(n-gram | question). N-grams of one
question share beginnings, above all those of a beam search, which keeps every partial hypothesis.
So they are read as a tree, level by level with the decoder's cache, and each beginning is run once.
`searcher` scores all keys of a question so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from argus.generative.decode.model import Decoder, Seq2Seq, Sources

Ngram = tuple[int, ...]
CELLS = 2**25
"""Logits of one level: 128 MiB."""


@dataclass(frozen=True)
class Targets:
    """N-grams to be scored for one encoder input."""

    source: int
    ngrams: frozenset[Ngram]


def score_all(
    model: Seq2Seq, sources: Sources, targets: Sequence[Targets]
) -> list[dict[Ngram, float]]:
    """Return log P(n-gram | source) for all targets, in their order.

    The sum over the n-gram's tokens, each after those before it.
    """
    import torch

    followers: list[dict[Ngram, list[int]]] = []  # of each target, the tokens after a beginning
    widths = []  # of each target, the most beginnings of one length that go on
    for target in targets:
        tree: dict[Ngram, dict[int, None]] = {}
        for ngram in sorted(target.ngrams):
            for n, token in enumerate(ngram):
                tree.setdefault(ngram[:n], {})[token] = None
        followers.append({beginning: list(tokens) for beginning, tokens in tree.items()})
        widths.append(max(Counter(map(len, tree)).values(), default=0))
    scores: list[dict[Ngram, float]] = [{} for _ in targets]
    jobs = [job for job, width in enumerate(widths) if width]
    with torch.inference_mode():
        while jobs:  # as many as fit, at least one
            rows = np.cumsum([widths[job] for job in jobs])
            fitting = max(1, int((rows <= CELLS // model.vocabulary.size).sum()))
            part, jobs = jobs[:fitting], jobs[fitting:]
            owners = torch.tensor([targets[job].source for job in part], device=model.device)
            decoder = model.begin(sources.take(owners))
            _go_down(decoder, part, followers, scores)
    return [
        {ngram: of_target[ngram] for ngram in target.ngrams if ngram}
        for target, of_target in zip(targets, scores, strict=True)
    ]


def _go_down(
    decoder: Decoder,
    jobs: Sequence[int],
    followers: Sequence[dict[Ngram, list[int]]],
    scores: list[dict[Ngram, float]],
) -> None:
    """Go down the trees of some jobs, a level at a time, and note every beginning's score."""
    import torch

    logits = decoder.first()
    # Beginnings that go on: job, n-gram and its score.
    level: list[tuple[int, Ngram, float]] = [(job, (), 0.0) for job in jobs]
    while level:
        steps = [
            (row, t) for row, (job, ngram, _) in enumerate(level) for t in followers[job][ngram]
        ]
        at, written = torch.tensor(steps, device=logits.device).T
        logs = (logits[at, written] - logits.logsumexp(1)[at]).double().cpu().tolist()
        below, parents = [], []
        for (row, token), log in zip(steps, logs, strict=True):
            job, beginning, before = level[row]
            ngram, score = (*beginning, token), before + log
            scores[job][ngram] = score
            if ngram in followers[job]:
                below.append((job, ngram, score))
                parents.append(row)
        level = below
        if level:
            tokens = np.array([ngram[-1] for _, ngram, _ in level], np.int64)
            logits = decoder.advance(np.array(parents, np.int64), tokens)
