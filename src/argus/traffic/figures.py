"""Compute the figures of a query log by SQL: failing questions, feedback, and served documents.

A step of `argus traffic audit`: the log in `argus.traffic.book` -> tables and parts of its summary.
An ask is one occurrence of a question. It fails in four ways (OUTCOMES), which are counted over
time, by slice, and in two windows. Documents are counted as hubs, as unserved, and as superseded
when served. No ask is held in memory. Single questions are examined in `argus.traffic.questions`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from argus.authority.opening import OpenedAuthority
from argus.data.fields import seconds
from argus.measures.intervals import newcombe, share
from argus.measures.significance import paired_difference
from argus.measures.slices import FEW, NONE, slice_names
from argus.retrievability.exposure_findings import gini, lorenz
from argus.traffic.book import LogBook

DAY_S = 86_400
# SQL: the day of an ask since 1970, -1 without a time.
DAY = f"COALESCE(CAST(asks.at / {DAY_S} AS INTEGER), -1)"
# Column of the view `outcomes` to its name. A high share is bad.
OUTCOMES = {
    "empty": "nothing came back",
    "bad": "bad feedback",
    "unopened": "no result opened",
    "stale": "a superseded document served",
}
MAX_STEPS = 60
# Days of a step of time. The shortest is used with at most MAX_STEPS steps.
STEPS = (1, 7, 28, 364)
# One row per step of time that has asks. begins: beginning of the step, UTC. days: length of the
# step. asks: asks in it. empty: asks with an empty result. bad: asks with bad feedback. unopened:
# asks of which no result was opened. stale: asks that were served a superseded document. empty_of,
# bad_of, unopened_of, stale_of: asks for which this is known.
OVER_TIME = pa.schema(
    [("begins", pa.timestamp("s", "UTC")), ("days", pa.int64()), ("asks", pa.int64())]
    + [(column, pa.int64()) for name in OUTCOMES for column in (name, f"{name}_of")]
)
# Questions of one test, by their hashes. The shares are of all asks.
MAX_TESTED = 50_000
# Questions in both windows below which no test is made.
MIN_VALUES = 5


def make_outcomes(book: LogBook, *, has_stale: bool) -> list[str]:
    """Make the view `outcomes`, a row per ask, and return the outcomes that are known for any.

    has_stale: whether there is a table `stale (list, day, stale)`. Unknown outcomes are null.
    """
    (clicks,) = book.one("SELECT COALESCE(SUM(clicks), 0) FROM asks")
    joined = f"LEFT JOIN stale ON stale.list = asks.list AND stale.day = {DAY}"
    unopened = "CASE WHEN lists.n > 0 THEN asks.clicks = 0 END" if clicks else "NULL"
    slices = "".join(f", asks.s{i}" for i in range(len(book.slices)))
    book.do(
        "CREATE VIEW outcomes AS SELECT asks.question, asks.at, lists.n = 0 AS empty, "
        "CASE WHEN (asks.good > 0) <> (asks.bad > 0) THEN asks.bad > 0 END AS bad, "
        f"{unopened} AS unopened, {'stale.stale' if has_stale else 'NULL'} AS stale {slices} "
        f"FROM asks LEFT JOIN lists ON lists.id = asks.list {joined if has_stale else ''}"
    )
    counts = book.one(f"SELECT {', '.join(f'COUNT({name})' for name in OUTCOMES)} FROM outcomes")
    return [name for name, n in zip(OUTCOMES, counts, strict=True) if n]


def over_time(book: LogBook) -> pa.Table:
    """Return one row per step of time with asks. An unknown outcome is null."""
    first, last = book.one("SELECT MIN(at), MAX(at) FROM asks")
    span = ((last or 0) - (first or 0)) / DAY_S
    days = next((step for step in STEPS if span / step <= MAX_STEPS), STEPS[-1])
    columns = ", ".join(f"SUM({name}), COUNT({name})" for name in OUTCOMES)
    rows = book.rows(
        f"SELECT CAST(at / {DAY_S * days} AS INTEGER), COUNT(*), {columns} FROM outcomes "
        "WHERE at IS NOT NULL GROUP BY 1 ORDER BY 1"
    )
    table = [
        dict(zip(OVER_TIME.names, (step * DAY_S * days, days, n, *rest), strict=True))
        for step, n, *rest in rows
    ]
    return pa.Table.from_pylist(table, schema=OVER_TIME)


def feedback_figures(book: LogBook, unknown: int) -> dict[str, Any] | None:
    """Sum up feedback over all asks, None without any. An ask with good and bad is in no share.

    with_opinion: asks with good or bad feedback.
    bad: bad ones, of asks with an opinion that does not contradict itself.
    contradicting: asks with good and bad feedback at once.
    clicked: asks with a click, of those with results. None where the log has none.
    unknown: signals that name no question of the log.
    """
    opinions, bad, both, clicks, with_results = book.one(
        "SELECT COALESCE(SUM(good > 0 OR bad > 0), 0), COALESCE(SUM(bad > 0 AND good = 0), 0), "
        "COALESCE(SUM(good > 0 AND bad > 0), 0), SUM(clicks > 0), SUM(n > 0) "
        "FROM asks LEFT JOIN lists ON list = lists.id"
    )
    if not (opinions or clicks or unknown):
        return None
    clicked = share(min(clicks, with_results), with_results) if clicks and with_results else None
    return {
        "with_opinion": opinions,
        "bad": share(bad, opinions - both),
        "contradicting": both,
        "clicked": clicked,
        "unknown": unknown,
    }


def slice_shares(book: LogBook, outcomes: Sequence[str]) -> tuple[list[Any], list[Any]]:
    """Return the fields that slice the log, and the share of every outcome by slice.

    Both are as `argus.measures.slices` has them.
    """
    fields: list[dict[str, Any]] = []
    shares: list[dict[str, Any]] = []
    for i, field in enumerate(book.slices):
        values: dict[Any, int] = dict(book.rows(f"SELECT s{i}, COUNT(*) FROM asks GROUP BY 1"))
        without = values.pop(None, 0)
        names, cut = slice_names(values)
        slices = len(set(names.values())) + bool(without)
        fields.append({"field": field, "slices": slices, "without": without, "cut": cut})
        for outcome in outcomes:
            asks, failed = Counter[str](), Counter[str]()
            for value, n, bad in book.rows(
                f"SELECT s{i}, COUNT(*), SUM({outcome}) FROM outcomes WHERE {outcome} IS NOT NULL "
                "GROUP BY 1"
            ):
                name = NONE if value is None else names[value]
                asks[name] += n
                failed[name] += bad
            whole = share(failed.total(), asks.total())
            for name, n in asks.items():
                own = share(failed[name], n)
                if own is None or whole is None:  # never: every group of SQL has a row
                    continue
                words = {"field": field, "slice": name, "share_of": OUTCOMES[outcome]}
                beside = {"whole": whole["share"], "worse_by": own["low"] - whole["high"]}
                shares.append({**words, **own, **beside, "is_few": n < FEW})
    return fields, shares


def compare_windows(
    book: LogBook, outcomes: Sequence[str], named: str | None, *, seed: int, resamples: int
) -> dict[str, Any] | None:
    """Compare asks before a moment with those from then on, None if either window is empty.

    named: the moment, by default the middle of asks with a time. Shares are of asks. The test is
    over questions that were asked in both windows, in pairs.

    split: moment between the windows, ISO 8601, UTC.
    asks_before, asks_after: asks with a time in each window.
    changes: of each outcome: outcome, its share before and after; low and high, the 95% interval of
        after less before (Newcombe), as if asks were independent; same_questions, the difference
        over questions asked in both windows, None for fewer than five.
    """
    (n,) = book.one("SELECT COUNT(at) FROM asks")
    middle = "SELECT at FROM asks WHERE at IS NOT NULL ORDER BY at LIMIT 1 OFFSET ?"
    split = seconds(named)
    if split is None:
        split = float(book.one(middle, n // 2)[0]) if n > 1 else 0.0
    before, after = book.one("SELECT SUM(at < ?), SUM(at >= ?) FROM asks", split, split)
    if not before or not after:
        return None
    changes = []
    for outcome in outcomes:
        known = f"FROM outcomes WHERE at IS NOT NULL AND {outcome} IS NOT NULL"
        counts = book.rows(f"SELECT at >= ?, COUNT(*), SUM({outcome}) {known} GROUP BY 1", split)
        shares = {window: share(bad, n) for window, n, bad in counts}
        first, second = shares.get(0), shares.get(1)
        if first is None or second is None:
            continue
        means: tuple[dict[str, float], dict[str, float]] = ({}, {})
        for question, window, mean in book.rows(
            f"SELECT question, at >= ?, AVG({outcome}) {known} AND question IN "
            "(SELECT id FROM questions ORDER BY id LIMIT ?) GROUP BY 1, 2",
            split, MAX_TESTED,
        ):  # fmt: skip
            means[window][str(question)] = mean
        both = means[0].keys() & means[1].keys()
        same = None
        if len(both) >= MIN_VALUES:
            paired = ({q: own[q] for q in both} for own in means)
            same = paired_difference(*paired, seed=seed, resamples=resamples).figures()
        low, high = newcombe(second["share"], second["n"], first["share"], first["n"])
        changes.append(
            {
                "outcome": OUTCOMES[outcome],
                "before": first,
                "after": second,
                "low": float(low),
                "high": float(high),
                "same_questions": same,
            }
        )
    return {
        "split": datetime.fromtimestamp(split, UTC).isoformat(timespec="seconds"),
        "asks_before": before,
        "asks_after": after,
        "changes": changes,
    }


MAX_HUBS, MAX_EXAMPLES = 50, 20
# One row per document that came back, or is in the corpus, the most served first. asks: asks with
# it in the first k results. questions: different questions that it came back for. first: asks for
# which it came first. in_corpus: whether the corpus has it. Null without a corpus. superseded: asks
# that it was served for, though superseded by then.
DOCUMENTS = pa.schema(
    [
        ("id", pa.string()), ("label", pa.string()), ("asks", pa.int64()),
        ("questions", pa.int64()), ("first", pa.int64()), ("in_corpus", pa.bool_()),
        ("superseded", pa.int64()),
    ]
)  # fmt: skip
_JOINED = "FROM asks JOIN lists ON lists.id = list"


def served_documents(
    book: LogBook, k: int, labels: Mapping[str, str], is_corpus: bool, stale: Counter[str]
) -> tuple[dict[str, Any] | None, pa.Table]:
    """Count documents in the first k results of all asks. Without known results: no figures.

    labels: titles by id, of the corpus or else of passages. stale: asks by superseded document.
    Memory grows with documents, not with the log.

    asks: asks with known results.
    different: different documents that came back.
    corpus: documents of the corpus. None without one.
    never: of these, documents that never came back. None without a corpus.
    unknown: different ids that are no document of the corpus. None without one.
    gini: Gini coefficient over documents of the corpus, or over those that came back.
    lorenz: Lorenz curve, at equal steps of the share of documents.
    hubs: documents that came back most often, with their asks, and these as a share of all.
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
    ordered = sorted(every, key=lambda id_: (-served[id_], id_))
    columns = [
        ordered,
        [labels.get(id_, "") for id_ in ordered],
        *([counts[id_] for id_ in ordered] for counts in (served, questions, first)),
        [id_ in labels if is_corpus else None for id_ in ordered],
        [stale[id_] for id_ in ordered],
    ]
    table = pa.table(columns, schema=DOCUMENTS)
    if not total:
        return None, table
    counts = [served[id_] for id_ in (labels if is_corpus else served)]
    hubs = [(id_, served[id_]) for id_ in ordered if served[id_]][:MAX_HUBS]
    return {
        "asks": total,
        "different": len(served),
        "corpus": len(labels) if is_corpus else None,
        "never": counts.count(0) if is_corpus else None,
        "unknown": len(served.keys() - labels.keys()) if is_corpus else None,
        "gini": gini(counts),
        "lorenz": lorenz(counts).round(5).tolist() if counts else [],
        "hubs": [
            {"id": id_, "label": labels.get(id_, ""), "asks": n, "share": round(n / total, 5)}
            for id_, n in hubs
        ],
    }, table


def find_stale(
    book: LogBook, opened: OpenedAuthority, k: int
) -> tuple[dict[str, Any], Counter[str]]:
    """Find lists with documents in the first k that were superseded on the day they were served.

    Makes the table `stale (list, day, stale)`, without lists that have no record. Returns figures,
    and asks by superseded document.

    asks: share of asks with one, of the asks in which any result has a record.
    alone: of these, asks for which no document that controls it came along.
    documents: superseded documents that were served.
    without_time: asks without a time, which are compared with the documents in force now.
    examples: the most served, with their asks, and `instead`: ids of what controls them.
    """
    counts, instead, alone = Counter[str](), dict[str, list[str]](), 0
    view, view_day, marks = opened.authority, -1, []
    for list_, day, asks, results in book.rows(
        f"SELECT list, {DAY} AS day, COUNT(*), results {_JOINED} GROUP BY list, day ORDER BY day"
    ):
        if day != view_day and not opened.authority.is_view:  # asks without a time come first
            date = datetime.fromtimestamp(day * DAY_S, UTC).date().isoformat()
            view, view_day = opened.authority.as_of(date), day
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
