"""Learning a correction of queries: `q' = unit(q + α·U Wᵀ q)`, by contrast, from needs.

InfoNCE over the documents of a batch and random ones. U begins at zero, so that learning begins at
the encoder's own queries. The documents with needs are cut into folds, and as many learnings go on
side by side, each without the needs of one fold. What the mean reciprocal rank of all needs says,
each asked with the learning that saw none of its fold, ends them all, decides α, and whether there
is a correction at all. (One fold that ended its own learning would be a smaller, and so a more
flattering, judge.) The result is the mean of the learnings, cut back to the rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.encoders.scoring import rounding_bound
from argus.measures.significance import PairedDifference, paired_difference
from argus.progress import progress
from argus.scenarios.adapt.config import AdaptConfig

if TYPE_CHECKING:
    import torch

ALPHAS = (0.5, 1.0)
# How far below 1 the cosine of two documents is that are one: neither is the other's rival.
SAME = 1e-5
BLOCK_SCORES = 8 << 20  # Scores that are held at a time.
Ranks = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Examples:
    """Queries, and the documents that they are for.

    documents: (n_documents, dim). queries: (n, dim). targets: (n, most), rows of documents, filled
    up with -1. positives: (n, dim), what stands for the document of a query while it asks (the
    document without a sentence that was held out of it). None: the document's own vector.
    """

    documents: FloatArray
    queries: FloatArray
    targets: IntArray
    positives: FloatArray | None = None

    @cached_property
    def first(self) -> IntArray:
        """Row of the first document of each query: the one that it is counted for."""
        return self.targets[:, 0]

    def of(self, rows: IntArray) -> Examples:
        """Return some of the queries."""
        positives = None if self.positives is None else self.positives[rows]
        return Examples(self.documents, self.queries[rows], self.targets[rows], positives)


@dataclass(frozen=True)
class Learnt:
    """Correction from the needs. u, w: (dim, rank). alpha: 0 where nothing is gained.

    before, after: reciprocal rank of each query, held out, (n,). epoch: the best, which is kept.
    0, where none was better than none.
    """

    u: FloatArray
    w: FloatArray
    alpha: float
    before: Ranks
    after: Ranks
    epoch: int


def learn(examples: Examples, config: AdaptConfig, device: str = "cpu") -> Learnt:
    """Return the mean of the learnings, and its worth by held-out queries.

    Results are equal for equal seeds, on a CPU. Two documents at least must have queries.
    """
    folds = fold_of(examples, config)
    learnings = [_Learning(examples, folds, n, config, device) for n in range(folds.max() + 1)]
    before = reciprocal_ranks(examples, 0 * examples.queries)[0]
    zero = np.zeros((examples.queries.shape[1], config.rank), np.float32)
    best = Learnt(zero, zero, 0.0, before, before, 0)
    score = by_document(before, examples.first).mean()
    after = np.zeros((1 + len(ALPHAS), len(before)))
    with progress("learning a correction of queries", config.epochs) as advance:
        for epoch in range(1, config.epochs + 1):
            weights = [learning.epoch() for learning in learnings]
            if not all(np.isfinite(part).all() for pair in weights for part in pair):
                break
            for learning, (left, right) in zip(learnings, weights, strict=True):
                moves = np.asarray((learning.held.queries @ right) @ left.T, np.float32)
                after[:, learning.held_rows] = reciprocal_ranks(learning.held, moves)
            means = by_document(after, examples.first).mean(axis=1)[1:]
            if means.max() > score:
                at = int(np.argmax(means))
                score = means[at]
                u, w = mean_of(weights, config.rank)
                best = Learnt(u, w, ALPHAS[at], before, after[1 + at].copy(), epoch)
            elif epoch - best.epoch >= config.patience:
                break
            advance(1)
    return best


def held_out_gain(learnt: Learnt, examples: Examples, seed: int) -> PairedDifference:
    """Return the effect of the learnings on the mean reciprocal rank of documents, needs held out.

    A correction is worth having where its verdict is "better": the interval is above zero. The
    epoch and α were chosen on the same ranks, by which even needs without any meaning "gain".
    """
    rows = [str(row) for row in np.unique(examples.first)]
    before, after = by_document(np.stack([learnt.before, learnt.after]), examples.first).tolist()
    return paired_difference(
        dict(zip(rows, before, strict=True)), dict(zip(rows, after, strict=True)), seed=seed
    )


def fold_of(examples: Examples, config: AdaptConfig) -> IntArray:
    """Return the fold of every document, (n_documents,). -1 of those without queries."""
    with_queries = np.unique(examples.targets[examples.targets >= 0])
    counted = np.unique(examples.first)
    rng = np.random.default_rng([config.seed, 0])
    folds = np.full(len(examples.documents), -1, np.int64)
    count = min(config.folds, len(counted))
    folds[rng.permutation(counted)] = np.arange(len(counted)) % count
    others = np.setdiff1d(with_queries, counted)
    folds[others] = rng.integers(count, size=len(others))
    return folds


def by_document(values: Ranks, documents: IntArray) -> Ranks:
    """Return the mean over the queries of each document: values (..., n) to (..., n_documents)."""
    _, group = np.unique(documents, return_inverse=True)
    sums = [np.bincount(group, row) for row in np.atleast_2d(values)]
    means: Ranks = np.array(sums, float) / np.bincount(group)
    return means.reshape(*values.shape[:-1], -1)


def mean_of(
    corrections: Sequence[tuple[FloatArray, FloatArray]], rank: int
) -> tuple[FloatArray, FloatArray]:
    """Return the mean of corrections u wᵀ, of the rank, and as strong as they are in the mean.

    Where they differ they cancel out, and a mean moves queries less than any of them: α was chosen
    on those.
    """
    lefts: FloatArray = np.hstack([left / np.float32(len(corrections)) for left, _ in corrections])
    rights: FloatArray = np.hstack([right for _, right in corrections])
    u, w = low_rank(lefts, rights, rank)
    strengths = [strength(*pair) for pair in corrections]
    own = strength(u, w)
    return u * np.float32(np.mean(strengths) / own if own else 0), w


def strength(u: FloatArray, w: FloatArray) -> float:
    """Return the Frobenius norm of u wᵀ, without making it."""
    return float(np.sqrt(np.sum((u.T @ u).astype(float) * (w.T @ w).astype(float))))


def low_rank(u: FloatArray, w: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Return the factors of the given rank, or less, whose product is the nearest to u wᵀ."""
    left, from_u = np.linalg.qr(u.astype(float))
    right, from_w = np.linalg.qr(w.astype(float))
    inner, values, outer = np.linalg.svd(from_u @ from_w.T)
    root = np.sqrt(values[:rank])
    lefts, rights = left @ inner[:, :rank] * root, right @ outer[:rank].T * root
    return lefts.astype(np.float32), rights.astype(np.float32)


