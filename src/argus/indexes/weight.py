"""What a document's own score counts against its scenarios' (SPIKE §3.3)."""

from __future__ import annotations

from typing import Annotated

from argus.settings import Doc, Interval, Option

RELEVANCE_WEIGHT = 0.7
Weight = Annotated[
    float,
    Interval(ge=0, le=1),
    Doc("What a document's own score counts against its scenarios'."),
    Option(("--lambda",)),
]
"""λ, as every config declares it."""
