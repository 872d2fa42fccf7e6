"""Recognise the format of each file of a log, and turn its records into exchanges.

Formats are plain records, spans of retrievers by the conventions of OpenInference and OpenTelemetry
GenAI, OpenSearch's User Behavior Insights (UBI), and data sets of Ragas and DeepEval. Records may
be inside others: OTLP's tree of spans, pages of an API, hits of OpenSearch.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from argus.data.fields import FieldPath
from argus.data.rows import field_names, whole_number
from argus.errors import InputError
from argus.traffic import values as parse
from argus.traffic.config import Format, LogConfig
from argus.traffic.exchange import Exchange, Feedback, Passage, ReadingTally, Skip, seconds
from argus.traffic.files import log_files, read_values
from argus.traffic.values import FEEDBACK, Values, as_number, at_path, first_named, passages, plain

Fits = Callable[[Values, LogConfig], bool]
Read = Callable[[Values, LogConfig, ReadingTally], Iterator[Exchange | Feedback]]
PEEKED = 50
"""Records by which a file's format is found."""
UNREADABLE = "a record with values too large or too deep to be read"
MAX_DEPTH = 32
"""Values in values that are looked into: no convention nests them as deep."""
NO_TIME = "a time that is none"
QUERY = (
    "query", "question", "user_query", "search_query", "query_text", "text", "q", "prompt",
    "user_input", "input", "search_term", "keywords", "message",
)  # fmt: skip
RESULTS = (
    "results", "served", "retrieved", "documents", "docs", "doc_ids", "result_ids", "hits",
    "retrieved_ids", "document_ids", "returned", "ranking",
)  # fmt: skip
TIMES = (
    "timestamp", "time", "ts", "at", "created_at", "datetime", "date", "@timestamp", "start_time",
    "startTime", "startTimeUnixNano", "start_time_unix_nano", "created", "event_time",
)  # fmt: skip
USERS = ("user", "user_id", "userId", "client_id", "account", "user.id")
SESSIONS = ("session", "session_id", "sessionId", "conversation_id", "thread_id", "session.id")
CLICKS = ("clicked_ids", "clicked_id", "clicks", "clicked", "click")
REFS = ("query_id", "request_id", "qid", "_id", "id", "trace_id")
LISTS = (
    "data", "spans", "goldens", "test_cases", "testCases", "samples", "queries", "events", "rows",
)  # fmt: skip
"""Fields in which a page of an API, or a saved data set, holds its records."""


def read_exchanges(
    log: Path, config: LogConfig, tally: ReadingTally
) -> Iterator[Exchange | Feedback]:
    """Yield the questions of a log, and feedback in later records, before redaction.

    tally: filled during the reading. Raises InputError for a file of no known format, and at the
    end for a named field that no record has.
    """
    roles = ("query", "time", "results", "feedback", "user", "session")
    named = [(f"--{role}-field", getattr(config, f"{role}_field")) for role in roles]
    named += [("--by", name) for name in config.by]
    tally.unseen = {
        FieldPath.named(name, option): option for option, name in named if name is not None
    }
    examples: list[Values] = []  # a record of each file
    stays = partial(_stays, config)
    for path in log_files(log):
        records = (one for value in read_values(path, tally) for one in records_in(value, stays))
        head = list(islice(records, PEEKED))
        format_ = config.format or _format(path, head, config) if head else "empty"
        tally.files[path.name] = format_
        if format_ == "empty":
            continue
        _, read, whole = FORMATS[format_]
        examples.append(whole(head[0]))
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
    for field, option in tally.unseen.items() if examples else ():
        names = [name for values in examples for name in values]
        with suppress(RecursionError):
            names = [name for values in examples for name in field_names(values)]
        got = f"no record of {log} has {field.text!r}"
        expected = f"one of {', '.join(map(repr, list(dict.fromkeys(names))[:20]))}"
        fix = f"Name one of them with {option}."
        raise InputError(got, expected=expected, fix=fix, where=option)
    for name, scale in tally.scales.items():
        if remark := scale.remark(name):
            tally.remarks[remark] = scale.n


