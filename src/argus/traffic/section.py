"""Describe the results of `argus traffic audit`: printed lines, and the section of the report.

The summary and tables of `argus.traffic.job` -> text for people, also on a page of `argus serve`.
"""

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

MAX_NAMED = 5


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that the command prints."""
    yield describe_log(summary)
    log, looked_at = summary["log"], summary["questions"]["looked_at"]
    for reason, n in list(log["skipped"].items())[:MAX_NAMED]:
        yield f"  left out: {n:,} {reason}"
    for remark, n in list(log["remarks"].items())[:MAX_NAMED]:
        yield f"  WARNING: {n:,} with {remark}"
    if log["redacted"]:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in log["redacted"].items())
        yield f"replaced before anything was kept: {kinds}"
    if log["hash_only"]:
        yield "no text is kept: nothing is told of words, and nothing was asked"
    yield f"{looked_at:,} different questions looked at"
    if summary["retriever"] is not None:
        yield from note_lines(summary["retriever"], looked_at)
    if nothing := summary["results"]["nothing"]:
        yield f"nothing came back: {share_words(nothing)} asks"
    yield from _describe_results(summary["documents"], summary["feedback"] or {}, summary["k"])
    yield from _describe_changes(summary["superseded"], summary["windows"] or {})
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    if risk := summary["risk"]:
        flagged = "".join(f"; flagged: {n:,}, {why}" for why, n in risk["flagged"].items())
        yield (
            f"{risk['ranked']:,} questions are ordered by risk, which tells no rate of failure"
            f"{flagged} (argus traffic judge tells how often they fail)"
        )
    if unmet := summary["unmet"]:
        why = ", ".join(f"{n:,} {reason}" for reason, n in unmet["why"].items())
        yield f"unmet, by what the log tells: {unmet['questions']:,} questions ({why or 'none'})"
        for one in unmet["largest"][:MAX_NAMED]:
            yield f"  {one['words']}: {one['questions']:,} questions, {one['asks']:,} asks"
    yield meaning(summary)


def describe_log(section: Mapping[str, Any]) -> str:
    """Describe a log that was read: how much, from when, from where, and whose results are known.

    section: `argus traffic`'s part of summary.json.

    >>> log = {"asks": 3, "files": {"log.jsonl": "plain"}, "fields": {"results": {"served": 2}},
    ...        "first": None, "last": None, "hash_only": False}
    >>> known = {"logged": 2, "answered": 0, "unknown": 1}
    >>> describe_log({"log": log, "questions": {"different": 2}, "results": known,
    ...               "retriever": None})
    '3 asks of 2 different questions, without times, read from log.jsonl (plain). \
What came is known for 2: 2 from the log (served), and not for 1.'
    """
    log, results, retriever = section["log"], section["results"], section["retriever"]
    when = f"{log['first']} to {log['last']}" if log["first"] else "without times"
    files = [f"{name} ({kind})" for name, kind in log["files"].items()]
    more = f" and {len(files) - 1:,} more files" if len(files) > 1 else ""
    sources = []
    if results["logged"]:
        names = ", ".join(log["fields"].get("results", {}))
        sources.append(f"{results['logged']:,} from the log ({names})")
    if results["answered"] and retriever is not None:
        sources.append(f"{results['answered']:,} from {retriever['name']}")
    known = results["logged"] + results["answered"]
    origin = f": {', '.join(sources)}" if sources else ""
    unknown = f", and not for {results['unknown']:,}" if results["unknown"] else ""
    return (
        f"{log['asks']:,} asks of {section['questions']['different']:,} different questions, "
        f"{when}, read from {files[0]}{more}. What came is known for {known:,}{origin}{unknown}."
    )


def _describe_results(
    documents: Mapping[str, Any] | None, feedback: Mapping[str, Any], k: int
) -> Iterator[str]:
    """Yield lines on the documents that came back, and on what people said of them."""
    if documents:
        different, unevenness = documents["different"], documents["gini"]
        yield f"{different:,} documents came back in the top {k}; Gini {unevenness:.2f}"
        if documents["never"] is not None:
            yield f"serve nobody: {documents['never']:,} of {documents['corpus']:,} documents"
        if documents["unknown"]:
            yield (
                f"WARNING: {documents['unknown']:,} ids that came back are no document of the "
                "corpus: is it the one that was indexed?"
            )
        for hub in documents["hubs"][:1]:
            yield f"the largest hub, {hub['id']}, is in {hub['share']:.1%} of the lists"
    if bad := feedback.get("bad"):
        yield f"bad feedback: {share_words(bad)} asks with an opinion"
    if both := feedback.get("contradicting"):
        yield f"feedback contradicts itself: {both:,} asks with both"
    if clicked := feedback.get("clicked"):
        yield f"a result was opened: {share_words(clicked)} asks with results"
    if unknown := feedback.get("unknown"):
        yield f"WARNING: {unknown:,} signals name no question of the log"


def _describe_changes(stale: Mapping[str, Any] | None, windows: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines on superseded documents, and on the log before a moment and since."""
    if stale and stale["asks"] is None:
        yield "WARNING: nothing that was served has a record: are the records of this corpus?"
    elif stale:
        yield (
            f"served something superseded by then: {share_words(stale['asks'])} asks; in "
            f"{stale['alone']:,} of them nothing that controls it came along"
        )
        for one in stale["examples"][:3]:
            yield f"  {one['id']}, {one['asks']:,} times, in place of {', '.join(one['instead'])}"
    for change in windows.get("changes", ()):
        test, same = "too few questions asked in both for a test", change["same_questions"]
        if same:
            test = f"p = {same['p_value']:.3f} on {same['queries']:,} questions asked in both"
        before, since = change["before"]["share"], change["after"]["share"]
        yield (
            f"before {windows['split']} and since: {change['outcome']} {before:.1%} to {since:.1%} "
            f"({change['low']:+.1%} to {change['high']:+.1%}); {test}"
        )


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
    tables: dict[str, Table] = {}
    plots, brief = {}, [describe_log(summary)]
    periods = read_table(folder / "over_time.parquet").to_pylist()
    columns = {
        "from": "text", "days": "count", "asks": "count", "nothing came back": "share",
        "bad feedback": "share", "superseded served": "share",
    }  # fmt: skip
    rows: list[list[Any]] = []
    for row in periods[:MAX_ROWS]:
        counts = ((row[name], row[f"{name}_of"]) for name in ("empty", "bad", "stale"))
        shares = (bad / n if n else None for bad, n in counts)
        rows.append([row["begins"].date().isoformat(), row["days"], row["asks"], *shares])
    tables["over_time"] = table(columns, rows, total=len(periods))
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
        columns = {
            "about": "text", "asks": "count", "questions": "count", "why": "text",
            "such as": "lines", "came instead": "lines", "nearest in the corpus": "lines",
        }  # fmt: skip
        rows = []
        for one in unmet["largest"]:
            why = "; ".join(f"{why} ({n})" for why, n in one["why"].items())
            lines = ("\n".join(one[name]) for name in ("examples", "instead", "nearest"))
            rows.append([one["words"], one["asks"], one["questions"], why, *lines])
        tables["unmet"] = table(columns, rows, total=unmet["clusters"])
        brief.append(f"{unmet['questions']:,} questions are unmet by what the log tells")
    if (windows := summary["windows"]) is not None:
        columns = {
            "what": "text", "before": "share", "since": "share", "change": "interval",
            "p, same questions": "text",
        }  # fmt: skip
        rows = []
        for change in windows["changes"]:
            same = change["same_questions"]
            test = f"{same['p_value']:.4f} ({same['queries']:,})" if same else ""
            sides = change["before"]["share"], change["after"]["share"]
            rows.append([change["outcome"], *sides, [change["low"], change["high"]], test])
        tables["windows"] = table(columns, rows)
    if (stale := summary["superseded"]) is not None:
        columns = {"document": "text", "asks": "count", "what controls it": "text"}
        worst = [[one["id"], one["asks"], ", ".join(one["instead"])] for one in stale["examples"]]
        tables["stale_served"] = table(columns, worst)
    if "slices" in summary:
        tables["traffic_slices"] = slices_table(folder, "traffic_slices")
    return Section(plots, tables, "; ".join(brief))
