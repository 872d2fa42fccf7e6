"""Plain logs: a question a record, and whatever fields stand beside it."""

from __future__ import annotations

from collections.abc import Iterator

from argus.traffic.config import LogConfig
from argus.traffic.exchange import Exchange, ReadingTally, Skip
from argus.traffic.readers.common import beside
from argus.traffic.readers.fields import first_named, first_of
from argus.traffic.readers.streams import Values
from argus.traffic.readers.values import passages, question

QUERY = (
    "query", "question", "user_query", "search_query", "query_text", "text", "q", "prompt",
    "user_input", "input", "search_term", "keywords", "message",
)  # fmt: skip
RESULTS = (
    "results", "served", "retrieved", "documents", "docs", "doc_ids", "result_ids", "hits",
    "retrieved_ids", "document_ids", "returned", "ranking",
)  # fmt: skip


def fits(values: Values, config: LogConfig) -> bool:
    """Return whether a record has a field that may hold a question."""
    return named_question(values, config) is not None


def named_question(values: Values, config: LogConfig) -> int | None:
    """Return the place of a record's question among the usual names, the most telling first."""
    names = (config.query_field,) if config.query_field else QUERY
    return next((i for i, n in enumerate(names) if first_named(values, n, ())[1] is not None), None)


def read(values: Values, config: LogConfig, tally: ReadingTally) -> Iterator[Exchange]:
    """Yield the record's question; raises Skip where it has none."""
    text = question(first_of(values, config.query_field, QUERY, tally, "question"))
    name, served = _results(values, config)
    if served is not None:
        tally.note("results", name)
    results = passages(served, tally)
    yield Exchange(text, results=results, **beside(values, config, tally, results))


def _results(values: Values, config: LogConfig) -> tuple[str, object]:
    """Return the field of what was served, and what it holds: an empty list is no missing field."""
    if config.results_field is not None:
        return first_named(values, config.results_field, ())
    name = next((name for name in RESULTS if values.get(name) is not None), "")
    return name, values.get(name)


def has_question(values: Values, config: LogConfig) -> bool:
    """Return whether a record's question is a text: a request of an API may be an object."""
    try:
        question(first_named(values, config.query_field, QUERY)[1])
    except Skip:
        return False
    return True


def has_results(values: Values, config: LogConfig) -> bool:
    """Return whether a record says what was served."""
    return _results(values, config)[1] is not None
