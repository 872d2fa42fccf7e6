"""Count the documents that a log serves: hubs, documents for nobody, superseded ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from typing_extensions import TypedDict

from argus.authority.jobs.inputs import OpenedAuthority
from argus.authority.relation import Authority
from argus.measures.slices import NONE, slice_names
from argus.retrievability.concentration import gini, lorenz
from argus.traffic.book import LogBook
from argus.traffic.figures import DAY, DAY_S, Share, share, step_days

MAX_HUBS, MAX_EXAMPLES = 50, 20
DOCUMENTS = pa.schema(
    [
        ("id", pa.string()), ("label", pa.string()), ("asks", pa.int64()),
        ("questions", pa.int64()), ("first", pa.int64()), ("in_corpus", pa.bool_()),
        ("superseded", pa.int64()),
    ]
)  # fmt: skip
"""One row per document that came back, or is in the corpus, the most served first.

asks: asks in whose first k it was.
questions: different questions that it came back for.
first: asks for which it came first.
in_corpus: whether the corpus has it; null without one.
superseded: asks for which it was served though superseded by then.
"""
BY_PART = pa.schema(
    [
        ("field", pa.string()), ("part", pa.string()), ("asks", pa.int64()),
        ("different", pa.int64()), ("never", pa.int64()), ("gini", pa.float64()),
        ("hub", pa.string()), ("hub_label", pa.string()), ("hub_asks", pa.int64()),
    ]
)  # fmt: skip
"""One row per slice, and per step of time, with asks whose results are known.

