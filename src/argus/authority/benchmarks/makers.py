"""The synthetic benchmarks by name, for whoever makes one."""

from __future__ import annotations

from typing import Protocol

from argus.authority.benchmarks import cvepatchqa, finsuperqa, legalprecedentqa
from argus.authority.benchmarks.types import Benchmark


class Maker(Protocol):
    """Makes a benchmark; the same seed gives the same one, to the byte."""

    def __call__(self, *, seed: int, contaminated: bool = False) -> Benchmark:
        """Return it, disjoint or contaminated."""


class HintedMaker(Protocol):
    """Makes a benchmark whose questions may name what they are about."""

    def __call__(self, *, seed: int, contaminated: bool = False, hint: bool = False) -> Benchmark:
        """Return it; hint: the product, or a party's name, is in every question (Table 8)."""


HINTED: dict[str, HintedMaker] = {
    "cvepatchqa": cvepatchqa.make,
    "legalprecedentqa": legalprecedentqa.make,
}
MAKERS: dict[str, Maker] = {
    "finsuperqa": finsuperqa.make,
    **HINTED,
}
