"""Measures of runs against judgements, their differences, tests and intervals."""

from argus.measures.association import Association, rps_association
from argus.measures.comparison import Change, compare, harmed_queries, top_k_changes
from argus.measures.implicitness import content_words, is_implicit
from argus.measures.intervals import wilson
from argus.measures.measures import Evaluation, evaluate, measure_name
from argus.measures.significance import PairedDifference, paired_difference

__all__ = [
    "Association",
    "Change",
    "Evaluation",
    "PairedDifference",
    "compare",
    "content_words",
    "evaluate",
    "harmed_queries",
    "is_implicit",
    "measure_name",
    "paired_difference",
    "rps_association",
    "top_k_changes",
    "wilson",
]
