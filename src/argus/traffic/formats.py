"""Recognise the format of each file of a query log, and turn its records into questions.

Records (`argus.traffic.files`) -> `Exchange`s and `Feedback`, for `argus.traffic.reading`. Formats
are plain records, also those of data sets of Ragas and DeepEval, spans of retrievers by the
conventions of OpenInference and OpenTelemetry GenAI, and OpenSearch's User Behavior Insights (UBI).
Records may be inside others: OTLP's tree of spans, pages of an API, hits of OpenSearch.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from argus.data.documents import ID_FIELDS
from argus.data.fields import FieldPath, seconds
from argus.data.rows import field_names
from argus.errors import InputError
from argus.traffic import values as parse
from argus.traffic.config import Format, LogConfig
from argus.traffic.exchange import Exchange, Feedback, Passage, ReadingTally, Skip
from argus.traffic.files import log_files, read_values
from argus.traffic.values import FEEDBACK, Values, at_path, first_named, passages, plain

Fits = Callable[[Values, LogConfig], bool]
Read = Callable[[Values, LogConfig, ReadingTally], Iterator[Exchange | Feedback]]
# Records by which a file's format is found.
PEEKED = 50
UNREADABLE = "a record with values too large or too deep to be read"
NO_TIME = "a time that is none"
QUERY = (
    "query", "question", "user_query", "search_query", "query_text", "text", "q", "prompt",
    "user_input", "input", "search_term", "keywords", "message",
)  # fmt: skip
RESULTS = (
    "results", "served", "retrieved", "documents", "docs", "doc_ids", "result_ids", "hits",
    "retrieved_ids", "document_ids", "returned", "ranking", "query_response_hit_ids",
    "retrieved_context_ids",
)  # fmt: skip
# Ends of a path to the ids of results that are inside objects.
IDS = {*ID_FIELDS, *RESULTS}
# Fields of texts that came back, in data sets of Ragas and DeepEval.
CONTEXTS = ("retrieved_contexts", "contexts", "retrieval_context")
TIMES = (
    "timestamp", "time", "ts", "at", "created_at", "datetime", "date", "@timestamp", "start_time",
    "startTime", "startTimeUnixNano", "start_time_unix_nano", "created", "event_time",
)  # fmt: skip
CLICKS = ("clicked_ids", "clicked_id", "clicks", "clicked", "click")
REFS = ("query_id", "request_id", "qid", "_id", "id", "trace_id")
# Fields in which a page of an API, or a saved data set, holds its records.
LISTS = (
    "data", "spans", "goldens", "test_cases", "testCases", "samples", "queries", "events", "rows",
)  # fmt: skip
# Fields of such a page: a record with more is one itself.
MAX_BESIDE = 3


def read_exchanges(
    log: Path, config: LogConfig, tally: ReadingTally
) -> Iterator[Exchange | Feedback]:
    """Yield the questions of a log, and feedback in later records, before redaction.

    tally: filled during the reading. Raises InputError for a file of no known format, and at the
    end for a named field that no record has.
    """
    roles = ("query", "time", "results", "feedback")
    named = [(f"--{role}-field", getattr(config, f"{role}_field")) for role in roles]
    named += [("--by", name) for name in config.by]
    tally.unseen = {
        FieldPath.named(name, option): option for option, name in named if name is not None
    }
    names: dict[str, None] = {}  # fields of each file's first record
    for path in log_files(log):
        records = (one for value in read_values(path, tally) for one in records_in(value, config))
        head = list(islice(records, PEEKED))
        if head and not any(fits(head[0], config) for fits, *_ in FORMATS.values()):
            config = _fields_inside(head[0], config)
        format_ = config.format or _format(path, head, config) if head else "empty"
        tally.files[path.name] = format_
        if format_ == "empty":
            continue
        _, read, whole = FORMATS[format_]
        names |= dict.fromkeys(field_names(whole(head[0])))
        for record in chain(head, records):
            tally.records += 1
            tally.last.clear()
            try:
                if tally.unseen:
                    own = whole(record)
                    for field in [f for f in tally.unseen if f.text in own or f.is_in(own)]:
                        del tally.unseen[field]
                yield from read(record, config, tally)
            except Skip as why:
                tally.skipped[str(why)] += 1
            except (ArithmeticError, ValueError, RecursionError):  # values beyond all bounds
                tally.skipped[UNREADABLE] += 1
    for field, option in tally.unseen.items() if names else ():
        got = f"no record of {log} has {field.text!r}"
        expected = f"one of {', '.join(map(repr, [*names][:20]))}"
        fix = f"Name one of them with {option}."
        raise InputError(got, expected=expected, fix=fix, where=option)


def _fields_inside(record: Values, config: LogConfig) -> LogConfig:
    """Return the config with the paths of question, time and results that are inside objects."""
    ends = {path: path.rpartition(".")[2] for path in field_names(record)}
    alone = {path: end for path, end in ends.items() if "[]" not in path}
    question = next((path for path, end in alone.items() if end in QUERY[:5]), None)
    time = next((path for path, end in alone.items() if end in TIMES), None)
    lists = {path: path.replace("[]", "").split(".") for path in ends}
    served = (p for p, parts in lists.items() if {*parts} & {*RESULTS} and ends[p] in IDS)
    return replace(
        config, query_field=config.query_field or question, time_field=config.time_field or time,
        results_field=config.results_field or next(served, None),
    )  # fmt: skip


def _format(path: Path, head: list[Values], config: LogConfig) -> Format:
    """Return the format of most of a file's first records. Raises InputError for none."""
    fitting = (
        next((name for name, (fits, *_) in FORMATS.items() if fits(one, config)), None)
        for one in head
    )
    if counts := Counter(name for name in fitting if name is not None):
        return counts.most_common(1)[0][0]
    names = ", ".join(map(repr, dict.fromkeys(n for one in head for n in field_names(one)[:20])))
    problem = f"no field {config.query_field!r}" if config.query_field else "no question"
    raise InputError(
        f"{problem} among {names or 'no fields'}",
        expected=f"a field such as {', '.join(map(repr, QUERY[:4]))}, or spans, or UBI",
        fix="Name the field of the question with --query-field.",
        where=path,
    )


