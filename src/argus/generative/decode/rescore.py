"""Teacher-forced scores of keys: one pass tells the score of an n-gram and of all its prefixes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from argus.generative.decode.model import Seq2Seq, Sources

Ngram = tuple[int, ...]
CELLS = 2**25
"""Logits in one pass: 128 MiB."""


@dataclass(frozen=True)
class Wanted:
    """N-grams whose scores are wanted for one encoder input."""

    source: int
    ngrams: frozenset[Ngram]


def score_all(
    model: Seq2Seq, sources: Sources, wanted: Sequence[Wanted]
) -> list[dict[Ngram, float]]:
    """Return log P(n-gram | source) for everything wanted, in its order.

    Only n-grams that begin no other one are run.
    """
    import torch

    jobs = [(i, leaf) for i, w in enumerate(wanted) for leaf in leaves(w.ngrams)]
    jobs.sort(key=lambda job: len(job[1]))
    scores: list[dict[Ngram, float]] = [{} for _ in wanted]
    with torch.inference_mode():
        for part in _passes(jobs, model.vocabulary.size):
            owners = np.array([wanted[i].source for i, _ in part])
            logs = model.score(sources, owners, [leaf for _, leaf in part])
            for (i, leaf), steps in zip(part, logs, strict=True):
                for n, total in enumerate(np.cumsum(steps).tolist(), start=1):
                    if leaf[:n] in wanted[i].ngrams:
                        scores[i][leaf[:n]] = total
    return scores


def leaves(ngrams: Iterable[Ngram]) -> list[Ngram]:
    """Return the n-grams that are no beginning of another one, in order."""
    ordered = sorted(set(ngrams))
    return [
        a
        for i, a in enumerate(ordered)
        if a and (i + 1 == len(ordered) or ordered[i + 1][: len(a)] != a)
    ]


def _passes(jobs: Sequence[tuple[int, Ngram]], size: int) -> Iterable[list[tuple[int, Ngram]]]:
    """Yield jobs, shortest first, in passes of at most CELLS logits."""
    part: list[tuple[int, Ngram]] = []
    for job in jobs:
        if part and (len(part) + 1) * len(job[1]) * size > CELLS:
            yield part
            part = []
        part.append(job)
    if part:
        yield part
