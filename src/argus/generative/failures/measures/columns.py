"""Measures of every question: the columns of failures.parquet (docs/autopsy.md).

A group of columns is a record. The types of the table are those of its fields. None means that a
figure does not apply: no n-grams, no frequencies, no answers, no positives.
"""

from __future__ import annotations

from typing import get_type_hints

import pyarrow as pa
from typing_extensions import TypedDict

LENGTHS = 11
"""Bins of the length tables: n-grams of 1 to 10 tokens, and of more."""
TOP_NGRAMS = 5
"""The heaviest n-grams of the first passage whose frequency is averaged (thesis, Table 4)."""

NEGLIGIBLE = 1e-12
"""Part of a numerator. A smaller divisor counts as 0, and there is no ratio."""
SWITCHED_OFF = ("titles", "queries", "unigrams")
"""Ablations: n-grams with weights left out of the sums."""


class Question(TypedDict):
    """The question, and how many passages were found for it.

    passages: passages found, each counted once.
    """

    query_id: str
    question: str
    passages: int


class Positives(TypedDict):
    """Number of passages annotated as correct.

    positives: annotated positives. None if there are none.
    """

    positives: int | None


class Ranking(TypedDict):
    """Quality of a ranking. Hits are 0 or 1.

    r_precision: share of the first R passages that is correct, R = `positives`.
    hit_1, hit_k: whether one of the first 1, k passages is correct (0 or 1).
    """

    r_precision: float | None
    hit_1: int | None
    hit_k: int | None


class Outcome(TypedDict):
    """The rank of the first correct passage, the first two of them, and answers in texts.

    first_correct: rank of the first correct passage, from 1. None without one.
    outcome: first and second passage correct (P) or not (N): PP, PN, NP, NN.
    answer_hit_1, answer_hit_k: whether one of the first 1, k texts holds an answer (0 or 1).
    """

    first_correct: int | None
    outcome: str | None
    answer_hit_1: int | None
    answer_hit_k: int | None


class Quality(Positives, Ranking, Outcome):
    """Quality of the answer to a question."""


class ViewScores(TypedDict):
    """Sums of weights by view, over all passages and over correct ones.

    score_all, score_title, score_query: sum of the weights of all n-grams, of titles, of
    pseudo-queries.
    score_correct, score_title_correct, score_query_correct: the same over correct passages.
    """

    score_all: float | None
    score_title: float | None
    score_query: float | None
    score_correct: float | None
    score_title_correct: float | None
    score_query_correct: float | None


class TitleGains(TypedDict):
    """By how much an answer weighs more as a title than as another n-gram.

    answer_title_gain: weight of an answer as a title / as another n-gram - 1, in the mean.
    answer_title_gain_correct: the same over correct passages.
    """

    answer_title_gain: float | None
    answer_title_gain_correct: float | None


class TitleScores(TypedDict):
    """Weights of titles in correct passages, and in others.

    title_score_correct, title_score_wrong: mean weight of titles in the correct, the other
    passages.
    """

    title_score_correct: float | None
    title_score_wrong: float | None


class Metadata(ViewScores, TitleGains, TitleScores):
    """Weights of titles and pseudo-queries."""


class FirstNgrams(TypedDict):
    """The n-grams of the first passage.

    frequency_top: mean corpus frequency of its five heaviest n-grams.
    frequency_all: mean corpus frequency of all its n-grams.
    rarest_top: least frequency among the five heaviest.
    unigram_share: share of its n-grams that are of one token.
    ngram_words: mean number of words of its n-grams.
    overlap: share of the question's different tokens that are in some n-gram.
    """

    frequency_top: float | None
    frequency_all: float | None
    rarest_top: int | None
    unigram_share: float | None
    ngram_words: float | None
    overlap: float | None


class Generation(FirstNgrams):
    """Generated n-grams. Answers are 0 or 1.

    answer_ngram_1, answer_ngram_k: whether an n-gram of the first 1, k passages holds an answer.
    """

    answer_ngram_1: int | None
    answer_ngram_k: int | None


class Dominance(TypedDict):
    """The heaviest weight of the first passage / the sum.

    dominance: heaviest weight of the first passage / sum of its weights.
    """

    dominance: float | None


class Quantities(TypedDict):
    """Numbers of n-grams.

    ngrams_all: n-grams over all passages.
    title_ngrams_all: of these, titles.
    query_ngrams_all: of these, pseudo-queries.
    ngrams_first: n-grams of the first passage.
    query_ngrams_first: of these, pseudo-queries.
    """

    ngrams_all: int | None
    title_ngrams_all: int | None
    query_ngrams_all: int | None
    ngrams_first: int | None
    query_ngrams_first: int | None


class ScoreShares(TypedDict):
    """Shares of the first passage's weights.

    unigram_score_share, title_score_share, query_score_share: share that is of unigrams, titles,
    pseudo-queries.
    """

    unigram_score_share: float | None
    title_score_share: float | None
    query_score_share: float | None


class Variety(TypedDict):
    """Different tokens / tokens, and passages of the commonest title.

    diversity: different tokens / tokens, over the n-grams of the first passage.
    title_repetition: how many of the first k passages bear the most frequent title.
    """

    diversity: float | None
    title_repetition: int | None


