"""The taxonomy of failures, from taxonomy.toml, and the works that it cites."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from argus.errors import InputError


@dataclass(frozen=True, kw_only=True)
class FailureMode:
    """A way in which generative retrieval fails (thesis, §4). Fields as in taxonomy.toml.

    column: None for a mode that outputs, index and model do not show. threshold: of the column. The
    threshold itself counts.
    """

    id: str
    category: str
    name: str
    definition: str
    indicator: str
    needs: str
    reference: str
    column: str | None = None
    holds: Literal["above", "below"] = "above"
    threshold: float = 0.0
    worst: float = 0.0
    scale: Literal["linear", "log"] = "linear"
    threshold_text: str = ""
    evidence: str = ""
    direct: bool = False
    direct_from: float = -math.inf
    failed_only: bool = False
    fixed: bool = False

    @property
    def is_share(self) -> bool:
        """Whether its column is a share."""
        return max(self.threshold, self.worst) <= 1

    def applies(self, value: float) -> bool:
        """Return whether the mode holds at a value of its column."""
        return value >= self.threshold if self.holds == "above" else value <= self.threshold

    def is_direct(self, value: float) -> bool:
        """Return whether a value shows the failure itself, not a trait that goes with failing."""
        return self.direct and value >= self.direct_from

    def severity(self, value: float) -> float:
        """Return how far past the threshold a value is: 0 there, 1 at `worst` and beyond."""
        if self.worst == self.threshold:
            return 1.0
        at, begin, end = (
            math.log(max(v, 1.0)) if self.scale == "log" else v
            for v in (value, self.threshold, self.worst)
        )
        return min(1.0, max(0.0, (at - begin) / (end - begin)))


def taxonomy(thresholds: Mapping[str, float] | None = None) -> list[FailureMode]:
    """Return all modes in the order of the file, with other thresholds for some of them.

    thresholds: by id. Raises InputError for an id that has none or whose mode is a matter of yes or
    no, for a value that is no number, and for one that no question could reach.
    """
    modes = {entry["id"]: FailureMode(**entry) for entry in _content()["mode"]}
    for id_, value in (thresholds or {}).items():
        if id_ not in modes or modes[id_].column is None or modes[id_].fixed:
            measured = ", ".join(m.id for m in modes.values() if m.column and not m.fixed)
            raise InputError(
                f"no mode {id_!r} with a threshold that can be set",
                expected=f"one of {measured}",
                fix="Check the name.",
                where="--threshold",
            )
        most = 1.0 if modes[id_].is_share else math.inf
        if not 0 <= value <= most or math.isinf(value):
            raise InputError(
                f"{id_}={value:g}",
                expected=f"a number from 0{' to 1' if modes[id_].is_share else ''}",
                fix=f"The default is {modes[id_].threshold:g}.",
                where="--threshold",
            )
        side = "from" if modes[id_].holds == "above" else "up to"
        text = f"{modes[id_].column} {side} {value:g} (as given)"
        modes[id_] = replace(modes[id_], threshold=value, threshold_text=text)
    return list(modes.values())


@cache
def _content() -> dict[str, Any]:
    text = files("argus.generative.failures").joinpath("taxonomy.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A cited work. authors: as one cites them. Empty where the thesis leaves the work open."""

    number: int
    authors: str = ""
    year: int | None = None
    title: str = ""
    url: str = ""

    @property
    def short(self) -> str:
        """Authors and year, with the number in the thesis' bibliography."""
        named = f"{self.authors} {self.year}" if self.authors else "left open in the thesis"
        return f"{named} [{self.number}]"


@cache
def _references() -> dict[int, Reference]:
    works = [Reference(**entry) for entry in _content()["reference"]]
    return {work.number: work for work in works}


def cited(text: str) -> list[Reference]:
    """Return the works that a text cites as [number], each once, in the order of the text.

    Numbers without an entry are left out.
    """
    numbers = dict.fromkeys(int(number) for number in re.findall(r"\[(\d+)\]", text))
    return [_references()[number] for number in numbers if number in _references()]


def spelt_out(text: str) -> str:
    """Return a text with authors and year at every cited number that has an entry.

    After the name of a cited work they stand in brackets: "SEAL (Bevilacqua et al. 2022 [18])".
    """

    def spell(match: re.Match[str]) -> str:
        reference = _references().get(int(match["number"]))
        if reference is None:
            return match[0]
        before = match["before"] or ""
        bare = not before or match["word"] in ("and", "or")
        return f"{before}{reference.short}" if bare else f"{before}({reference.short})"

    return re.sub(r"(?P<before>(?<!\w)(?P<word>\w++) )?\[(?P<number>\d+)\]", spell, text)