class _Learning:
    """One learning, from the needs of all folds but one, which is held out."""

    def __init__(
        self, examples: Examples, folds: IntArray, fold: int, config: AdaptConfig, device: str
    ) -> None:
        import torch

        in_fold = (examples.targets >= 0) & (folds[examples.targets] == fold)
        self.held_rows = np.flatnonzero(in_fold[:, 0])
        self.held = examples.of(self.held_rows)
        self.examples = examples.of(np.flatnonzero(~in_fold.any(axis=1)))
        self.config, self.device = config, device
        self.rng = np.random.default_rng([config.seed, 1, fold])
        dim = examples.queries.shape[1]
        start = self.rng.normal(size=(dim, config.rank)) / np.sqrt(dim)
        self.w = torch.nn.Parameter(torch.tensor(start, dtype=torch.float32, device=device))
        self.u = torch.nn.Parameter(torch.zeros_like(self.w))
        self.steps = torch.optim.AdamW(
            [self.u, self.w], lr=config.learning_rate, weight_decay=config.weight_decay
        )
        self.queries = torch.from_numpy(self.examples.queries).to(device)
        self.documents = torch.from_numpy(examples.documents).to(device)
        lengths = np.linalg.norm(examples.documents, axis=1)
        self.scale = 1 / (config.temperature * max(float(lengths.mean()), 1e-12))

    def epoch(self) -> tuple[FloatArray, FloatArray]:
        """Go through all examples once. Return u and w."""
        query, place = np.nonzero(self.examples.targets >= 0)
        document = self.examples.targets[query, place]
        order = self.rng.permutation(len(query))
        for start in range(0, len(order), self.config.batch_size):
            rows = order[start : start + self.config.batch_size]
            self.steps.zero_grad()
            self._loss(query[rows], document[rows]).backward()  # type: ignore[no-untyped-call]
            self.steps.step()
        u, w = (part.detach().cpu().numpy().copy() for part in (self.u, self.w))
        return u, w

    def _loss(self, query: IntArray, document: IntArray) -> torch.Tensor:
        """Return InfoNCE of pairs of query and document, rows of both: scalar."""
        import torch

        n = len(self.examples.documents)
        drawn = self.rng.choice(n, min(self.config.negatives, n), replace=False)
        columns = torch.from_numpy(np.concatenate([document, drawn])).to(self.device)
        queries = self.queries[query]
        queries = torch.nn.functional.normalize(queries + (queries @ self.w) @ self.u.T)
        others = self.documents[columns]
        own = self.documents[document]
        if self.examples.positives is not None:
            own = torch.from_numpy(self.examples.positives[query]).to(self.device)
        scores = queries @ others.T * self.scale  # (batch, batch + negatives)
        targets = torch.from_numpy(self.examples.targets[query]).to(self.device)
        own_row = (targets[:, :, None] == columns[None, None, :]).any(dim=1)
        unit = torch.nn.functional.normalize
        equal = unit(self.documents[targets[:, 0]]) @ unit(others).T > 1 - SAME
        scores = scores.masked_fill(own_row | equal, -torch.inf)  # no rivals of the query
        first = (queries * own).sum(dim=1, keepdim=True) * self.scale
        scores = torch.cat([first, scores], dim=1)
        return -torch.log_softmax(scores, dim=1)[:, 0].mean()


