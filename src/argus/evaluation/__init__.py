"""Measures of runs against judgements, and intervals."""

from argus.evaluation.intervals import wilson
from argus.evaluation.measures import Evaluation, evaluate

__all__ = ["Evaluation", "evaluate", "wilson"]