def _exchange(
    text: str,
    results: tuple[Passage, ...] | None,
    values: Mapping[str, Any],
    config: LogConfig,
    tally: ReadingTally,
) -> Exchange:
    """Read the fields beside question and results, by the names that are given or usual."""
    stamp = parse.first_of(values, config.time_field, TIMES, tally, "time")
    at = seconds(stamp)
    if at is None and stamp not in (None, ""):
        tally.remarks[NO_TIME] += 1
    feedback = parse.first_of(values, config.feedback_field, FEEDBACK, tally, "feedback")
    good, bad = parse.opinion(feedback, config.good_from, tally)
    clicked = parse.first_of(values, None, CLICKS, tally, "clicks")
    clicks = parse.count_clicks(tally.last.get("clicks", ""), clicked)
    slices = tuple(plain(at_path(values, name)) for name in config.by)
    ref = plain(first_named(values, None, REFS)[1]) or ""
    return Exchange(text, at, results, good, bad, clicks, slices, ref)


# records inside others


def records_in(value: Values, config: LogConfig) -> Iterator[Values]:
    """Yield the records inside a value, or the value if it is a question or wraps nothing."""
    hits = value.get("hits")
    if _has_question(value, config):
        yield value
    elif isinstance(hits, Mapping) and isinstance(hits.get("hits"), list):
        yield from (hit.get("_source", hit) for hit in _dicts(hits["hits"]))
    elif "resourceSpans" in value:
        for resource in _dicts(value["resourceSpans"]):
            for scope in _dicts(resource.get("scopeSpans")):
                for span in _dicts(scope.get("spans")):
                    yield {**span, "attributes": _otlp_object(span.get("attributes"))}
    elif isinstance(source := value.get("_source"), dict):
        yield source
    else:
        lists = (_dicts(value.get(name)) for name in LISTS if len(value) <= MAX_BESIDE)
        yield from next(filter(None, lists), [value])


def _otlp_object(attributes: Any) -> Values:
    """Return OTLP's list of keys and values as one object."""
    named = (one for one in _dicts(attributes) if isinstance(one.get("key"), str))
    return {one["key"]: _otlp_value(one.get("value")) for one in named}