field: field of the slice; time for a step of time.
part: what the field holds there; the day on which the step begins, UTC.
asks: asks in it whose results are known.
different: different documents that came back.
never: documents of the corpus that came back for none of them; null without a corpus.
gini: Gini coefficient over documents of the corpus, or over those that came back.
hub: id of the document that came back for most of them.
hub_label: its title.
hub_asks: asks that it came back for.
"""
_JOINED = "FROM asks JOIN lists ON lists.id = list"


class TrafficHub(TypedDict):
    """A document that comes back for many.

    asks: asks that it came back for.
    share: these as a share of all asks.
    """

    id: str
    label: str
    asks: int
    share: float


class ServedDocuments(TypedDict):
    """Documents in the first k results of all asks whose results are known.

    asks: asks whose results are known.
    different: different documents that came back.
    corpus: documents of the corpus; None without one.
    never: of these, documents that never came back; None without a corpus.
    unknown: different ids that are no document of the corpus; None without one.
    gini: Gini coefficient over documents of the corpus, or over those that came back.
    lorenz: Lorenz curve, at equal steps of the share of documents.
    hubs: documents that came back most often.
    """

    asks: int
    different: int
    corpus: int | None
    never: int | None
    unknown: int | None
    gini: float
    lorenz: list[float]
    hubs: list[TrafficHub]


class StaleDocument(TypedDict):
    """A superseded document, how often it was served, and what controls it.

    asks: asks that it was served for.
    instead: ids of what controls it.
    """

    id: str
    asks: int
    instead: list[str]


class StaleServed(TypedDict):
    """Asks whose first k results held a document that was superseded by then.

    asks: these, of the asks in which any result has a record.
    alone: of these, asks for which nothing that controls it came along.
    documents: superseded documents that were served.
    examples: the most served of them.
    """

    asks: Share | None
    alone: int
    documents: int
    without_time: int
    """Asks without a time: compared with what is in force now."""
    examples: list[StaleDocument]


def served_documents(
    book: LogBook, k: int, labels: Mapping[str, str], is_corpus: bool, stale: Counter[str]
) -> tuple[ServedDocuments | None, pa.Table]:
    """Count documents over all asks; no figures if no results are known.

    labels: titles by id, of the corpus or else of passages. stale: asks by superseded document.
    Memory grows with documents, not with the log.
    """
    served, first, questions = Counter[str](), Counter[str](), Counter[str]()
    total = 0
    for results, asks, different in book.rows(
        f"SELECT results, COUNT(*), COUNT(DISTINCT question) {_JOINED} GROUP BY list"
    ):
        total += asks
        for rank, (id_, _) in enumerate(json.loads(results)[:k]):
            served[id_] += asks
            questions[id_] += different
            first[id_] += asks * (rank == 0)
    every = dict.fromkeys([*served, *(labels if is_corpus else ())])
    rows = [
        {
            "id": id_, "label": labels.get(id_, ""), "asks": served[id_],
            "questions": questions[id_], "first": first[id_],
            "in_corpus": id_ in labels if is_corpus else None, "superseded": stale[id_],
        }
        for id_ in sorted(every, key=lambda id_: (-served[id_], id_))
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, schema=DOCUMENTS)
    if not total:
        return None, table
    counts = [served[id_] for id_ in (labels if is_corpus else served)]
    return {
        "asks": total,
        "different": len(served),
        "corpus": len(labels) if is_corpus else None,
        "never": sum(not n for n in counts) if is_corpus else None,
        "unknown": len(served.keys() - labels.keys()) if is_corpus else None,
        "gini": gini(counts),
        "lorenz": lorenz(counts).round(5).tolist() if counts else [],
        "hubs": [
            {"id": id_, "label": labels.get(id_, ""), "asks": n, "share": round(n / total, 5)}
            for id_, n in sorted(served.items(), key=lambda one: (-one[1], one[0]))[:MAX_HUBS]
        ],
    }, table


def served_by_part(book: LogBook, k: int, labels: Mapping[str, str], is_corpus: bool) -> pa.Table:
    """Return hubs and unserved documents of each slice and step of time. labels: titles by id.

    Memory grows with the documents of one field's slices, or of all steps, not with the log.
    """
    rows: list[dict[str, object]] = []
    for field, parts in _parts(book, k):
        for part, (asks, served) in parts.items():
            counts = [served[id_] for id_ in (labels if is_corpus else served)]
            hub = min(served, key=lambda id_: (-served[id_], id_), default=None)
            rows.append(
                {
                    "field": field, "part": part, "asks": asks, "different": len(served),
                    "never": sum(not n for n in counts) if is_corpus else None,
                    "gini": gini(counts), "hub": hub, "hub_label": labels.get(hub or "", ""),
                    "hub_asks": served[hub] if hub is not None else 0,
                }
            )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=BY_PART)


Parts = dict[str, tuple[int, Counter[str]]]
"""Name of a part to its asks, and to the asks that each document came back for."""


def _parts(book: LogBook, k: int) -> Iterator[tuple[str, Parts]]:
    def count(query: str, names: Mapping[Any, str] | None) -> Parts:
        parts: Parts = {}
        for value, results, asks in book.rows(query):
            part = str(value) if names is None else names[value]
            total, served = parts.get(part, (0, Counter[str]()))
            for id_, _ in json.loads(results)[:k]:
                served[id_] += asks
            parts[part] = total + asks, served
        return parts

    for i, field in enumerate(book.slices):
        held = f"SELECT s{i}, COUNT(*) FROM asks WHERE s{i} IS NOT NULL GROUP BY 1"
        names, _ = slice_names(dict(book.rows(held)))
        by_value: dict[Any, str] = {**names, None: NONE}
        query = f"SELECT s{i}, results, COUNT(*) {_JOINED} GROUP BY 1, list"
        yield field, count(query, by_value)
    step = DAY_S * step_days(book)
    steps = count(
        f"SELECT CAST(at / {step} AS INTEGER), results, COUNT(*) {_JOINED} "
        "WHERE at IS NOT NULL GROUP BY 1, list ORDER BY 1",
        None,
    )
    days = (datetime.fromtimestamp(int(n) * step, UTC).date().isoformat() for n in steps)
    yield "time", dict(zip(days, steps.values(), strict=True))


def find_stale(book: LogBook, opened: OpenedAuthority, k: int) -> tuple[StaleServed, Counter[str]]:
    """Find lists with documents that were superseded on the day they were served.

    Makes the table `stale (list, day, stale)`; lists without any record are left out. Returns the
    figures, and asks by superseded document.
    """
    counts, instead, alone = Counter[str](), dict[str, list[str]](), 0
    views: dict[int, Authority] = {}

    def view_of(day: int) -> Authority:
        """Return the relation as of a day; the one opened if it is of a date, or without a time."""
        if day < 0 or opened.authority.is_view:
            return opened.authority
        if day not in views:
            views.clear()  # days come in order
            date = datetime.fromtimestamp(day * DAY_S, UTC).date().isoformat()
            views[day] = opened.authority.as_of(date)
        return views[day]

    marks = []
    for list_, day, asks, results in book.rows(
        f"SELECT list, {DAY} AS day, COUNT(*), results {_JOINED} GROUP BY list, day ORDER BY day"
    ):
        view = view_of(day)
        ids = [id_ for id_, _ in json.loads(results)[:k]]
        own = [id_ for id_ in ids if id_ in view and view.in_force(id_)]
        stale = [id_ for id_ in own if not view.is_active(id_)]
        for id_ in stale:
            counts[id_] += asks
            if id_ not in instead:
                instead[id_] = sorted(view.controlling_chains([id_]))
        if stale and not any({*instead[id_]} & {*ids} for id_ in stale):
            alone += asks
        if own:
            marks.append((list_, day, bool(stale)))
    book.do(
        "CREATE TABLE stale (list INTEGER, day INTEGER, stale INTEGER, PRIMARY KEY (list, day))"
    )
    book.do_all("INSERT INTO stale VALUES (?,?,?)", marks)
    n_stale, n, timeless = book.one(
        "SELECT COALESCE(SUM(stale), 0), COUNT(*), COALESCE(SUM(at IS NULL), 0) FROM asks "
        f"JOIN stale ON stale.list = asks.list AND stale.day = {DAY}"
    )
    worst = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_EXAMPLES]
    return {
        "asks": share(n_stale, n),
        "alone": alone,
        "documents": len(counts),
        "without_time": timeless,
        "examples": [{"id": id_, "asks": asks, "instead": instead[id_]} for id_, asks in worst],
    }, counts
