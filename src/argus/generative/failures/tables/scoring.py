"""Tables of scoring (thesis, §6.2, Table 8, and appendix A, Tables 13-15 and 17)."""

from __future__ import annotations

import numpy as np

from argus.generative.failures.tables.records import Grid, NotApplicable, Tables, Value
from argus.generative.failures.tables.rows import Rows, known, not_applicable
from argus.generative.failures.tables.shape import (
    by_presence,
    by_value,
    decile_table,
    mean,
    spread,
)


def scoring(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "t08_dominance_deciles": decile_table(rows, "dominance", "keys"),
        "count_and_score": _count_and_score(rows),
        "query_ngrams": _query_ngrams(rows),
        "t13_ngrams_first_deciles": decile_table(
            rows, "ngrams_first", "keys", extra=("frequency_all",)
        ),
        "t14_diversity_deciles": decile_table(rows, "diversity", "keys"),
        "t15_title_repetition": _title_repetition(rows),
        "t17_keys": _keys(rows),
    }


def _count_and_score(rows: Rows) -> Grid | NotApplicable:
    """Share of the n-grams against share of the score, pooled over all passages."""
    gap = rows.missing("keys")
    if gap is not None:
        return gap
    n = int(known(rows.number("score_all")).sum())
    ngrams, titles, queries = (
        int(np.nansum(rows.number(name)))
        for name in ("ngrams_all", "title_ngrams_all", "query_ngrams_all")
    )
    score, of_titles, of_queries = (
        float(np.nansum(rows.number(name))) for name in ("score_all", "score_title", "score_query")
    )
    parts = (
        ("titles", titles, of_titles),
        ("pseudo_queries", queries, of_queries),
        ("body", ngrams - titles - queries, score - of_titles - of_queries),
    )
    shares: list[list[Value]] = [
        [name, count, count / ngrams if ngrams else None, part, part / score if score else None]
        for name, count, part in parts
    ]
    columns = ["identifiers", "ngrams", "share_of_ngrams", "score", "share_of_score"]
    return {"n": n, "ngrams": ngrams, "score": score, "columns": columns, "rows": shares}


def _query_ngrams(rows: Rows) -> Grid | NotApplicable:
    """Hit rates with and without a pseudo-query among the first passage's n-grams."""
    gap = rows.missing("keys")
    if gap is not None:
        return gap
    if not np.nansum(rows.number("query_ngrams_all")):
        return not_applicable(
            "No n-gram is a pseudo-query: they are MINDER's, and of indexes with pseudo-queries."
        )
    return by_presence(rows, {"first": "query_ngrams_first"}, "passages", "keys")


def _title_repetition(rows: Rows) -> Grid | NotApplicable:
    if not rows.has("title_repetition"):
        return not_applicable("The passages have no titles. Give an output with them (`title`).")
    return by_value(rows, "title_repetition")


def _keys(rows: Rows) -> Grid | NotApplicable:
    """Table 17. sigma: over questions, of those that have such n-grams (`questions`)."""
    gap = rows.missing("keys", "correctness")
    if gap is not None:
        return gap
    groups: list[list[Value]] = []
    for name in ("correct", "wrong", "shared"):
        weight = spread(rows.number(f"weight_{name}"))
        share = mean(rows.number(f"keys_{name}"))
        groups.append([name, share, weight["n"], weight["mean"], weight["sigma"]])
    n = int(known(rows.number("keys_correct")).sum())
    if n == 0:
        return not_applicable(f"No passage among the first {rows.k} has n-grams.")
    columns = ["in_passages", "mean_share", "questions", "mean_weight", "sigma_weight"]
    return {"n": n, "columns": columns, "rows": groups}