def _otlp_value(value: Any) -> Any:
    """Return a value of OTLP without its type."""
    if not isinstance(value, Mapping):
        return value
    kind, inner = next(iter(value.items()), ("", None))
    if kind == "kvlistValue":
        return _otlp_object((inner or {}).get("values"))
    if kind == "arrayValue":
        return [_otlp_value(one) for one in (inner or {}).get("values") or ()]
    return inner


def _dicts(value: Any) -> list[Values]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


# plain records


def _has_question(values: Values, config: LogConfig) -> bool:
    """Tell whether a record has the named field of a question, or one of the usual names."""
    names = (config.query_field,) if config.query_field else QUERY
    return any(first_named(values, name, ())[1] is not None for name in names)


def _read_plain(values: Values, config: LogConfig, tally: ReadingTally) -> Iterator[Exchange]:
    text = parse.first_of(values, config.query_field, QUERY, tally, "question")
    own = config.results_field
    # an empty list is no missing field
    name = own or next((n for n in (*RESULTS, *CONTEXTS) if values.get(n) is not None), "")
    served = at_path(values, name) if name else None
    if served is not None:
        tally.note("results", name)
    results = passages(served, tally, are_texts=own is None and name in CONTEXTS)
    yield _exchange(parse.question(text), results, values, config, tally)


# spans. Attributes come nested, flat with dotted names, as columns (`attributes.input.value`), or
# as OTLP's keys and values; documents as a list, as text, or with their numbers in the names

KIND, INPUT, DOCUMENTS = "openinference.span.kind", "input.value", "retrieval.documents"
OPERATION, GEN_AI_TEXT = "gen_ai.operation.name", "gen_ai.retrieval.query.text"
GEN_AI_DOCUMENTS = "gen_ai.retrieval.documents"
NO_DOCUMENTS = "spans of a retriever that say nothing of documents"
OUTER = ("attributes", "span_attributes", "SpanAttributes")
ROOTS = ("openinference", "input", "retrieval", "gen_ai", "session", "user", "metadata")
_NUMBERED = re.compile(r"retrieval\.documents\.(\d{1,18})\.(.+)")


def fits_spans(values: Values, config: LogConfig) -> bool:
    """Return True if a record is a span of either convention, whatever its kind."""
    attributes = _attributes(values)
    return any(name in attributes for name in (KIND, OPERATION, GEN_AI_TEXT)) or (
        "span_kind" in values and INPUT in attributes
    )


def _whole_span(values: Values) -> Values:
    return {**_attributes(values), **values}


def _read_span(values: Values, config: LogConfig, tally: ReadingTally) -> Iterator[Exchange]:
    attributes = _attributes(values)
    kind = str(attributes.get(KIND) or values.get("span_kind") or "").upper()
    operation = str(attributes.get(OPERATION) or "")
    name, documents = INPUT, DOCUMENTS
    if kind == "RETRIEVER":
        results = _documents(attributes, tally)
    elif operation == "retrieval" or GEN_AI_TEXT in attributes:
        name = GEN_AI_TEXT if attributes.get(GEN_AI_TEXT) else INPUT
        documents = GEN_AI_DOCUMENTS
        results = passages(attributes.get(documents), tally)
    else:
        raise Skip(f"spans of another kind ({kind or operation or 'none'})")
    inside, text = _whole_span(values), attributes.get(name)
    if config.query_field is not None:
        text = at_path(inside, config.query_field)
    if config.results_field is not None:
        results = passages(at_path(inside, config.results_field), tally)
    tally.note("question", config.query_field or name)
    if results is None:
        tally.remarks[NO_DOCUMENTS] += 1
    else:
        tally.note("results", config.results_field or documents)
    context = values.get("context")
    ids = context if isinstance(context, Mapping) else values
    span = ids.get("span_id") or ids.get("spanId") or values.get("context.span_id")
    inside["trace_id"] = str(span or "")
    yield _exchange(parse.question(text), results, inside, config, tally)