def reciprocal_ranks(examples: Examples, moves: FloatArray) -> Ranks:
    """Return 1 / rank of the best document of each query among all documents, exactly.

    moves: (n, dim), where a correction of α = 1 moves each query. Shape (1 + len(ALPHAS), n): of
    the queries as they are, then at every α. The query's other documents are no rivals, nor is
    scores that rounding cannot tell from the best.
    """
    least = _own_scores(examples, moves)  # (1 + len(ALPHAS), n)
    own = np.maximum(examples.targets, 0)
    real = examples.targets >= 0
    ahead = np.zeros(least.shape, np.int64)
    step = max(1, BLOCK_SCORES // max(1, len(examples.documents)))
    for start in range(0, len(moves), step):
        rows = slice(start, start + step)
        still, move = (q[rows] @ examples.documents.T for q in (examples.queries, moves))
        for i, alpha in enumerate((0.0, *ALPHAS)):
            before = still + np.float32(alpha) * move > least[i, rows, None]
            mine = np.take_along_axis(before, own[rows], axis=1) & real[rows]
            ahead[i, rows] = before.sum(axis=1) - mine.sum(axis=1)
    ranks: Ranks = 1 / (1.0 + ahead)
    return ranks


def _own_scores(examples: Examples, moves: FloatArray) -> FloatArray:
    """Return the bound that a rival must exceed: the best own document's score, and rounding."""
    documents, targets, positives = examples.documents, examples.targets, examples.positives
    own = documents[np.maximum(targets, 0)] if positives is None else positives[:, None]
    still, move = (np.einsum("nd,nkd->nk", q, own) for q in (examples.queries, moves))
    longest = float(np.linalg.norm(documents, axis=1).max(initial=0))
    bound = 2 * rounding_bound(documents.shape[1]) * longest
    real = targets >= 0 if positives is None else np.ones_like(still, bool)
    best = [
        np.where(real, still + np.float32(alpha) * move, -np.inf).max(axis=1)
        for alpha in (0.0, *ALPHAS)
    ]
    return np.array(best, np.float32) + np.float32(bound)
