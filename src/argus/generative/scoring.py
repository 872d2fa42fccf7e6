"""Weigh keys: n-grams that a model wrote, by its probability and their frequency."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.errors import InputError
from argus.generative.settings import Scoring

ROUNDING = 1e-6
"""Largest logarithm of a probability that passes as 0 with a rounding error."""


@dataclass(frozen=True, slots=True)
class Key:
    """An n-gram that stands for the passages that hold it.

    tokens: at least one. log_probability: log P(n|q), natural logarithm. -inf is allowed and weighs
    nothing. view: "title", "body", "query" (MINDER's pseudo-queries) or "question" (n-grams of the
    question's own words). Raises InputError if there is no token, or no log-probability.
    """

    tokens: tuple[int, ...]
    log_probability: float
    view: str

    def __post_init__(self) -> None:
        if not self.tokens:
            raise InputError(
                "a key without tokens",
                expected="at least one token: every passage holds the empty n-gram",
                fix="Leave the key out.",
            )
        if math.isnan(self.log_probability) or self.log_probability > ROUNDING:
            raise InputError(
                f"a key of log-probability {self.log_probability}",
                expected="at most 0, the natural logarithm of a probability",
                fix="Give the sum of the tokens' log-softmax values, not of their logits.",
            )


def merged(*groups: Iterable[Key]) -> list[Key]:
    """Join groups of keys in order. The first of several with the same tokens stays.

    The published order is body, question, title, pseudo-queries last (docs/ngrams.md, "Keys").
    """
    first: dict[tuple[int, ...], Key] = {}
    for group in groups:
        for key in group:
            first.setdefault(key.tokens, key)
    return list(first.values())


Float64Array = npt.NDArray[np.float64]

_CERTAIN = 1e-10  # taken from every key's log-probability: the odds of a certain key stay finite


def key_weights(
    keys: Sequence[Key], counts: IntArray, n_tokens: int, query_start: int, scoring: Scoring
) -> Float64Array:
    """Return the weight of every key (eq. 2 to the power alpha).

    0 where it does not occur, and where it has fewer tokens than `scoring.shortest`.

    counts: (n_keys,) occurrences in the corpus. n_tokens: the corpus' tokens, borders included.
    query_start: the token that begins pseudo-queries.
    """
    logs = np.array([key.log_probability for key in keys], np.float64)
    pseudo = np.array([key.tokens[0] == query_start for key in keys], bool)
    lengths = np.array([len(key.tokens) for key in keys], np.int64)
    if scoring.query_bonus:
        lifted = np.minimum(logs + scoring.query_bonus, scoring.query_ceiling)
        logs = np.where(pseudo, lifted, logs)
    logs = np.minimum(logs, 0)
    scale = (1 - scoring.length_penalty) ** (lengths - 1)
    odds = _log_odds((logs - _CERTAIN) * scale, counts, n_tokens, scoring.smoothing)
    counting = (odds > 0) & (lengths >= scoring.shortest)
    return np.where(counting, odds**scoring.exponent, 0.0)  # 0 ** 0 would be 1


def unigram_weights(
    log_probabilities: FloatArray | Float64Array,
    counts: IntArray,
    n_tokens: int,
    excluded: Iterable[int],
    scoring: Scoring,
) -> Float64Array:
    """Return the weight of every single token: eq. 2 without the power alpha.

    log_probabilities: (V,) log-softmax at the first position of the decoder. counts: (V,)
    occurrences. excluded: tokens that weigh 0: the border, padding, and keys of one token. So do
    tokens that do not occur and all but the `most_unigrams` most probable (the lower id where two
    are equally probable). Returns (V,). Raises InputError for invalid log-probabilities.
    """
    bad = np.isnan(log_probabilities) | (log_probabilities > ROUNDING)
    if bad.any():
        token = int(bad.argmax())
        raise InputError(
            f"a log-probability of {log_probabilities[token]} for token {token}",
            expected="at most 0, the natural logarithm of a probability",
            fix="Give log-softmax values of the first position, not logits.",
        )
    weights = np.zeros(len(log_probabilities), np.float64)
    best = greatest(log_probabilities, scoring.most_unigrams)
    if len(best):
        logs = np.minimum(log_probabilities[best].astype(np.float64), -_CERTAIN)
        weights[best] = _log_odds(logs, counts[best], n_tokens, scoring.smoothing)
    weights[counts == 0] = 0
    weights[[token for token in excluded if 0 <= token < len(weights)]] = 0
    return weights


def best_unigrams(weights: Float64Array, most: int) -> IntArray:
    """Return up to `most` tokens of positive weight, the weightiest first, then the lower id."""
    tokens = np.flatnonzero(weights > 0)
    if most < len(tokens):
        tokens = tokens[greatest(weights[tokens], most)]
    order: IntArray = tokens[np.argsort(-weights[tokens], kind="stable")]
    return order


def _log_odds(
    logs: Float64Array, counts: IntArray, n_tokens: int, smoothing: float
) -> Float64Array:
    """Return max(0, log odds ratio) of probabilities e**logs against corpus frequencies.

    logs: below 0. log(1 - P) is log1p(-P) for the corpus, where P is seldom near 1, and keeps its
    digits at both ends for the model: log1p(-e**l) far below 0, log(-expm1(l)) near it.
    """
    logs = np.minimum(logs, -np.finfo(np.float64).tiny)
    share = (np.asarray(counts, np.float64) + smoothing) / (n_tokens + smoothing)
    with np.errstate(divide="ignore", invalid="ignore"):
        not_in_corpus = np.log1p(-share)
        unlikely = np.where(logs < -math.log(2), np.log1p(-np.exp(logs)), np.log(-np.expm1(logs)))
        odds = (logs + not_in_corpus) - (np.log(share) + unlikely)
    positive: Float64Array = np.where((counts > 0) & (odds > 0), odds, 0.0)
    return positive


def greatest(values: FloatArray | Float64Array, most: int) -> IntArray:
    """Return the places of the `most` greatest values, ascending. Equal ones: the first counts."""
    if most >= len(values):
        return np.arange(len(values))
    if not most:
        return np.zeros(0, np.int64)
    limit = np.partition(values, len(values) - most)[len(values) - most]
    above, equal = np.flatnonzero(values > limit), np.flatnonzero(values == limit)
    return np.sort(np.concatenate([above, equal[: most - len(above)]]))
