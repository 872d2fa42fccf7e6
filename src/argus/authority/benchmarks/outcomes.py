"""What a system made of one question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """The documents that a system serves for one question, best first, or why there are none."""

    documents: tuple[str, ...] = ()
    anchors: tuple[str, ...] | None = None
    """What the first stage found and the second looked at, best first; None without stages."""
    failure: str = ""
    """Why the question could not be asked: it is counted apart, never as a zero."""
    longer: bool = False
    """More documents were returned than were asked for: the first of them count."""
