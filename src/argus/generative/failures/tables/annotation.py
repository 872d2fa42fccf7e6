"""Tables of correct passages that the annotation misses (thesis, appendix A, Tables 9-11)."""

from __future__ import annotations

from argus.generative.failures.judge import FAILED, PARTIAL, VERDICTS, YES
from argus.generative.failures.measures.annotation import ABSENT, HIT, UNANNOTATED
from argus.generative.failures.tables.records import Grid, NotApplicable, Tables, Value
from argus.generative.failures.tables.rows import Rows, not_applicable
from argus.generative.failures.tables.shape import counted, proportion

_OUTCOMES = (HIT, UNANNOTATED, ABSENT)
_VERDICTS = (*VERDICTS, FAILED)
_CRITERIA = {"yes": (YES,), "yes_and_partial": (YES, PARTIAL)}
NOT_JUDGED = "not_judged"
"""Cases that no judge was shown."""


def annotation(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "t09_outcomes": _outcomes(rows),
        "t10_verdicts": _verdicts(rows),
        "t11_adjusted_hits": _adjusted_hits(rows),
    }


def _outcomes(rows: Rows) -> Grid | NotApplicable:
    gap = _missing(rows)
    if gap is not None:
        return gap
    outcomes = rows.text("answer_outcome")
    counts = [outcomes.count(outcome) for outcome in _OUTCOMES]
    return {
        "n": sum(counts),
        "columns": ["outcome", "questions", "share", "low", "high"],
        "rows": counted(_OUTCOMES, counts),
    }


def _missing(rows: Rows) -> NotApplicable | None:
    gap = rows.missing("positives", "answers")
    if gap is None and not rows.has("answer_outcome"):
        gap = not_applicable("No question has both positives and answers.")
    return gap


def _cases(rows: Rows) -> tuple[dict[str, int], NotApplicable | None]:
    """Verdicts over the unannotated cases and how many have each, or why there are none."""
    gap = _missing(rows)
    if gap is not None:
        return {}, gap
    pairs = zip(rows.text("answer_outcome"), rows.text("judged"), strict=True)
    verdicts = [verdict for outcome, verdict in pairs if outcome == UNANNOTATED]
    if not verdicts:
        why = f"No question has its answer in a passage among the first {rows.k} without a hit"
        return {}, not_applicable(f"{why}: there is nothing to judge.")
    counts = {verdict: verdicts.count(verdict) for verdict in _VERDICTS}
    not_judged = verdicts.count(None)
    if not_judged:
        counts[NOT_JUDGED] = not_judged
    return counts, rows.missing("judge")


def _verdicts(rows: Rows) -> Grid | NotApplicable:
    counts, gap = _cases(rows)
    if gap is not None:
        return gap
    return {
        "n": sum(counts.values()),
        "columns": ["verdict", "cases", "share", "low", "high"],
        "rows": counted(counts, list(counts.values())),
    }


def _adjusted_hits(rows: Rows) -> Grid | NotApplicable:
    """Hits when judged passages count. n: questions with positives and answers, as in Table 9.

    at_most: when every passage without a verdict counts, too.
    """
    counts, gap = _cases(rows)
    if gap is not None:
        return gap
    outcomes = rows.text("answer_outcome")
    n = sum(outcome is not None for outcome in outcomes)
    hits = outcomes.count(HIT)
    cases = zip(outcomes, rows.text("judged"), rows.number("judged_open"), strict=True)
    undecided = [
        verdict
        for outcome, verdict, left in cases
        if outcome == UNANNOTATED and (verdict in (None, FAILED) or left > 0)
    ]
    cells: list[list[Value]] = [["hit_k", hits, *proportion(hits / n, n), hits, hits / n]]
    for criterion, counting in _CRITERIA.items():
        hits = outcomes.count(HIT) + sum(counts[verdict] for verdict in counting)
        most = hits + sum(verdict not in counting for verdict in undecided)
        cells.append([criterion, hits, *proportion(hits / n, n), most, most / n])
    columns = ["criterion", "hits", "share", "low", "high", "at_most", "at_most_share"]
    return {"n": n, "columns": columns, "rows": cells}
