"""What counts as at risk: low predicted RPS, no forecast of failing questions."""

from __future__ import annotations

from typing import Annotated

from argus.settings import Doc, Interval, Option

TAU = 0.3
"""Predicted RPS below which an entity is at risk (ARGUS §5.1)."""
Tau = Annotated[
    float,
    Interval(ge=0, le=1),
    Doc("Predicted RPS below this is at risk."),
    Option(("--tau",)),
]
"""As every command declares it that looks for what is at risk."""