class TellingKeys(TypedDict):
    """Shares and mean weights of n-grams by the passages that they are in.

    keys_correct, keys_wrong, keys_shared: share of n-grams in correct passages alone, in others
    alone, in both.
    weight_correct, weight_wrong, weight_shared: mean weight of those n-grams.
    """

    keys_correct: float | None
    keys_wrong: float | None
    keys_shared: float | None
    weight_correct: float | None
    weight_wrong: float | None
    weight_shared: float | None


class Lengths(TypedDict):
    """Sums over n-grams by their number of tokens, LENGTHS values each.

    length_ngrams: n-grams by length.
    length_weight: sums of their weights, by length.
    length_log_frequency: sums of log10 frequency, by length.
    length_counted: n-grams of known frequency above 0, by length.
    """

    length_ngrams: list[int] | None
    length_weight: list[float] | None
    length_log_frequency: list[float] | None
    length_counted: list[int] | None


class Scoring(Dominance, Quantities, ScoreShares, Variety, TellingKeys, Lengths):
    """Scoring of the n-grams."""


class Annotation(TypedDict):
    """Whether an answer stands in a passage that nobody annotated, and its rank.

    answer_outcome: hit, unannotated (a text holds an answer) or absent.
    answer_rank: for unannotated: rank of the first such passage.
    """

    answer_outcome: str | None
    answer_rank: int | None


class Texts(TypedDict):
    """Contents of the positives' texts.

    gold_holds_answer: whether the text of some positive holds an answer (0 or 1).
    gold_terms: content words of the question in the positive that has most of them.
    gold_adjacent: whether two of them stand next to each other in a positive (0 or 1).
    """

    gold_holds_answer: int | None
    gold_terms: int | None
    gold_adjacent: int | None


class Ablations(TypedDict):
    """The ranking without titles, pseudo-queries or unigrams.

    r_precision_without_titles: R-precision, ranked anew without these.
    hit_1_without_titles: hit at 1, ranked anew without these.
    hit_k_without_titles: hit at k, ranked anew without these.
    r_precision_without_queries: R-precision, ranked anew without these.
    hit_1_without_queries: hit at 1, ranked anew without these.
    hit_k_without_queries: hit at k, ranked anew without these.
    r_precision_without_unigrams: R-precision, ranked anew without these.
    hit_1_without_unigrams: hit at 1, ranked anew without these.
    hit_k_without_unigrams: hit at k, ranked anew without these.
    """

    r_precision_without_titles: float | None
    hit_1_without_titles: int | None
    hit_k_without_titles: int | None
    r_precision_without_queries: float | None
    hit_1_without_queries: int | None
    hit_k_without_queries: int | None
    r_precision_without_unigrams: float | None
    hit_1_without_unigrams: int | None
    hit_k_without_unigrams: int | None


class OutputRow(Question, Quality, Metadata, Generation, Scoring, Annotation, Texts, Ablations):
    """Columns that need only an output file."""


class IndexFigures(TypedDict, total=False):
    """Measures that need the index.

    coverage: share of the question's different words that the corpus has.
    pieces: most tokens that a content word of the answers is split into.
    pieces_word: that word.
    cut_answer: two neighbouring passages that hold an answer only together, as `id + id`.
    positives_indexed: positives that the index holds.
    """

    coverage: float | None
    pieces: int | None
    pieces_word: str | None
    cut_answer: str | None
    positives_indexed: int | None


class ReplayFigures(TypedDict, total=False):
    """Measures that need a replay of the search.

    pruned: n-grams of positives that would weigh more than 0 and were not written.
    pruned_ngram: the heaviest of them, and its weight.
    pruned_at: token, from 1, at which its prefix left the beam.
    pruned_rank: its rank among all candidates there.
    pruned_kept_by: least beam size tried that writes it. None if none did.
    pruned_weight: the heaviest of them, and its weight.
    rank_now: rank of the best positive in the replay. None if it is not there.
    rank_unpruned: the same with the pruned n-grams as keys, too.
    rank_without_titles, rank_without_queries, rank_without_unigrams: the same with these keys
    switched off.
    """

    pruned: int | None
    pruned_ngram: str | None
    pruned_at: int | None
    pruned_rank: int | None
    pruned_kept_by: int | None
    pruned_weight: float | None
    rank_now: int | None
    rank_unpruned: int | None
    rank_without_titles: int | None
    rank_without_queries: int | None
    rank_without_unigrams: int | None


class JudgeFigures(TypedDict, total=False):
    """A language model's verdict: YES, PARTIAL, NO, or failed. Passages without a verdict.

    judged: best verdict over unannotated passages: YES, PARTIAL, NO or failed.
    judged_open: passages of them without a verdict.
    """

    judged: str | None
    judged_open: int | None


class Row(OutputRow, IndexFigures, ReplayFigures, JudgeFigures):
    """One row per system and question. Columns that no question has are left out."""


_KINDS = {
    str: pa.string(),
    int: pa.int64(),
    str | None: pa.string(),
    int | None: pa.int64(),
    float | None: pa.float64(),
    list[int] | None: pa.list_(pa.int64()),
    list[float] | None: pa.list_(pa.float64()),
}


def _columns(record: type) -> dict[str, pa.DataType]:
    return {name: _KINDS[kind] for name, kind in get_type_hints(record).items()}


OF_OUTPUT = _columns(OutputRow)
COLUMNS = _columns(Row)
"""Name to type, in the order of the table."""


def number(row: Row, column: str) -> float | None:
    """Return the number in a column of a row. None if there is none."""
    value = row.get(column)
    return float(value) if isinstance(value, int | float) else None
