"""Keys: n-grams that a language model wrote for a question, with their probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from argus.errors import InputError

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
