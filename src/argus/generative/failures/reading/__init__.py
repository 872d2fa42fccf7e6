"""A record of an output file, as bytes, to the question as it is analysed."""

from argus.generative.failures.reading.problems import Example, Problem, Problems
from argus.generative.failures.reading.record import read_case
from argus.generative.failures.reading.settings import ANNOTATED, ANSWER, BORDER, Reading

__all__ = [
    "ANNOTATED",
    "ANSWER",
    "BORDER",
    "Example",
    "Problem",
    "Problems",
    "Reading",
    "read_case",
]
