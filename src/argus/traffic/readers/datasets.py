"""Data sets of Ragas and DeepEval: questions with the contexts that a pipeline had retrieved."""

from __future__ import annotations

from collections.abc import Iterator

from argus.traffic.config import LogConfig
from argus.traffic.exchange import Exchange, ReadingTally
from argus.traffic.readers.common import beside
from argus.traffic.readers.fields import first_of
from argus.traffic.readers.streams import Values
from argus.traffic.readers.values import contexts, passages, question

RAGAS = ("retrieved_contexts", "retrieved_context_ids", "reference_contexts", "ground_truth")
DEEPEVAL = ("retrieval_context", "actual_output", "expected_output")


def fits_ragas(values: Values, config: LogConfig) -> bool:
    """Return whether a record is a sample of Ragas, of any version."""
    return ("user_input" in values and bool({*RAGAS, "response"} & values.keys())) or (
        "question" in values and "contexts" in values
    )


def fits_deepeval(values: Values, config: LogConfig) -> bool:
    """Return whether a record is a golden or a test case of DeepEval."""
    return "input" in values and any(name in values for name in DEEPEVAL)


def read_ragas(values: Values, config: LogConfig, tally: ReadingTally) -> Iterator[Exchange]:
    """Yield a sample's question; of contexts the ids, where it has them, else the texts."""
    names = ("user_input", "question")
    text = question(first_of(values, config.query_field, names, tally, "question"))
    own = config.results_field
    results = passages(first_of(values, own, ("retrieved_context_ids",), tally, "results"), tally)
    if results is None and own is None:
        names = ("retrieved_contexts", "contexts")
        results = contexts(first_of(values, None, names, tally, "results"), tally)
    yield Exchange(text, results=results, **beside(values, config, tally, results))


def read_deepeval(values: Values, config: LogConfig, tally: ReadingTally) -> Iterator[Exchange]:
    """Yield a golden's question with its retrieved texts: it knows no ids."""
    text = question(first_of(values, config.query_field, ("input",), tally, "question"))
    own = config.results_field
    results = contexts(first_of(values, own, ("retrieval_context",), tally, "results"), tally)
    yield Exchange(text, results=results, **beside(values, config, tally, results))
