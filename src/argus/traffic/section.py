"""Describe audited traffic: summary.json, the lines that the command prints, the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from typing_extensions import TypedDict

from argus.data.tables import read_table
from argus.measures.slices import Sliced, slice_lines
from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, Table, naming, table
from argus.reports.slices import slices_table
from argus.retrievers.protocol import RetrieverNote, note_lines
from argus.traffic.figures import (
    FeedbackFigures,
    ServedDocuments,
    Share,
    StaleServed,
    WindowChange,
    Windows,
    in_words,
)
from argus.traffic.questions import RiskFigures, Unmet
from argus.verdict.counts import describe_log

MAX_NAMED = 5


class LogFigures(TypedDict):
    """Records of the log. Times are ISO 8601, UTC.

    files: file to its format.
    fields: role (question, results, ...) to its fields, each with its number of records.
    records: records that were read.
    asks: number of asks.
    skipped: records, and damaged pieces, without a question, by reason.
    remarks: doubt about records, to their number.
    redacted: number of replacements in questions, ids and slices, by kind of secret.
    hash_only: whether only hashes of questions were stored.
    first: time of the first ask. None without times.
    last: time of the last ask. None without times.
    without_time: asks without a time.
    backwards: records that are earlier than the one before.
    future: asks later than now. A clock, or a unit, is wrong.
    """

    files: dict[str, str]
    fields: dict[str, dict[str, int]]
    records: int
    asks: int
    skipped: dict[str, int]
    remarks: dict[str, int]
    redacted: dict[str, int]
    hash_only: bool
    first: str | None
    last: str | None
    without_time: int
    backwards: int
    future: int


class QuestionFigures(TypedDict):
    """Different questions. Case, spaces and closing marks make no difference.

    different: different questions.
    repeated: asks of a question that was asked before.
    looked_at: different questions that were examined, drawn at random.
    alike: of these, near duplicates of a more frequent one, which count with it.
    """

    different: int
    repeated: int
    looked_at: int
    alike: int


class KnownResults(TypedDict):
    """Numbers of asks with known results, by source.

    logged: asks whose results the log has.
    answered: asks that the retriever answered now.
    unknown: asks with unknown results.
    nothing: asks with an empty result, of those with known results.
    """

    logged: int
    answered: int
    unknown: int
    nothing: Share | None


class MeasuredTraffic(Sliced):
    """Figures of results.

    results: numbers of asks with known results.
    documents: documents that came back. None without known results.
    superseded: superseded documents that were served. None without records.
    windows: comparison of two spans of time. None without asks in both.
    unmet: unmet demand. None where only hashes are stored.
    """

    results: KnownResults
    documents: ServedDocuments | None
    superseded: StaleServed | None
    windows: Windows | None
    unmet: Unmet | None


class TrafficSummary(MeasuredTraffic):
    """Audited traffic.

    retriever: retriever that was asked. None without one.
    feedback: feedback on the results. None where the log has none.
    risk: order of the questions by risk. None without a corpus.
    """

    k: int
    log: LogFigures
    questions: QuestionFigures
    retriever: RetrieverNote | None
    feedback: FeedbackFigures | None
    risk: RiskFigures | None


def headline(summary: TrafficSummary) -> Iterator[str]:
    """Yield the lines that the command prints."""
    yield describe_log(summary)
    yield from _of_log(summary["log"], summary["questions"])
    results = summary["results"]
    if summary["retriever"] is not None:
        yield from note_lines(summary["retriever"], summary["questions"]["looked_at"])
    if results["nothing"]:
        yield f"nothing came back: {in_words(results['nothing'])} asks"
    if summary["documents"]:
        yield from _of_documents(summary["documents"], summary["k"])
    if summary["feedback"]:
        yield from _of_feedback(summary["feedback"])
    if summary["superseded"]:
        yield from _of_superseded(summary["superseded"])
    if summary["windows"]:
        yield from _of_windows(summary["windows"])
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    if summary["risk"]:
        yield _of_risk(summary["risk"])
    if summary["unmet"]:
        yield from _of_unmet(summary["unmet"])
    yield meaning(summary)


def _of_log(log: LogFigures, questions: QuestionFigures) -> Iterator[str]:
    for reason, n in list(log["skipped"].items())[:MAX_NAMED]:
        yield f"  left out: {n:,} {reason}"
    for remark, n in list(log["remarks"].items())[:MAX_NAMED]:
        yield f"  WARNING: {n:,} with {remark}"
    if log["backwards"]:
        yield f"  WARNING: {log['backwards']:,} records are earlier than the one before"
    if log["future"]:
        yield f"  WARNING: {log['future']:,} asks are later than now: look at the time's unit"
    if log["redacted"]:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in log["redacted"].items())
        yield f"replaced before anything was kept: {kinds}"
    if log["hash_only"]:
        yield "no text is kept: nothing is told of words, and nothing was asked"
    yield (
        f"{questions['looked_at']:,} different questions looked at, {questions['alike']:,} of them "
        "nearly equal to another"
    )


def _of_documents(documents: ServedDocuments, k: int) -> Iterator[str]:
    yield (
        f"{documents['different']:,} documents came back in the top {k}; Gini "
        f"{documents['gini']:.2f}"
    )
    if documents["never"] is not None:
        yield f"serve nobody: {documents['never']:,} of {documents['corpus']:,} documents"
    if documents["unknown"]:
        yield (
            f"WARNING: {documents['unknown']:,} ids that came back are no document of the corpus: "
            "is it the one that was indexed?"
        )
    for hub in documents["hubs"][:1]:
        yield f"the largest hub, {hub['id']}, is in {hub['share']:.1%} of the lists"


def _of_feedback(feedback: FeedbackFigures) -> Iterator[str]:
    if feedback["bad"]:
        yield f"bad feedback: {in_words(feedback['bad'])} asks with an opinion"
    if feedback["contradicting"] or feedback["changed_mind"] or feedback["disputed"]:
        yield (
            f"feedback contradicts itself: {feedback['contradicting']:,} asks with both, "
            f"{feedback['changed_mind']:,} times one person on one question, "
            f"{feedback['disputed']:,} questions with both"
        )
    if feedback["clicked"]:
        first = feedback["first_click"]
        rank = f", at rank {first:.1f} in the mean" if first is not None else ""
        yield f"a result was opened: {in_words(feedback['clicked'])} asks with results{rank}"
    if feedback["unknown"]:
        yield f"WARNING: {feedback['unknown']:,} signals name no question of the log"


def _of_superseded(stale: StaleServed) -> Iterator[str]:
    if stale["asks"] is None:
        yield "WARNING: nothing that was served has a record: are the records of this corpus?"
        return
    yield (
        f"served something superseded by then: {in_words(stale['asks'])} asks; in "
        f"{stale['alone']:,} of them nothing that controls it came along"
    )
    for one in stale["examples"][:3]:
        yield f"  {one['id']}, {one['asks']:,} times, in place of {', '.join(one['instead'])}"


def _of_windows(windows: Windows) -> Iterator[str]:
    for change in windows["changes"]:
        yield (
            f"before {windows['split']} and since: {change['outcome']} "
            f"{change['before']['share']:.1%} to {change['after']['share']:.1%} "
            f"({change['low']:+.1%} to {change['high']:+.1%}); {_tests(change)}"
        )


def _tests(change: WindowChange) -> str:
    """Describe the tests over questions."""
    parts = []
    if (same := change["same_questions"]) is not None:
        parts.append(f"p = {same['p_value']:.3f} on {same['queries']:,} questions asked in both")
    if (other := change["other_questions"]) is not None:
        n = other["before"] + other["after"]
        parts.append(f"p = {other['p_value']:.3f} on {n:,} asked in one")
    return "; ".join(parts) or "too few questions for a test"


def _of_risk(risk: RiskFigures) -> str:
    known = f"{risk['ranked']:,} questions are ordered by risk, which tells no rate of failure"
    flagged = "".join(f"; flagged: {n:,}, {why}" for why, n in risk["flagged"].items())
    return f"{known}{flagged} (argus traffic judge tells how often they fail)"


def _of_unmet(unmet: Unmet) -> Iterator[str]:
    why = ", ".join(f"{n:,} {reason}" for reason, n in unmet["why"].items())
    yield f"unmet, by what the log tells: {unmet['questions']:,} questions ({why or 'none'})"
    if unmet["worth"]:
        yield f"  what little support is worth: {unmet['worth']}"
    for one in unmet["largest"][:MAX_NAMED]:
        yield f"  {one['words']}: {one['questions']:,} questions, {one['asks']:,} asks"


def meaning(summary: TrafficSummary) -> str:
    """Return the conclusion, and the next step."""
    stale, unmet, results = summary["superseded"], summary["unmet"], summary["results"]
    if stale and stale["asks"] and stale["asks"]["share"] > 0:
        return (
            "People are served what is superseded: resolve it as it is served (argus authority "
            "search), then run this again on the new log."
        )
    if unmet and unmet["largest"]:
        first = unmet["largest"][0]
        return (
            f"Begin with \u201c{first['words']}\u201d: read its questions in unmet.csv, and see "
            "whether the corpus lacks the answer, or hides it (argus explain)."
        )
    if not results["logged"] and not results["answered"]:
        return (
            "The log does not say what came: name its field with --results-field, or what answers "
            "with --retriever."
        )
    return "No cluster of unmet questions stands out; questions.parquet has every question."


def section(folder: Path, summary: TrafficSummary) -> Section:
    """Build the report's section from the summary and its tables."""
    tables = {"over_time": _over_time(folder)}
    plots = {}
    if (documents := summary["documents"]) is not None:
        rows: list[list[object]] = [
            [naming(hub["label"], hub["id"]), hub["asks"], hub["share"]]
            for hub in documents["hubs"]
        ]
        tables["traffic_hubs"] = table(
            {"document": "text", "asks": "count", "share of asks": "share"}, rows
        )
        tables["served_by_part"] = _parts(folder)
        if documents["lorenz"]:
            plots["traffic_lorenz"] = figures.lorenz(documents["lorenz"], documents["gini"])
    if summary["unmet"] is not None:
        tables["unmet"] = _unmet(summary["unmet"])
    if summary["windows"] is not None:
        tables["windows"] = _windows(summary["windows"])
    if (stale := summary["superseded"]) is not None:
        tables["stale_served"] = table(
            {"document": "text", "asks": "count", "what controls it": "text"},
            [[one["id"], one["asks"], ", ".join(one["instead"])] for one in stale["examples"]],
        )
    if "slices" in summary:
        tables["traffic_slices"] = slices_table(folder, "traffic_slices")
    return Section(plots, tables, _brief(summary))


