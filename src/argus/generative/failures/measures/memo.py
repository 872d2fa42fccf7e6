"""What several measures need of a question is made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from argus.generative.failures.case import Case

Made = TypeVar("Made")

_KEPT = "_made"


def once(case: Case, name: Hashable, make: Callable[[], Made]) -> Made:
    """Return what `make` returns; it is called once per question and name.

    It is kept with the question, as a cached property is, and goes with it.
    """
    made = vars(case).setdefault(_KEPT, {})
    if name not in made:
        made[name] = make()
    return cast(Made, made[name])