def _attributes(values: Values) -> Values:
    """Return the attributes with dotted names, whatever shape they came in."""
    flat: Values = {}
    for name in OUTER:
        inner = parse.unpacked(values.get(name))
        if isinstance(inner, list):
            inner = _otlp_object(inner)
        if isinstance(inner, Mapping):
            _flatten("", inner, flat)
    for name, value in values.items():
        head, _, rest = name.partition(".")
        if head in OUTER and rest:
            _flatten(rest, value, flat)
        elif head in ROOTS and rest:
            flat[name] = value
    return flat


def _flatten(path: str, value: Any, flat: Values) -> None:
    """Put the fields of a value into `flat`, by dotted names."""
    if isinstance(value, Mapping) and path != "metadata":
        for name, inner in value.items():
            _flatten(f"{path}.{name}" if path else str(name), inner, flat)
    elif value is not None:
        flat[path] = value


def _documents(attributes: Mapping[str, Any], tally: ReadingTally) -> tuple[Passage, ...] | None:
    """Return the documents of an OpenInference span, None for a span without the attribute."""
    documents = parse.unpacked(attributes.get(DOCUMENTS))
    if documents is None:
        numbered: dict[int, Values] = {}
        for name, value in attributes.items():
            if match := _NUMBERED.fullmatch(name):
                numbered.setdefault(int(match[1]), {})[match[2]] = value
        documents = [numbered[i] for i in sorted(numbered)] or None
    if isinstance(documents, list):
        documents = [*documents]
        for i, one in enumerate(documents):  # own fields lie in `document`, or behind `document.`
            if isinstance(one, Mapping):
                inner, own = one.get("document"), one.items()
                flat = {str(name).removeprefix("document."): value for name, value in own}
                documents[i] = inner if isinstance(inner, Mapping) else flat
    return passages(documents, tally)


# UBI

# Actions on a result. Others that name an object, such as a hover, are none.
OPENING = ("click", "item_click", "product_click", "result_click", "view_item", "select_content",
           "add_to_cart", "purchase", "buy")  # fmt: skip
ATTRIBUTES = "event_attributes"


def _fits_ubi(values: Values, config: LogConfig) -> bool:
    return "user_query" in values or ("action_name" in values and "query_id" in values)


def _whole_event(values: Values) -> Values:
    """Return a record whose attributes are an object, in whatever shape they came."""
    inner = parse.unpacked(values.get(ATTRIBUTES))
    return {**values, ATTRIBUTES: inner if isinstance(inner, dict) else {}}


def _read_ubi(
    values: Values, config: LogConfig, tally: ReadingTally
) -> Iterator[Exchange | Feedback]:
    """Yield a question, or the click or opinion of an event. Raises Skip for other events."""
    if "action_name" not in values:
        yield from _read_plain(values, config, tally)
        return
    action = str(values.get("action_name") or "").strip().lower()
    ref = plain(values.get("query_id"))
    if ref is None:
        raise Skip("events that name no query")
    if action in OPENING:
        yield Feedback(ref, clicks=1)
        return
    inside = _whole_event(values)
    flat = (*FEEDBACK, *(f"{ATTRIBUTES}.{name}" for name in FEEDBACK))  # attributes as columns
    name, value = first_named(inside[ATTRIBUTES], None, FEEDBACK)
    if config.feedback_field is not None or not name:
        _, value = first_named(inside, config.feedback_field, flat)
    by_name = parse.opinion(action, None, ReadingTally())
    good, bad = by_name
    if value not in parse.NOTHING:
        good, bad = parse.opinion(value, config.good_from, tally)
    if by_name[1] and good:  # "dislike" with true may mean either
        raise Skip(f"events whose feedback contradicts their action ({action})")
    if not (good or bad):
        raise Skip(f"events of no interest ({action or 'no action'})")
    yield Feedback(ref, good, bad)


# How a record of a format is recognised, read, and returned with all its fields. The most
# particular first: any record with a question is a plain one.
FORMATS: dict[Format, tuple[Fits, Read, Callable[[Values], Values]]] = {
    "spans": (fits_spans, _read_span, _whole_span),
    "ubi": (_fits_ubi, _read_ubi, _whole_event),
    "plain": (_has_question, _read_plain, dict),
}
