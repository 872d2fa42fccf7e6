"""Where what supersedes an anchor is served, and which chains are."""

from __future__ import annotations

from enum import StrEnum

ANCHORS = 20
"""Retrieved documents that are looked at (CAR section 5: "the initial top-20")."""


class Places(StrEnum):
    """Where what supersedes an anchor is ranked."""

    ANCHOR = "anchor"
    """In its anchor's place."""
    FIRST = "first"
    """Before every anchor that is active itself, among each other by anchor (section 6.6)."""


class Chains(StrEnum):
    """Which chains are served where anchors of one scope lead to different documents."""

    ALL = "all"
    """Every one: nothing that is in force and was retrieved is held back."""
    FIRST = "first"
    """That of the best anchor: where a scope is ambiguous (phi < 1), the right chain is guessed to
    be the most relevant one (Proposition 1, middle factor)."""


PLACES = Places.ANCHOR
CHAINS = Chains.ALL
"""As every search serves them, unless told otherwise."""