def _brief(summary: TrafficSummary) -> str:
    parts = [describe_log(summary)]
    if nothing := summary["results"]["nothing"]:
        parts.append(f"nothing came back for {in_words(nothing)}")
    if (unmet := summary["unmet"]) is not None:
        parts.append(f"{unmet['questions']:,} questions are unmet by what the log tells")
    return "; ".join(parts)


def _unmet(unmet: Unmet) -> Table:
    columns = {
        "about": "text", "asks": "count", "questions": "count", "why": "text", "such as": "lines",
        "came instead": "lines", "nearest in the corpus": "lines",
    }  # fmt: skip
    rows: list[list[object]] = [
        [
            one["words"], one["asks"], one["questions"],
            "; ".join(f"{why} ({n})" for why, n in one["why"].items()),
            "\n".join(one["examples"]), "\n".join(one["instead"]), "\n".join(one["nearest"]),
        ]
        for one in unmet["largest"]
    ]  # fmt: skip
    return table(columns, rows, total=unmet["clusters"])


def _windows(windows: Windows) -> Table:
    columns = {
        "what": "text", "before": "share", "since": "share", "change": "interval",
        "p, same questions": "text", "p, other questions": "text",
    }  # fmt: skip
    rows: list[list[object]] = []
    for change in windows["changes"]:
        same, other = change["same_questions"], change["other_questions"]
        rows.append(
            [
                change["outcome"], change["before"]["share"], change["after"]["share"],
                [change["low"], change["high"]],
                f"{same['p_value']:.4f} ({same['queries']:,})" if same else "",
                f"{other['p_value']:.4f} ({other['before'] + other['after']:,})" if other else "",
            ]
        )  # fmt: skip
    return table(columns, rows)


def _parts(folder: Path) -> Table:
    rows = read_table(folder / "served_by_part.parquet").to_pylist()
    columns = {
        "by": "text", "part": "text", "asks": "count", "documents that came": "count",
        "serve nobody there": "count", "Gini": "share", "largest hub": "text",
        "in asks": "share",
    }  # fmt: skip
    values: list[list[object]] = [
        [
            row["field"], row["part"], row["asks"], row["different"], row["never"], row["gini"],
            naming(row["hub_label"], row["hub"]) if row["hub"] else None,
            row["hub_asks"] / row["asks"],
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    return table(columns, values, total=len(rows))


def _over_time(folder: Path) -> Table:
    rows = read_table(folder / "over_time.parquet").to_pylist()
    columns = {
        "from": "text", "days": "count", "asks": "count", "nothing came back": "share",
        "bad feedback": "share", "superseded served": "share",
    }  # fmt: skip
    values: list[list[object]] = [
        [
            row["begins"].date().isoformat(), row["days"], row["asks"],
            *(row[name] / row[f"{name}_of"] if row[f"{name}_of"] else None
              for name in ("empty", "bad", "stale")),
        ]
        for row in rows[:MAX_ROWS]
    ]  # fmt: skip
    return table(columns, values, total=len(rows))
