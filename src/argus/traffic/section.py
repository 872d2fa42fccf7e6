"""Describe audited traffic: the lines that the command prints, and the section of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.measures.intervals import share_words
from argus.measures.slices import slice_lines
from argus.reports import figures
from argus.reports.section import MAX_ROWS, Section, Table, naming, slices_table, table
from argus.retrievers.protocol import note_lines
from argus.verdict.verdict import describe_log

MAX_NAMED = 5


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that the command prints."""
    yield describe_log(summary)
    yield from _describe_reading(summary["log"], summary["questions"])
    if summary["retriever"] is not None:
        yield from note_lines(summary["retriever"], summary["questions"]["looked_at"])
    if nothing := summary["results"]["nothing"]:
        yield f"nothing came back: {share_words(nothing)} asks"
    if summary["documents"]:
        yield from _describe_documents(summary["documents"], summary["k"])
    if summary["feedback"]:
        yield from _describe_feedback(summary["feedback"])
    if summary["superseded"]:
        yield from _describe_superseded(summary["superseded"])
    if summary["windows"]:
        yield from _describe_windows(summary["windows"])
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    if risk := summary["risk"]:
        flagged = "".join(f"; flagged: {n:,}, {why}" for why, n in risk["flagged"].items())
        yield (
            f"{risk['ranked']:,} questions are ordered by risk, which tells no rate of failure"
            f"{flagged} (argus traffic judge tells how often they fail)"
        )
    if summary["unmet"]:
        yield from _describe_unmet(summary["unmet"])
    yield meaning(summary)


def _describe_reading(log: Mapping[str, Any], questions: Mapping[str, Any]) -> Iterator[str]:
    for reason, n in list(log["skipped"].items())[:MAX_NAMED]:
        yield f"  left out: {n:,} {reason}"
    for remark, n in list(log["remarks"].items())[:MAX_NAMED]:
        yield f"  WARNING: {n:,} with {remark}"
    if log["redacted"]:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in log["redacted"].items())
        yield f"replaced before anything was kept: {kinds}"
    if log["hash_only"]:
        yield "no text is kept: nothing is told of words, and nothing was asked"
    yield f"{questions['looked_at']:,} different questions looked at"


def _describe_documents(documents: Mapping[str, Any], k: int) -> Iterator[str]:
    different, unevenness = documents["different"], documents["gini"]
    yield f"{different:,} documents came back in the top {k}; Gini {unevenness:.2f}"
    if documents["never"] is not None:
        yield f"serve nobody: {documents['never']:,} of {documents['corpus']:,} documents"
    if documents["unknown"]:
        yield (
            f"WARNING: {documents['unknown']:,} ids that came back are no document of the corpus: "
            "is it the one that was indexed?"
        )
    for hub in documents["hubs"][:1]:
        yield f"the largest hub, {hub['id']}, is in {hub['share']:.1%} of the lists"


def _describe_feedback(feedback: Mapping[str, Any]) -> Iterator[str]:
    if feedback["bad"]:
        yield f"bad feedback: {share_words(feedback['bad'])} asks with an opinion"
    if feedback["contradicting"]:
        yield f"feedback contradicts itself: {feedback['contradicting']:,} asks with both"
    if feedback["clicked"]:
        yield f"a result was opened: {share_words(feedback['clicked'])} asks with results"
    if feedback["unknown"]:
        yield f"WARNING: {feedback['unknown']:,} signals name no question of the log"


def _describe_windows(windows: Mapping[str, Any]) -> Iterator[str]:
    for change in windows["changes"]:
        same = change["same_questions"]
        test = "too few questions asked in both for a test"
        if same:
            test = f"p = {same['p_value']:.3f} on {same['queries']:,} questions asked in both"
        yield (
            f"before {windows['split']} and since: {change['outcome']} "
            f"{change['before']['share']:.1%} to {change['after']['share']:.1%} "
            f"({change['low']:+.1%} to {change['high']:+.1%}); {test}"
        )


