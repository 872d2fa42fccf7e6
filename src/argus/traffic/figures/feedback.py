"""What people made of answers: thumbs and clicks, and where they contradict themselves."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.traffic.figures.shares import Share, share
from argus.traffic.log.book import LogBook


class FeedbackFigures(TypedDict):
    """Of asks with any feedback. An ask that has both good and bad is in no share.

    with_opinion: asks with good or bad feedback.
    bad: bad ones, of asks with an opinion that does not contradict itself.
    clicked: asks with a click, of those with results; None where the log has none.
    first_click: mean rank of the best result that was opened; None where not known.
    """

    with_opinion: int
    bad: Share | None
    contradicting: int
    """Asks with good and bad feedback at once."""
    changed_mind: int
    """Pairs of a person and a question that have both, over several asks."""
    disputed: int
    """Questions that some approve of and others do not."""
    clicked: Share | None
    first_click: float | None
    unknown: int
    """Signals that name no question of the log."""


def feedback_figures(book: LogBook, unknown: int) -> FeedbackFigures | None:
    """Sum up feedback over all asks; None where there is none."""
    opinions, bad, both, clicks = book.one(
        "SELECT SUM(good > 0 OR bad > 0), SUM(bad > 0 AND good = 0), SUM(good > 0 AND bad > 0), "
        "SUM(clicks > 0) FROM asks"
    )
    if not (opinions or clicks or unknown):
        return None
    having = "HAVING SUM(good > 0) > 0 AND SUM(bad > 0) > 0"
    changed = book.one(
        "SELECT COUNT(*) FROM (SELECT 1 FROM asks WHERE person <> '' AND (good > 0) <> (bad > 0) "
        f"GROUP BY person, question {having})"
    )[0]
    disputed = book.one(
        f"SELECT COUNT(*) FROM (SELECT 1 FROM asks GROUP BY question {having} AND COUNT(*) > 1)"
    )[0]
    with_results, mean = book.one(
        "SELECT SUM(n > 0), AVG(first) FROM asks LEFT JOIN lists ON list = lists.id"
    )
    return {
        "with_opinion": opinions or 0,
        "bad": share(bad or 0, (opinions or 0) - (both or 0)),
        "contradicting": both or 0,
        "changed_mind": changed,
        "disputed": disputed,
        "clicked": share(min(clicks, with_results), with_results) if clicks and with_results
        else None,
        "first_click": mean,
        "unknown": unknown,
    }  # fmt: skip
