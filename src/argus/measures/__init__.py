"""Measures, intervals, tests and slices."""

from __future__ import annotations

from typing import Annotated

import lazy_loader

from argus.settings import Doc, Ge

RESAMPLES = 10_000
LEAST_RESAMPLES = 1_000  # fewer cannot show p = 0.001, nor the tails of an interval
Resamples = Annotated[
    int, Ge(LEAST_RESAMPLES), Doc("Of the test and the intervals; 1,000 or more.")
]
"""Number of resamples of tests and intervals, as every config declares it."""
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
