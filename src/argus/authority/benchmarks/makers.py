"""The synthetic benchmarks by name, for whoever makes one."""

from __future__ import annotations

from typing import Protocol

from argus.authority.benchmarks import cvepatchqa, finsuperqa, legalprecedentqa
from argus.authority.benchmarks.types import Benchmark


class Maker(Protocol):
    """Makes a benchmark; the same seed gives the same one, to the byte."""

    def __call__(self, *, seed: int, contaminated: bool = False) -> Benchmark:
        """Return it, disjoint or contaminated."""


MAKERS: dict[str, Maker] = {
    "finsuperqa": finsuperqa.make,
    "cvepatchqa": cvepatchqa.make,
    "legalprecedentqa": legalprecedentqa.make,
}
