"""Tables from the index: coverage (thesis, Table 12), tokenisation, cut answers."""

from __future__ import annotations

from collections import Counter

import numpy as np

from argus.generative.failures.tables.records import Coverage, Grid, NotApplicable, Tables, Value
from argus.generative.failures.tables.rows import Mask, Rows, known
from argus.generative.failures.tables.shape import by_group, by_value, decile_table, spread

WELL_COVERED = 0.7
"""The coverage of which the thesis gives how many questions reach it."""
MOST_SPLIT = 20
"""Words that are listed."""


def corpus(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    return {
        "coverage": _coverage(rows),
        "t12_coverage_deciles": decile_table(rows, "coverage", "index", by_rank=True),
        "pieces": by_value(rows, "pieces", "index"),
        "most_split_words": _most_split(rows),
        "cut_answers": _cut_answers(rows),
        "positives_indexed": _positives_indexed(rows),
    }


def _coverage(rows: Rows) -> Coverage | NotApplicable:
    gap = rows.missing("index")
    if gap is not None:
        return gap
    values = rows.number("coverage")
    values = values[known(values)]
    return {**spread(values), "share_at_least_0.7": float((values >= WELL_COVERED).mean())}


def _most_split(rows: Rows) -> Grid | NotApplicable:
    """List the words of most pieces, and of how many questions each is the most split."""
    gap = rows.missing("index")
    if gap is not None:
        return gap
    pairs = zip(rows.text("pieces_word"), rows.number("pieces"), strict=True)
    split = [(word, int(pieces)) for word, pieces in pairs if word and not np.isnan(pieces)]
    times = Counter(split)
    first = sorted(times.items(), key=lambda item: (-item[0][1], item[0][0]))[:MOST_SPLIT]
    cells: list[list[Value]] = [[word, pieces, questions] for (word, pieces), questions in first]
    columns = ["word", "pieces", "questions"]
    return {"n": len(split), "columns": columns, "rows": cells}


def _cut_answers(rows: Rows) -> Grid | NotApplicable:
    """Hit rates of questions with and without an answer that is cut, over those with answers."""
    gap = rows.missing("index", "answers", "correctness")
    if gap is not None:
        return gap
    answerable = known(rows.number("answer_hit_1"))
    cut = np.array([pair is not None for pair in rows.text("cut_answer")], bool)
    return by_group(rows, "answer", {"cut": answerable & cut, "whole": answerable & ~cut})


def _positives_indexed(rows: Rows) -> Grid | NotApplicable:
    gap = rows.missing("index", "positives")
    if gap is not None:
        return gap
    indexed, positives = rows.number("positives_indexed"), rows.number("positives")
    groups: dict[str | int, Mask] = {
        "all": indexed >= positives,
        "some": (indexed > 0) & (indexed < positives),
        "none": (indexed == 0) & (positives > 0),
    }
    return by_group(rows, "indexed", groups)
