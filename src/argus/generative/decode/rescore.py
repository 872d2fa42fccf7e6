"""Score keys with teacher forcing, in one pass over the tree of their beginnings.

Keys of one question share beginnings, above all those of a beam search, which keeps every partial
hypothesis. So their tokens are read as a tree, level by level with the decoder's cache, and each
beginning is run once, whatever goes on from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


@dataclass
class _Node:
    """A beginning that goes on: whose it is, its score so far, and its row one level before."""

    job: int
    ngram: Ngram
    score: float
    parent: int


def score_all(
    model: Seq2Seq, sources: Sources, targets: Sequence[Targets]
) -> list[dict[Ngram, float]]:
    """Return log P(n-gram | source) for all targets, in their order.

    The sum over the n-gram's tokens, each after those before it.
    """
    import torch

    trees = [_tree(target.ngrams) for target in targets]
    scores: list[dict[Ngram, float]] = [{} for _ in targets]
    with torch.inference_mode():
        for part in _passes(trees, CELLS // model.vocabulary.size):
            rows = torch.tensor([targets[job].source for job in part], device=model.device)
            decoder = model.begin(sources.take(rows))
            _read(decoder, [_Node(job, (), 0.0, i) for i, job in enumerate(part)], trees, scores)
    return [
        {ngram: of_target[ngram] for ngram in target.ngrams if ngram}
        for target, of_target in zip(targets, scores, strict=True)
    ]


def _read(
    decoder: Decoder,
    nodes: list[_Node],
    trees: Sequence[dict[Ngram, list[int]]],
    scores: list[dict[Ngram, float]],
) -> None:
    """Go down the trees of some jobs, a level at a time, and note every beginning's score."""
    import torch

    logits = decoder.first()
    while nodes:
        steps = [(row, token) for row, n in enumerate(nodes) for token in trees[n.job][n.ngram]]
        at, written = torch.tensor(steps, device=logits.device).T
        logs = (logits[at, written] - logits.logsumexp(1)[at]).double().cpu().tolist()
        below = []
        for (row, token), log in zip(steps, logs, strict=True):
            node = nodes[row]
            ngram, score = (*node.ngram, token), node.score + log
            scores[node.job][ngram] = score
            if ngram in trees[node.job]:
                below.append(_Node(node.job, ngram, score, row))
        nodes = below
        if nodes:
            parents, tokens = np.array([(n.parent, n.ngram[-1]) for n in nodes], np.int64).T
            logits = decoder.advance(parents.copy(), tokens.copy())


def _tree(ngrams: frozenset[Ngram]) -> dict[Ngram, list[int]]:
    """Return the tokens that follow each beginning which goes on."""
    tree: dict[Ngram, dict[int, None]] = {}
    for ngram in sorted(ngrams):
        for n, token in enumerate(ngram):
            tree.setdefault(ngram[:n], {})[token] = None
    return {beginning: list(tokens) for beginning, tokens in tree.items()}


def _passes(trees: Sequence[dict[Ngram, list[int]]], most: int) -> Iterator[list[int]]:
    """Yield jobs that have n-grams, in groups whose levels have at most `most` rows, or alone."""
    part: list[int] = []
    rows = 0
    for job, tree in enumerate(trees):
        if not tree:
            continue
        widest = int(np.bincount([len(beginning) for beginning in tree]).max())
        if part and rows + widest > most:
            yield part
            part, rows = [], 0
        part.append(job)
        rows += widest
    if part:
        yield part