def _describe_superseded(stale: Mapping[str, Any]) -> Iterator[str]:
    if stale["asks"] is None:
        yield "WARNING: nothing that was served has a record: are the records of this corpus?"
        return
    yield (
        f"served something superseded by then: {share_words(stale['asks'])} asks; in "
        f"{stale['alone']:,} of them nothing that controls it came along"
    )
    for one in stale["examples"][:3]:
        yield f"  {one['id']}, {one['asks']:,} times, in place of {', '.join(one['instead'])}"


def _describe_unmet(unmet: Mapping[str, Any]) -> Iterator[str]:
    why = ", ".join(f"{n:,} {reason}" for reason, n in unmet["why"].items())
    yield f"unmet, by what the log tells: {unmet['questions']:,} questions ({why or 'none'})"
    for one in unmet["largest"][:MAX_NAMED]:
        yield f"  {one['words']}: {one['questions']:,} questions, {one['asks']:,} asks"


def meaning(summary: Mapping[str, Any]) -> str:
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


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section from the summary and its tables."""
    tables, plots, brief = {"over_time": _over_time(folder)}, {}, [describe_log(summary)]
    if nothing := summary["results"]["nothing"]:
        brief.append(f"nothing came back for {share_words(nothing)}")
    if (documents := summary["documents"]) is not None:
        columns = {"document": "text", "asks": "count", "share of asks": "share"}
        hubs = documents["hubs"]
        rows = [[naming(hub["label"], hub["id"]), hub["asks"], hub["share"]] for hub in hubs]
        tables["traffic_hubs"] = table(columns, rows)
        if documents["lorenz"]:
            plots["traffic_lorenz"] = figures.lorenz(documents["lorenz"], documents["gini"])
    if (unmet := summary["unmet"]) is not None:
        tables["unmet"] = _unmet(unmet)
        brief.append(f"{unmet['questions']:,} questions are unmet by what the log tells")
    if summary["windows"] is not None:
        tables["windows"] = _windows(summary["windows"])
    if (stale := summary["superseded"]) is not None:
        columns = {"document": "text", "asks": "count", "what controls it": "text"}
        worst = [[one["id"], one["asks"], ", ".join(one["instead"])] for one in stale["examples"]]
        tables["stale_served"] = table(columns, worst)
    if "slices" in summary:
        tables["traffic_slices"] = slices_table(folder, "traffic_slices")
    return Section(plots, tables, "; ".join(brief))


def _unmet(unmet: Mapping[str, Any]) -> Table:
    columns = {
        "about": "text", "asks": "count", "questions": "count", "why": "text", "such as": "lines",
        "came instead": "lines", "nearest in the corpus": "lines",
    }  # fmt: skip
    rows = []
    for one in unmet["largest"]:
        why = "; ".join(f"{why} ({n})" for why, n in one["why"].items())
        lines = ("\n".join(one[name]) for name in ("examples", "instead", "nearest"))
        rows.append([one["words"], one["asks"], one["questions"], why, *lines])
    return table(columns, rows, total=unmet["clusters"])


def _windows(windows: Mapping[str, Any]) -> Table:
    columns = {
        "what": "text", "before": "share", "since": "share", "change": "interval",
        "p, same questions": "text",
    }  # fmt: skip
    rows = []
    for change in windows["changes"]:
        same = change["same_questions"]
        test = f"{same['p_value']:.4f} ({same['queries']:,})" if same else ""
        shares = change["before"]["share"], change["after"]["share"]
        rows.append([change["outcome"], *shares, [change["low"], change["high"]], test])
    return table(columns, rows)


def _over_time(folder: Path) -> Table:
    rows = read_table(folder / "over_time.parquet").to_pylist()
    columns = {
        "from": "text", "days": "count", "asks": "count", "nothing came back": "share",
        "bad feedback": "share", "superseded served": "share",
    }  # fmt: skip
    values = []
    for row in rows[:MAX_ROWS]:
        counts = ((row[name], row[f"{name}_of"]) for name in ("empty", "bad", "stale"))
        shares = (bad / n if n else None for bad, n in counts)
        values.append([row["begins"].date().isoformat(), row["days"], row["asks"], *shares])
    return table(columns, values, total=len(rows))
