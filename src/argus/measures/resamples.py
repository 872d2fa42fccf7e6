"""How often tests and intervals draw anew."""

from __future__ import annotations

from typing import Annotated

from argus.settings import Doc, Ge

RESAMPLES = 10_000
LEAST_RESAMPLES = 1_000
"""Fewer cannot tell p = 0.001, nor the tails of which the ends of an interval are quantiles."""
Resamples = Annotated[
    int, Ge(LEAST_RESAMPLES), Doc("Of the test and the intervals; 1,000 or more.")
]
"""As every config declares it."""
