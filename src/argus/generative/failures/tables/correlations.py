"""Correlate every indicator with success, and describe its distribution."""

from __future__ import annotations

from argus.generative.failures.tables.records import Grid, NotApplicable, Tables, Value
from argus.generative.failures.tables.rows import Rows, not_applicable
from argus.generative.failures.tables.shape import spread
from argus.measures.intervals import spearman

INDICATORS = (
    "frequency_top", "frequency_all", "rarest_top", "unigram_share", "ngram_words", "overlap",
    "answer_ngram_1", "answer_ngram_k", "dominance", "ngrams_all", "ngrams_first",
    "query_ngrams_first", "unigram_score_share", "title_score_share", "query_score_share",
    "diversity", "title_repetition", "positives", "gold_holds_answer", "gold_terms",
    "gold_adjacent", "coverage", "pieces", "pruned",
)  # fmt: skip
"""Columns of columns.py that may go together with success and are not made of it."""


def correlations(rows: Rows) -> Tables:
    """Return the tables of this section by name. Figures that were not measured are left out."""
    present = [name for name in INDICATORS if rows.has(name)]
    return {"indicators": _indicators(rows, present), "correlations": _against_hits(rows, present)}


def _indicators(rows: Rows, present: list[str]) -> Grid | NotApplicable:
    if not present:
        return not_applicable("Nothing was measured: the file has no passages.")
    cells: list[list[Value]] = []
    for name in present:
        s = spread(rows.number(name))
        cells.append([name, s["n"], s["mean"], s["sigma"], s["median"], s["min"], s["max"]])
    columns = ["indicator", "n", "mean", "sigma", "median", "min", "max"]
    return {"n": len(rows), "columns": columns, "rows": cells}


def _against_hits(rows: Rows, present: list[str]) -> Grid | NotApplicable:
    gap = rows.missing("correctness")
    if gap is not None:
        return gap
    cells: list[list[Value]] = []
    for name in present:
        for outcome, hits in rows.hits.items():
            rho = spearman(rows.number(name), hits, seed=rows.seed)
            cells.append(
                [name, outcome, rho.n, rho.rho, rho.p_value, rho.low, rho.high, rho.why_not]
            )
    columns = ["indicator", "outcome", "n", "rho", "p_value", "low", "high", "why_not"]
    return {"n": len(rows), "columns": columns, "rows": cells}
