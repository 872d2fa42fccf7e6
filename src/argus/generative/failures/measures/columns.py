"""What is measured of every question: the columns of failures.parquet (docs/failures.md).

None means that a figure does not apply: no n-grams, no frequencies, no answers, no positives.
"""

from __future__ import annotations

import pyarrow as pa

TEXT, COUNT, NUMBER, COUNTS, NUMBERS = (
    pa.string(), pa.int64(), pa.float64(), pa.list_(pa.int64()), pa.list_(pa.float64()),
)  # fmt: skip

LENGTHS = 11
"""Bins of the length tables: n-grams of 1 to 10 tokens, and of more."""
TOP_NGRAMS = 5
"""The heaviest n-grams of the first passage whose frequency is averaged (thesis, Table 4)."""

NEGLIGIBLE = 1e-12
"""Of a numerator: what divides it and is less counts as 0, and there is no ratio."""

QUALITY = {
    "positives": COUNT,
    "r_precision": NUMBER,
    "hit_1": COUNT,
    "hit_k": COUNT,
    "first_correct": COUNT,
    "outcome": TEXT,
    "answer_hit_1": COUNT,
    "answer_hit_k": COUNT,
}
METADATA = {
    "score_all": NUMBER,
    "score_title": NUMBER,
    "score_query": NUMBER,
    "score_correct": NUMBER,
    "score_title_correct": NUMBER,
    "score_query_correct": NUMBER,
    "answer_title_gain": NUMBER,
    "answer_title_gain_correct": NUMBER,
    "title_score_correct": NUMBER,
    "title_score_wrong": NUMBER,
}
GENERATION = {
    "frequency_top": NUMBER,
    "frequency_all": NUMBER,
    "rarest_top": COUNT,
    "unigram_share": NUMBER,
    "ngram_words": NUMBER,
    "overlap": NUMBER,
    "answer_ngram_1": COUNT,
    "answer_ngram_k": COUNT,
}
SCORING = {
    "dominance": NUMBER,
    "ngrams_all": COUNT,
    "title_ngrams_all": COUNT,
    "query_ngrams_all": COUNT,
    "ngrams_first": COUNT,
    "query_ngrams_first": COUNT,
    "unigram_score_share": NUMBER,
    "title_score_share": NUMBER,
    "query_score_share": NUMBER,
    "diversity": NUMBER,
    "title_repetition": COUNT,
    "keys_correct": NUMBER,
    "keys_wrong": NUMBER,
    "keys_shared": NUMBER,
    "weight_correct": NUMBER,
    "weight_wrong": NUMBER,
    "weight_shared": NUMBER,
    "length_ngrams": COUNTS,
    "length_weight": NUMBERS,
    "length_log_frequency": NUMBERS,
    "length_counted": COUNTS,
}
ANNOTATION = {"answer_outcome": TEXT, "answer_rank": COUNT}
TEXTS = {
    "gold_holds_answer": COUNT,
    "gold_terms": COUNT,
    "gold_adjacent": COUNT,
}
SWITCHED_OFF = ("titles", "queries", "unigrams")
"""Of the ablations: n-grams whose weights are left out of the sums."""
ABLATIONS = {
    f"{figure}_without_{what}": NUMBER if figure == "r_precision" else COUNT
    for what in SWITCHED_OFF
    for figure in ("r_precision", "hit_1", "hit_k")
}
OF_OUTPUT = {
    "query_id": TEXT, "question": TEXT, "passages": COUNT,
    **QUALITY, **METADATA, **GENERATION, **SCORING, **ANNOTATION, **TEXTS, **ABLATIONS,
}  # fmt: skip
"""All that an output file alone tells."""
OF_INDEX = {
    "coverage": NUMBER,
    "pieces": COUNT,
    "pieces_word": TEXT,
    "cut_answer": TEXT,
    "positives_indexed": COUNT,
}
"""What the index adds."""
OF_MODEL = {
    "pruned": COUNT,
    "pruned_ngram": TEXT,
    "pruned_at": COUNT,
    "pruned_rank": COUNT,
    "pruned_kept_by": COUNT,
    "pruned_weight": NUMBER,
    "rank_now": COUNT,
    "rank_unpruned": COUNT,
    "rank_without_titles": COUNT,
    "rank_without_queries": COUNT,
    "rank_without_unigrams": COUNT,
}
"""What replaying the search adds."""
OF_JUDGE = {"judged": TEXT, "judged_open": COUNT}
"""What a language model adds: YES, PARTIAL, NO, or failed; passages without a verdict."""
COLUMNS = {**OF_OUTPUT, **OF_INDEX, **OF_MODEL, **OF_JUDGE}
