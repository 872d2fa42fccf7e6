"""Tables of a replayed search: false pruning, and ranks with identifiers switched off."""

from __future__ import annotations

from collections import Counter

import numpy as np

from argus.generative.failures.measures.columns import SWITCHED_OFF
from argus.generative.failures.tables.records import Grid, NotApplicable, Pruning, Tables, Value
from argus.generative.failures.tables.rows import Rows, known, not_applicable
from argus.generative.failures.tables.shape import proportion, spread

_VARIANTS = ("now", "unpruned", *(f"without_{what}" for what in SWITCHED_OFF))
_SWITCHED = {"without_titles": "title_ngrams_all", "without_queries": "query_ngrams_all"}
"""Columns with the number of n-grams that a variant switches off, if not every index has it."""


def replay(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "pruned": _pruned(rows),
        "pruned_at": _counts(rows, "pruned_at", "token"),
        "pruned_kept_by": _counts(rows, "pruned_kept_by", "beam"),
        "replay_ranks": _ranks(rows),
    }


def _pruned(rows: Rows) -> Pruning | NotApplicable:
    """Questions that lost n-grams of their positives, and n-grams per replayed question."""
    gap = rows.missing("model")
    if gap is not None:
        return gap
    values = rows.number("pruned")
    values = values[known(values)]
    lost, n = int((values > 0).sum()), len(values)
    share, low, high = proportion(lost / n, n)
    return {"questions": lost, "share": share, "low": low, "high": high, **spread(values)}


def _counts(rows: Rows, column: str, name: str) -> Grid | NotApplicable:
    """Questions per value, over those that lost n-grams. The last row: without a value."""
    gap = rows.missing("model")
    if gap is not None:
        return gap
    values = rows.number(column)[rows.number("pruned") > 0]
    if not len(values):
        return not_applicable("The search wrote all n-grams of the positives that weigh anything.")
    times = Counter(int(v) for v in values[known(values)])
    counts: list[list[Value]] = [[value, times[value]] for value in sorted(times)]
    without = len(values) - sum(times.values())
    if without:
        counts.append([None, without])
    return {"n": len(values), "columns": [name, "questions"], "rows": counts}


def _applies(rows: Rows, variant: str) -> bool:
    """Return whether there is something to switch off. A positive may rank nowhere without it."""
    ngrams = _SWITCHED.get(variant)
    if ngrams is None or rows.has(f"rank_{variant}"):
        return True
    return bool((rows.number(ngrams) > 0).any())


def _ranks(rows: Rows) -> Grid | NotApplicable:
    """Share of replayed questions of which a positive ranks first, among the first k, at all."""
    gap = rows.missing("model", "positives")
    if gap is not None:
        return gap
    replayed = known(rows.number("pruned"))
    n = int(replayed.sum())
    ranks: list[list[Value]] = []
    for variant in _VARIANTS:
        if not _applies(rows, variant):
            continue
        rank = rows.number(f"rank_{variant}")[replayed]
        rank = np.where(np.isnan(rank), np.inf, rank)
        hits = [proportion(float((rank <= most).mean()), n) for most in (1, rows.k)]
        ranked = rank[np.isfinite(rank)]
        middle = float(np.median(ranked)) if len(ranked) else None
        ranks.append([variant, *hits[0], *hits[1], len(ranked), middle])
    columns = ["search", "hit_1", "hit_1_low", "hit_1_high", "hit_k", "hit_k_low", "hit_k_high"]
    return {"n": n, "columns": [*columns, "ranked", "median_rank"], "rows": ranks}
