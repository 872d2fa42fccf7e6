"""Tables of the positives' texts: the answer, and the question's terms side by side."""

from __future__ import annotations

from argus.generative.failures.tables.records import Grid, NotApplicable, Spread, Tables
from argus.generative.failures.tables.rows import Rows, not_applicable
from argus.generative.failures.tables.shape import by_presence, spread

_NO_TEXTS = "The positives have no texts. Give an output that has them (`positive_ctxs`)."


def texts(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "gold_holds_answer": _presence(rows, "gold_holds_answer", "positives", "answers"),
        "gold_terms": _terms(rows),
        "gold_adjacent": _presence(rows, "gold_adjacent", "positives"),
    }


def _presence(rows: Rows, indicator: str, *needs: str) -> Grid | NotApplicable:
    gap = rows.missing(*needs)
    if gap is None and not rows.has(indicator):
        gap = not_applicable(_NO_TEXTS)
    return gap or by_presence(rows, {"positives": indicator}, "passages", *needs)


def _terms(rows: Rows) -> Spread | NotApplicable:
    gap = rows.missing("positives")
    if gap is None and not rows.has("gold_terms"):
        gap = not_applicable(_NO_TEXTS)
    return gap or spread(rows.number("gold_terms"))
