"""The works that the taxonomy cites, by their number in the thesis' bibliography."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_CITATION = re.compile(r"\[(\d+)\]")


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
def references() -> dict[int, Reference]:
    """Return the works by number, in the order of taxonomy.toml."""
    text = files("argus.generative.failures").joinpath("taxonomy.toml").read_text(encoding="utf-8")
    works = [Reference(**entry) for entry in tomllib.loads(text)["reference"]]
    return {work.number: work for work in works}


def cited(text: str) -> list[Reference]:
    """Return the works that a text cites as [number], each once, in the order of the text.

    Numbers without an entry are left out.
    """
    numbers = dict.fromkeys(int(number) for number in _CITATION.findall(text))
    known = references()
    return [known[number] for number in numbers if number in known]


def spelt_out(text: str) -> str:
    """Return a text with authors and year at every cited number that has an entry.

    After the name of a cited work they stand in brackets: "SEAL (Bevilacqua et al. 2022 [18])".
    """
    known = references()
    return re.sub(
        r"(?P<before>(?<!\w)(?P<word>\w++) )?\[(?P<number>\d+)\]",
        lambda match: _spelt(match, known),
        text,
    )


def _spelt(match: re.Match[str], known: dict[int, Reference]) -> str:
    reference = known.get(int(match["number"]))
    if reference is None:
        return match[0]
    before = match["before"] or ""
    bare = not before or match["word"] in ("and", "or")
    return f"{before}{reference.short}" if bare else f"{before}({reference.short})"
