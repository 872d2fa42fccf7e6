"""What several measures need of a question is made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from argus.generative.failures.case import Case

T = TypeVar("T")

_ATTRIBUTE = "_memo"


def once(case: Case, name: Hashable, make: Callable[[], T]) -> T:
    """Return what `make` returns; it is called once per question and name.

    It is kept with the question, as a cached property is, and goes with it.
    """
    memo = vars(case).setdefault(_ATTRIBUTE, {})
    if name not in memo:
        memo[name] = make()
    return cast(T, memo[name])
