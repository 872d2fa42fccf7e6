"""Measures of runs against judgements, and intervals."""

from argus.evaluation.intervals import wilson

__all__ = ["wilson"]