def _format(path: Path, head: list[Values], config: LogConfig) -> Format:
    """Return the format of most of a file's first records. Raises InputError for none."""
    fitting = (
        next((name for name, (fits, *_) in FORMATS.items() if fits(one, config)), None)
        for one in head
    )
    if counts := Counter(name for name in fitting if name is not None):
        return counts.most_common(1)[0][0]
    names = ", ".join(map(repr, list(dict.fromkeys(n for one in head for n in one))[:20]))
    problem = f"no field {config.query_field!r}" if config.query_field else "no question"
    raise InputError(
        f"{problem} among {names or 'no fields'}",
        expected=f"a field such as {', '.join(map(repr, QUERY[:4]))}, or spans, UBI, Ragas "
        "or DeepEval",
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
    field = tally.last.get("feedback", "")
    good, bad, marks = parse.opinion(feedback, config.good_from, tally, field)
    value = parse.first_of(values, None, CLICKS, tally, "clicks")
    clicked = tally.last.get("clicks", "")
    clicks = parse.clicks(clicked, value, results) if clicked else ()
    user = plain(parse.first_of(values, config.user_field, USERS, tally, "user")) or ""
    session = plain(parse.first_of(values, config.session_field, SESSIONS, tally, "session")) or ""
    slices = tuple(plain(at_path(values, name)) for name in config.by)
    ref = plain(first_named(values, None, REFS)[1]) or ""
    return Exchange(text, at, results, good, bad, clicks, user, session, slices, ref, marks)


# records inside others

Stays = Callable[[Values, str, list[Values]], bool]
"""Whether a value is a record itself, with its results in the list of a name."""


def _stays(config: LogConfig, value: Values, name: str, inner: list[Values]) -> bool:
    """Return whether a record is a question itself, with its results in a list of objects.

    A page of an API may have a text, too ("message", or the request). It is no question if the
    records in it name their question more clearly, or have results of their own, or another format
    than plain.
    """
    own = _place(value, config)
    if own is None or config.format not in (None, "plain"):
        return False
    try:  # a request of an API may be an object
        parse.question(first_named(value, config.query_field, QUERY)[1])
    except Skip:
        return False
    if config.results_field is not None:
        path = FieldPath.named(config.results_field, "--results-field")
        if path.steps[0][0] == name:
            return True
    first = next((one for one in inner if isinstance(one, dict)), {})
    if any(fits(first, config) for name, (fits, *_) in FORMATS.items() if name != "plain"):
        return False
    place = _place(first, config)
    return place is None or (_served(first, config)[1] is None and own <= place)


def records_in(value: Values, stays: Stays = lambda *_: False) -> Iterator[Values]:
    """Yield the records inside a value, or the value if it wraps none or `stays` is True."""
    waiting = [value]
    while waiting:  # no recursion: a log nests hits as deep as it likes
        one = waiting.pop()
        hits = one.get("hits")
        if isinstance(hits, Mapping) and isinstance(hits.get("hits"), list):
            inner = _dicts(hits["hits"])
            if stays(one, "hits", [hit.get("_source", hit) for hit in inner]):
                yield one
            else:
                waiting += reversed(inner)
        elif "resourceSpans" in one:
            for resource in _dicts(one["resourceSpans"]):
                scopes = resource.get("scopeSpans") or resource.get("instrumentationLibrarySpans")
                spans = (span for scope in _dicts(scopes) for span in _dicts(scope.get("spans")))
                yield from ({**s, "attributes": _otlp_object(s.get("attributes"))} for s in spans)
        elif isinstance(source := one.get("_source"), dict):
            yield source
        else:
            lists = ((name, _dicts(one.get(name))) for name in LISTS if len(one) <= 3)
            yield from next((held for name, held in lists if held and not stays(one, name, held)),
                            [one])  # fmt: skip


def _otlp_object(attributes: Any, left: int = MAX_DEPTH) -> Values:
    """Return OTLP's list of keys and values as one object."""
    named = (one for one in _dicts(attributes) if isinstance(one.get("key"), str))
    return {one["key"]: _otlp_value(one.get("value"), left) for one in named}


def _otlp_value(value: Any, left: int) -> Any:
    """Return a value of OTLP without its type, None for one that is too deep."""
    if not isinstance(value, Mapping):
        return value
    for kind in ("stringValue", "intValue", "doubleValue", "boolValue"):
        if kind in value:
            return value[kind]
    listed = next((name for name in ("arrayValue", "kvlistValue") if name in value), None)
    inner = (value[listed] or {}) if left and listed else None
    values = (inner.get("values") or []) if isinstance(inner, Mapping) else None
    if not isinstance(values, list):
        return None
    if listed == "kvlistValue":
        return _otlp_object(values, left - 1)
    return [_otlp_value(one, left - 1) for one in values]


def _dicts(value: Any) -> list[Values]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


# plain records


def _place(values: Values, config: LogConfig) -> int | None:
    """Return the place of a record's question among the usual names, the most telling first."""
    names = (config.query_field,) if config.query_field else QUERY
    return next((i for i, n in enumerate(names) if first_named(values, n, ())[1] is not None), None)


def _served(values: Values, config: LogConfig) -> tuple[str, object]:
    """Return field and value of the results: an empty list is no missing field."""
    if config.results_field is not None:
        return first_named(values, config.results_field, ())
    name = next((name for name in RESULTS if values.get(name) is not None), "")
    return name, values.get(name)


def _fits_plain(values: Values, config: LogConfig) -> bool:
    return _place(values, config) is not None


def _question(
    values: Values, config: LogConfig, tally: ReadingTally, usual: Sequence[str] = QUERY
) -> str:
    return parse.question(parse.first_of(values, config.query_field, usual, tally, "question"))


def _read_plain(values: Values, config: LogConfig, tally: ReadingTally) -> Iterator[Exchange]:
    text = _question(values, config, tally)
    name, served = _served(values, config)
    if served is not None:
        tally.note("results", name)
    yield _exchange(text, passages(served, tally), values, config, tally)


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


def _flatten(path: str, value: Any, flat: Values, left: int = MAX_DEPTH) -> None:
    """Put the fields of a value into `flat`, by dotted names, to a depth of `left`."""
    if value is None:
        return
    if left and isinstance(value, Mapping) and path not in (DOCUMENTS, "metadata"):
        for name, inner in value.items():
            _flatten(f"{path}.{name}" if path else str(name), inner, flat, left - 1)
    else:
        flat[path] = value


def _documents(attributes: Mapping[str, Any], tally: ReadingTally) -> tuple[Passage, ...] | None:
    """Return the documents of an OpenInference span, None for a span without the attribute."""
    whole = parse.unpacked(attributes.get(DOCUMENTS))
    if isinstance(whole, Mapping):
        places = [whole_number(str(key)) for key in whole]
        if None not in places:
            in_order = sorted(zip(places, whole.values(), strict=True), key=itemgetter(0))
            whole = [value for _, value in in_order]
    if isinstance(whole, list):
        items = [_opened(one) for one in whole if isinstance(one, Mapping)]
        return passages(items if len(items) == len(whole) else whole, tally)
    if whole is not None:
        return passages(whole, tally)
    numbered: dict[int, Values] = {}
    for name, value in attributes.items():
        if match := _NUMBERED.fullmatch(name):
            numbered.setdefault(int(match[1]), {})[match[2].removeprefix("document.")] = value
    return passages([numbered[i] for i in sorted(numbered)], tally) if numbered else None


def _opened(item: Mapping[str, Any]) -> Values:
    """Return a document's own fields: those inside `document`, or behind `document.`."""
    inner = item.get("document")
    if isinstance(inner, Mapping):
        return dict(inner)
    return {str(name).removeprefix("document."): value for name, value in item.items()}


# UBI

HITS = "query_response_hit_ids"
OPENING = ("click", "item_click", "product_click", "result_click", "view_item", "select_content",
           "add_to_cart", "purchase", "buy")  # fmt: skip
"""Actions on a result. Others that name an object, such as a hover, are none."""
ATTRIBUTES = "event_attributes"


def _fits_ubi(values: Values, config: LogConfig) -> bool:
    is_query = "user_query" in values and ("client_id" in values or HITS in values)
    return is_query or ("action_name" in values and "query_id" in values)


def _whole_event(values: Values) -> Values:
    """Return a record whose attributes are an object, in whatever shape they came."""
    inner = parse.unpacked(values.get(ATTRIBUTES))
    return {**values, ATTRIBUTES: inner if isinstance(inner, dict) else {}}


def _read_ubi(
    values: Values, config: LogConfig, tally: ReadingTally
) -> Iterator[Exchange | Feedback]:
    if "action_name" in values:
        yield _read_event(values, config, tally)
        return
    text, name = _question(values, config, tally, ("user_query",)), config.results_field or HITS
    served = at_path(values, name)
    if served is not None:
        tally.note("results", name)
    yield _exchange(text, passages(served, tally), values, config, tally)


def _read_event(values: Values, config: LogConfig, tally: ReadingTally) -> Feedback:
    """Return the click or opinion of an event. Raises Skip for others."""
    action = str(values.get("action_name") or "").strip().lower()
    ref = plain(values.get("query_id"))
    if ref is None:
        raise Skip("events that name no query")
    inside = _whole_event(values)
    attributes = inside[ATTRIBUTES]
    if action in OPENING:
        own = inside if attributes else values
        paths = (f"{ATTRIBUTES}.object.object_id", "object_id", "object.object_id")
        ids = (plain(at_path(own, path)) for path in paths)
        return Feedback(ref, click=next(filter(None, ids), ""))
    flat = (*FEEDBACK, *(f"{ATTRIBUTES}.{name}" for name in FEEDBACK))  # attributes as columns
    field, value = first_named(attributes, None, FEEDBACK)
    if config.feedback_field is not None:
        field, value = first_named(inside, config.feedback_field, ())
    elif not field:
        field, value = first_named(values, None, flat)
    good, bad, marks = by_name = parse.opinion(action, None, ReadingTally())
    if not good and not bad:
        good, bad, marks = parse.opinion(value, config.good_from, tally, field)
    else:  # of a "helpful" with 1 or 0 the meaning is known; a comment, or stars, say less
        number = None if isinstance(value, bool) else as_number(value)
        if config.good_from is not None or number in (None, 0, 1, -1):
            least = 1 if config.good_from is None else config.good_from
            by_value = parse.opinion(value, least, ReadingTally())
            good, bad, marks = by_value if any(by_value) else by_name
    if by_name[1] and good:  # "dislike" with true may mean either
        raise Skip(f"events whose feedback contradicts their action ({action})")
    if not (good or bad or marks):
        raise Skip(f"events of no interest ({action or 'no action'})")
    return Feedback(ref, good, bad, marks=marks)


# data sets

RAGAS = {"retrieved_contexts", "retrieved_context_ids", "reference_contexts", "ground_truth",
         "response"}  # fmt: skip
DEEPEVAL = ("retrieval_context", "actual_output", "expected_output")


def _fits_ragas(values: Values, config: LogConfig) -> bool:
    return ("user_input" in values and not RAGAS.isdisjoint(values)) or (
        "question" in values and "contexts" in values
    )


def _fits_deepeval(values: Values, config: LogConfig) -> bool:
    return "input" in values and any(name in values for name in DEEPEVAL)


def _read_ragas(values: Values, config: LogConfig, tally: ReadingTally) -> Iterator[Exchange]:
    """Yield a sample's question, with the ids of its contexts, or else their texts."""
    text = _question(values, config, tally, ("user_input", "question"))
    own, usual = config.results_field, ("retrieved_context_ids",)
    results = passages(parse.first_of(values, own, usual, tally, "results"), tally)
    if results is None and own is None:
        names = ("retrieved_contexts", "contexts")
        results = parse.contexts(parse.first_of(values, None, names, tally, "results"), tally)
    yield _exchange(text, results, values, config, tally)


def _read_deepeval(values: Values, config: LogConfig, tally: ReadingTally) -> Iterator[Exchange]:
    text = _question(values, config, tally, ("input",))
    served = parse.first_of(values, config.results_field, ("retrieval_context",), tally, "results")
    yield _exchange(text, parse.contexts(served, tally), values, config, tally)


FORMATS: dict[Format, tuple[Fits, Read, Callable[[Values], Values]]] = {
    "spans": (fits_spans, _read_span, _whole_span),
    "ubi": (_fits_ubi, _read_ubi, _whole_event),
    "ragas": (_fits_ragas, _read_ragas, dict),
    "deepeval": (_fits_deepeval, _read_deepeval, dict),
    "plain": (_fits_plain, _read_plain, dict),
}
"""How a record of a format is recognised, read, and returned with all its fields.

The most particular first: any record with a question is a plain one.
"""
