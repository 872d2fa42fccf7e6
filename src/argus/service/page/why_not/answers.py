"""What both kinds of answers share: the question, which document is meant, and the findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from argus.explanation.types import Cause, Finding, Verdict
from argus.service.page.titles import Titled

ORDER = (Verdict.FOUND, Verdict.UNCHECKED, Verdict.RULED_OUT)
HEADINGS = {
    Verdict.FOUND: "Causes found",
    Verdict.UNCHECKED: "Could not check",
    Verdict.RULED_OUT: "Ruled out",
}


@dataclass(frozen=True, slots=True)
class Asking:
    """A question, the document that should come back, and within how many."""

    question: str
    document: str
    k: int


def meant_by(words: str, meant: Sequence[Titled]) -> Titled | None:
    """Return the one document that has exactly this title; None where none or several have."""
    alike = [one for one in meant if one.title.casefold() == words.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def grouped(
    findings: Sequence[Finding[Any]], cause: Cause | None
) -> list[tuple[str, list[Finding[Any]]]]:
    """Return the findings by what was concluded, the likeliest cause first."""
    groups = []
    for state in ORDER:
        own = [finding for finding in findings if finding.state is state]
        if own:
            groups.append((HEADINGS[state], sorted(own, key=lambda f: f.cause is not cause)))
    return groups
