"""Describe audited traffic: keys of summary.json, and the lines that the command prints."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.measures.slices import Sliced, slice_lines
from argus.retrievers.protocol import RetrieverNote, note_lines
from argus.traffic.figures import FeedbackFigures, Share, WindowChange, Windows, in_words
from argus.traffic.questions import RiskFigures
from argus.traffic.served import ServedDocuments, StaleServed
from argus.traffic.unmet import Unmet
from argus.verdict.counts import describe_log

MAX_NAMED = 5


class LogFigures(TypedDict):
    """What became of the log's records. Times are ISO 8601, UTC.

    files: file to its format.
    fields: what a record holds (question, results, ...) to its fields, each with its records.
    records: records that were read.
    asks: questions that were asked, each time counted.
    skipped: records, and damaged pieces, that are no question, by reason.
    remarks: what was missing in records, to how many.
    redacted: how often each kind of secret was replaced, in questions, ids and slices.
    hash_only: whether hashes alone were kept of questions.
    first: time of the first ask; None without times.
    last: time of the last ask; None without times.
    without_time: asks without a time.
    backwards: records that are earlier than the one before.
    future: asks that are later than now: a clock, or a unit, is wrong.
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
    """Different questions; equal ones but for case, spaces and closing marks are one.

    different: different questions.
    repeated: asks of a question that was asked before.
    looked_at: different questions that were looked at one by one, drawn at random.
    alike: of these, questions nearly equal to a more frequent one, and counted with it.
    """

    different: int
    repeated: int
    looked_at: int
    alike: int


class KnownResults(TypedDict):
    """Of how many asks it is known what came, and from where.

    logged: asks whose results the log has.
    answered: asks that the retriever answered now.
    unknown: asks of which nobody knows.
    nothing: asks for which nothing came back, of those whose results are known.
    """

    logged: int
    answered: int
    unknown: int
    nothing: Share | None


class MeasuredTraffic(Sliced):
    """Figures of what came back.

    results: of how many asks it is known what came.
    documents: documents that came back; None where nothing is known.
    superseded: superseded documents that were served; None without records.
    windows: two spans of time; None where time does not part the log.
    unmet: what nobody meets; None where hashes alone are kept.
    """

    results: KnownResults
    documents: ServedDocuments | None
    superseded: StaleServed | None
    windows: Windows | None
    unmet: Unmet | None


class TrafficSummary(MeasuredTraffic):
    """What people really ask, what came for it, and what nobody meets.

    retriever: retriever that was asked; None without one.
    feedback: what people made of it; None where the log has none.
    risk: order of the questions by risk; None without a corpus.
    """

    k: int
    log: LogFigures
    questions: QuestionFigures
    retriever: RetrieverNote | None
    feedback: FeedbackFigures | None
    risk: RiskFigures | None


def headline(summary: TrafficSummary) -> Iterator[str]:
    """Yield what the command prints."""
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
    """Return what the tests over questions say."""
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
    """Return what it comes to, and what to do next."""
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
