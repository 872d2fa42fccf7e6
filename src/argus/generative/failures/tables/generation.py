"""Tables of generated n-grams (thesis, §6.1, Tables 4-7), also by length."""

from __future__ import annotations

from argus.generative.failures.measures.columns import LENGTHS
from argus.generative.failures.tables.records import Grid, NotApplicable, Tables, Value
from argus.generative.failures.tables.rows import Rows, not_applicable
from argus.generative.failures.tables.shape import by_presence, decile_table, spread


def generation(rows: Rows) -> Tables:
    """Return the tables of this section by name."""
    frequency = ("keys", "frequencies")
    return {
        "t04_frequency_top_deciles": decile_table(rows, "frequency_top", *frequency),
        "t04_frequency_all_deciles": decile_table(rows, "frequency_all", *frequency),
        "t05_unigram_share_deciles": decile_table(rows, "unigram_share", "keys"),
        "t05_ngram_words": rows.missing("keys") or spread(rows.number("ngram_words")),
        "t06_overlap_deciles": decile_table(rows, "overlap", "keys"),
        "t07_answer_ngram": by_presence(
            rows,
            {"first": "answer_ngram_1", "first_k": "answer_ngram_k"},
            "passages",
            "keys",
            "answers",
        ),
        "lengths": _lengths(rows),
    }


def _lengths(rows: Rows) -> Grid | NotApplicable:
    """Show by weight per number of tokens whether short identifiers are preferred."""
    gap = rows.missing("keys")
    if gap is not None:
        return gap
    ngrams = rows.lists("length_ngrams")
    total = int(ngrams.sum())
    if total == 0:
        return not_applicable(f"No passage among the first {rows.k} has n-grams.")
    sums = [
        rows.lists(f"length_{name}").sum(axis=0)
        for name in ("ngrams", "weight", "counted", "log_frequency")
    ]
    cells: list[list[Value]] = []
    for place in range(LENGTHS):
        count, weight, counted, log = (float(column[place]) for column in sums)
        longest = place == LENGTHS - 1
        average = weight / count if count else None
        cells.append(
            [
                f"{LENGTHS}+" if longest else str(place + 1),
                int(count),
                count / total,
                average,
                None if longest or average is None else average / (place + 1),
                log / counted if counted else None,
            ]
        )
    columns = ["tokens", "ngrams", "share", "mean_weight", "weight_per_token"]
    return {
        "n": int((ngrams.sum(axis=1) > 0).sum()),
        "ngrams": total,
        "columns": [*columns, "mean_log10_frequency"],
        "rows": cells,
    }
