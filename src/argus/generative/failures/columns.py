"""Name the measures of a question: the columns of failures.parquet (docs/autopsy.md).

None means that a figure does not apply: no n-grams, no frequencies, no answers, no positives.
Hits, and whether a text or an n-gram holds an answer, are 0 or 1. A text column `outcome` has the
first and second passage as correct (P) or not (N): PP, PN, NP, NN. The `length_` columns are lists
of LENGTHS values, sums over the n-grams of 1, 2, ... tokens.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

LENGTHS = 11
"""Bins of the length tables: n-grams of 1 to 10 tokens, and of more."""
TOP_NGRAMS = 5
"""The heaviest n-grams of the first passage whose frequency is averaged (thesis, Table 4)."""

NEGLIGIBLE = 1e-12
"""Part of a numerator. A smaller divisor counts as 0, and there is no ratio."""
SWITCHED_OFF = ("titles", "queries", "unigrams")
"""Ablations: n-grams with weights left out of the sums."""

Row = dict[str, Any]
"""One row per system and question. Columns that no question has are left out."""
_TYPES = {
    "text": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "ints": pa.list_(pa.int64()),
    "floats": pa.list_(pa.float64()),
}


def _columns(names: str) -> dict[str, pa.DataType]:
    """Return name to type, of lines `type: name name ...`."""
    parts = (line.split(":") for line in names.strip().splitlines())
    return {name: _TYPES[kind.strip()] for kind, of_kind in parts for name in of_kind.split()}


OF_OUTPUT = _columns("""
    text: query_id question
    int: passages positives
    float: r_precision
    int: hit_1 hit_k first_correct
    text: outcome
    int: answer_hit_1 answer_hit_k
    float: score_all score_title score_query score_correct score_title_correct
    float: score_query_correct answer_title_gain answer_title_gain_correct
    float: title_score_correct title_score_wrong frequency_top frequency_all
    int: rarest_top
    float: unigram_share ngram_words overlap
    int: answer_ngram_1 answer_ngram_k
    float: dominance
    int: ngrams_all title_ngrams_all query_ngrams_all ngrams_first query_ngrams_first
    float: unigram_score_share title_score_share query_score_share diversity
    int: title_repetition
    float: keys_correct keys_wrong keys_shared weight_correct weight_wrong weight_shared
    ints: length_ngrams
    floats: length_weight length_log_frequency
    ints: length_counted
    text: answer_outcome
    int: answer_rank gold_holds_answer gold_terms gold_adjacent
    float: r_precision_without_titles
    int: hit_1_without_titles hit_k_without_titles
    float: r_precision_without_queries
    int: hit_1_without_queries hit_k_without_queries
    float: r_precision_without_unigrams
    int: hit_1_without_unigrams hit_k_without_unigrams
""")
"""Columns that need only an output file."""
OF_INDEX = _columns("""
    float: coverage
    int: pieces
    text: pieces_word cut_answer
    int: positives_indexed
""")
"""Columns that need the index. pieces: most tokens that a content word of the answers is split
into. cut_answer: two neighbouring passages that hold an answer only together, as `id + id`."""
OF_REPLAY = _columns("""
    int: pruned
    text: pruned_ngram
    int: pruned_at pruned_rank pruned_kept_by
    float: pruned_weight
    int: rank_now rank_unpruned rank_without_titles rank_without_queries
    int: rank_without_unigrams
""")
"""Columns that need a replay of the search. pruned: n-grams of positives that would weigh more
than 0 and were not written. The next five are of the heaviest of them: the token, from 1, at which
its prefix left the beam, its rank among all candidates there, and the least beam size tried that
writes it. rank_: of the best positive, now, with the pruned n-grams as keys, and without some."""
OF_JUDGE = _columns("""
    text: judged
    int: judged_open
""")
"""A language model's best verdict over unannotated passages: YES, PARTIAL, NO or failed, and how
many passages have none."""
COLUMNS = OF_OUTPUT | OF_INDEX | OF_REPLAY | OF_JUDGE
"""Name to type, in the order of the table."""


def number(row: Row, column: str) -> float | None:
    """Return the number in a column of a row. None if there is none."""
    value = row.get(column)
    return float(value) if isinstance(value, int | float) else None
