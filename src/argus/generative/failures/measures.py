"""Measure one question of a generative search from its output alone: one row of failures.parquet.

`measure`: a `Case` (question, passages, n-grams) -> a row: hits, answers, weights of titles and
pseudo-queries, n-grams of right and wrong passages. `COLUMNS` lists all, and docs/autopsy.md
defines them. A function per group of columns returns those that apply. The others are None.
`measuring` calls it for all questions, and adds those that need the index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.types import IntArray
from argus.generative.failures.reading import BODY, QUERY, TITLE, Case, holds_any, words
from argus.indexes.lexical import STOP_WORDS

TOP_NGRAMS = 5
"""The heaviest n-grams of the first passage whose frequency is averaged (thesis, Table 4)."""

NEGLIGIBLE = 1e-12
"""Part of a numerator. A smaller divisor counts as 0, and there is no ratio."""
SWITCHED_OFF = ("titles", "queries", "unigrams")
"""Kinds of keys without which a replay ranks, too."""

Row = dict[str, Any]
"""One row per system and question. Columns that no question has are left out."""
_TYPES = {"text": pa.string(), "int": pa.int64(), "float": pa.float64()}


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
    text: answer_outcome
    int: answer_rank gold_holds_answer gold_terms gold_adjacent
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
    float: pruned_weight
    int: rank_now rank_unpruned rank_without_titles rank_without_queries
    int: rank_without_unigrams
""")
"""Columns that need a replay of the search. pruned: n-grams of positives that would weigh more
than 0 and were not written. The next two are of the heaviest of them. rank_: of the best positive,
now, with the pruned n-grams as keys, and without some."""
OF_JUDGE = _columns("""
    text: judged
""")
"""A language model's best verdict over unannotated passages: YES, PARTIAL, NO or failed."""
COLUMNS = OF_OUTPUT | OF_INDEX | OF_REPLAY | OF_JUDGE
"""Name to type, in the order of the table."""


def number(row: Row, column: str) -> float | None:
    """Return the number in a column of a row. None if there is none."""
    value = row.get(column)
    return float(value) if isinstance(value, int | float) else None


HIT, UNANNOTATED, ABSENT = "hit", "unannotated", "absent"
IS_TITLE, IS_BODY, IS_QUERY = range(3)
_CODES = {TITLE: IS_TITLE, BODY: IS_BODY, QUERY: IS_QUERY}
Words = tuple[str, ...]
Floats = npt.NDArray[np.float64]


def to_table(rows: Sequence[Row]) -> pa.Table:
    """Return rows as a table with the COLUMNS that some row has. Missing values are null.

    Without rows, the columns of OF_OUTPUT.
    """
    names = {name for row in rows for name in row} if rows else set(OF_OUTPUT)
    schema = pa.schema([(name, kind) for name, kind in COLUMNS.items() if name in names])
    return pa.Table.from_pylist(list(rows), schema=schema)


def measure(case: Case, k: int) -> Row:
    """Return the measures that need only an output: the columns of OF_OUTPUT, in order.

    A figure that does not apply is None.
    """
    arrays = _Arrays.of(case)
    answers = [answer for answer in dict.fromkeys(map(words, case.answers)) if answer]
    correct, views = arrays.correct.tolist(), arrays.views[arrays.ngrams]
    titles = Counter(passage.title for passage in case.passages[:k] if passage.title)
    row: Row = dict.fromkeys(OF_OUTPUT) | {
        "query_id": case.id,
        "question": case.question,
        "passages": len(case.passages),
        "positives": len(case.positives) if case.positives else None,
        "title_repetition": max(titles.values(), default=None),
        "answer_ngram_1": _holds_answer_ngram(case, arrays.first(1), answers),
        "answer_ngram_k": _holds_answer_ngram(case, arrays.first(k), answers),
    }
    if case.judged:
        r = len(case.positives or ())
        row |= {
            "r_precision": sum(correct[:r]) / r if r else None,
            "hit_1": int(any(correct[:1])),
            "hit_k": int(any(correct[:k])),
            "first_correct": correct.index(True) + 1 if any(correct) else None,
            "outcome": "".join("P" if one else "N" for one in [*correct, False, False][:2]),
        }
    if answers:  # also where nobody annotated the passage that holds one
        held = [hold_answer([words(p.text)], answers) for p in case.passages[:k]]
        row |= {"answer_hit_1": int(any(held[:1])), "answer_hit_k": int(any(held))}
        if case.positives and any(correct[:k]):
            row["answer_outcome"] = HIT
        elif case.positives:
            row["answer_outcome"] = UNANNOTATED if any(held) else ABSENT
            row["answer_rank"] = held.index(True) + 1 if any(held) else None
    if len(views):
        row |= {
            "ngrams_all": len(views),
            "title_ngrams_all": int((views == IS_TITLE).sum()),
            "query_ngrams_all": int((views == IS_QUERY).sum()),
        }
    return (
        row
        | _scores(case, arrays)
        | _title_gains(case, arrays, answers)
        | _first_passage(case, arrays)
        | _telling_keys(case, arrays, k)
        | _positive_texts(case, answers)
    )


@dataclass(frozen=True, slots=True)
class _Arrays:
    """A question's n-grams, and its passages' keys end to end (n_keys in all).

    views: (n_ngrams,) int8, IS_TITLE, IS_BODY or IS_QUERY. counts: (n_ngrams,) float64,
    occurrences in the corpus, NaN where unknown. unigrams: (n_ngrams,) bool, body n-grams of one
    token. ngrams: (n_keys,) places in these three. weights: (n_keys,) float64. passages: (n_keys,)
    of each, from 0. starts: (n_passages + 1,) the keys of passage i are starts[i] to starts[i + 1].
    correct: (n_passages,) bool, False where it is not known.
    """

    views: npt.NDArray[np.int8]
    counts: Floats
    unigrams: npt.NDArray[np.bool_]
    ngrams: IntArray
    weights: Floats
    passages: IntArray
    starts: IntArray
    correct: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, case: Case) -> _Arrays:
        views = np.array([_CODES[ngram.view] for ngram in case.ngrams], np.int8)
        is_single = np.array([len(ngram.tokens) == 1 for ngram in case.ngrams], bool)
        counts = [np.nan if ngram.count is None else ngram.count for ngram in case.ngrams]
        sizes = np.array([len(p.keys or ()) for p in case.passages], np.int64)
        keys = [passage.keys for passage in case.passages if passage.keys is not None]
        none = np.zeros(0, np.int64)
        return cls(
            views=views,
            counts=np.array(counts, np.float64),
            unigrams=(views == IS_BODY) & is_single,
            ngrams=np.concatenate([none, *(key.ngrams for key in keys)]),
            weights=np.concatenate([none.astype(np.float64), *(key.weights for key in keys)]),
            passages=np.repeat(np.arange(len(sizes)), sizes),
            starts=np.concatenate([[0], np.cumsum(sizes)]),
            correct=np.array([bool(passage.correct) for passage in case.passages], bool),
        )

    def first(self, k: int) -> IntArray:
        """Return the n-grams of the keys of the first k passages."""
        return self.ngrams[: int(self.starts[min(k, len(self.starts) - 1)])]


def hold_answer(parts: Iterable[Words], answers: Sequence[Words]) -> bool:
    """Return whether one of several texts, given as words, holds one of the answers."""
    beginnings = {answer[0] for answer in answers}
    return any(not beginnings.isdisjoint(part) and holds_any(part, answers) for part in parts)


def _scores(case: Case, arrays: _Arrays) -> Row:
    """Return sums of weights by view, and the mean weight of titles where there are some.

    A part never exceeds its whole: both add up the same sums.
    """
    of_correct = arrays.correct[arrays.passages]
    groups = arrays.views[arrays.ngrams] * 2 + of_correct
    sums = np.bincount(groups, arrays.weights, minlength=6).astype(np.float64)
    wrong, right = sums.reshape(3, 2).T
    row: Row = {}
    for whole, end, by_view, applies in (
        ("score_all", "", wrong + right, len(of_correct)),
        ("score_correct", "_correct", right, of_correct.any()),
    ):
        title, body, query = by_view.tolist()
        if applies:
            row[whole] = title + body + query
            row |= {f"score_title{end}": title, f"score_query{end}": query}
    titles, n = arrays.views[arrays.ngrams] == IS_TITLE, len(case.passages)
    weights = np.bincount(arrays.passages[titles], arrays.weights[titles], minlength=n)
    has = np.bincount(arrays.passages[titles], minlength=n) > 0
    return row | {
        "title_score_correct": _mean(weights[has & arrays.correct].tolist()),
        "title_score_wrong": _mean(weights[has & ~arrays.correct & case.judged].tolist()),
    }


def _title_gains(case: Case, arrays: _Arrays, answers: Sequence[Words]) -> Row:
    """Return by how much an answer weighs more as a title than as another n-gram, per passage.

    The heaviest title and the heaviest other n-gram of an answer count. If there are several
    answers, use the one that weighs most as a title, then the one listed first.
    """
    places = {answer: place for place, answer in enumerate(answers)}
    exact = np.array([places.get(ngram.words, -1) for ngram in case.ngrams], np.int64)
    keys = np.flatnonzero(exact[arrays.ngrams] >= 0)
    if not len(keys):
        return {}
    other = (arrays.views[arrays.ngrams[keys]] != IS_TITLE).astype(np.int64)
    heaviest = np.full((2, len(case.passages), len(answers)), -1.0)  # title, other; -1: it is none
    at = (other, arrays.passages[keys], exact[arrays.ngrams[keys]])
    np.maximum.at(heaviest, at, arrays.weights[keys])
    titles, others = heaviest
    titles = np.where((others > 0) & (others >= NEGLIGIBLE * titles), titles, -1.0)
    best = titles.argmax(axis=1)
    gains = {
        p: float(titles[p, best[p]] / others[p, best[p]] - 1)
        for p in np.flatnonzero(titles.max(axis=1) >= 0).tolist()
    }
    return {
        "answer_title_gain": _mean(gains.values()),
        "answer_title_gain_correct": _mean(gains[p] for p in gains if arrays.correct[p]),
    }


def _mean(values: Iterable[float]) -> float | None:
    values = list(values)
    return sum(values) / len(values) if values else None


def _first_passage(case: Case, arrays: _Arrays) -> Row:
    """Measure the n-grams of the first passage (thesis, Tables 4 to 6, 8 and 14).

    Shares of its score are exactly rounded, so that no part exceeds the sum. They do not apply
    where no n-gram has any weight, or one has a weight below 0.
    """
    keys = case.passages[0].keys if case.passages else None
    if keys is None or not len(keys):
        return {}
    counts, views = arrays.counts[keys.ngrams], arrays.views[keys.ngrams]
    unigrams = arrays.unigrams[keys.ngrams]
    top = counts[np.argsort(-keys.weights, kind="stable")[:TOP_NGRAMS]]
    top, counts = top[~np.isnan(top)], counts[~np.isnan(counts)]
    mine = [case.ngrams[i] for i in keys.ngrams.tolist()]
    asked = set(case.question_tokens)
    tokens = list(chain.from_iterable(ngram.tokens for ngram in mine))
    row: Row = {
        "frequency_top": float(top.mean()) if len(top) else None,
        "frequency_all": float(counts.mean()) if len(counts) else None,
        "rarest_top": int(top.min()) if len(top) else None,
        "unigram_share": float(unigrams.mean()),
        "ngram_words": sum(len(ngram.words) for ngram in mine) / len(mine),
        "overlap": len(asked.intersection(tokens)) / len(asked) if asked else None,
        "diversity": len(set(tokens)) / len(tokens) if tokens else None,
        "ngrams_first": len(mine),
        "query_ngrams_first": int((views == IS_QUERY).sum()),
    }
    total = fsum(keys.weights)
    if keys.weights.min() >= 0 and total > 0:
        row |= {
            "dominance": float(keys.weights.max()) / total,
            "unigram_score_share": fsum(keys.weights[unigrams]) / total,
            "title_score_share": fsum(keys.weights[views == IS_TITLE]) / total,
            "query_score_share": fsum(keys.weights[views == IS_QUERY]) / total,
        }
    return row


def _holds_answer_ngram(case: Case, ngrams: IntArray, answers: Sequence[Words]) -> int | None:
    """Return whether an n-gram holds an answer (thesis, Table 7). None without either."""
    if not len(ngrams) or not answers:
        return None
    return int(hold_answer((case.ngrams[i].words for i in {*ngrams.tolist()}), answers))


def _telling_keys(case: Case, arrays: _Arrays, k: int) -> Row:
    """Return how many n-grams of the first k passages tell correct from other ones (Table 17).

    Shares are of different n-grams. A mean weight counts an n-gram in every passage that it is in.
    """
    ngrams = arrays.first(k)
    if not case.judged or not len(ngrams):
        return {}
    weights = arrays.weights[: len(ngrams)]
    correct = arrays.correct[arrays.passages[: len(ngrams)]]
    marks = np.zeros(len(case.ngrams), np.int64)  # 1: in a correct passage, 2: in another, 3: both
    marks[ngrams[correct]] = 1
    marks[ngrams[~correct]] += 2  # once, however many passages it is in
    n = int((marks > 0).sum())
    row: Row = {}
    for mark, name in enumerate(("correct", "wrong", "shared"), 1):
        inside = weights[marks[ngrams] == mark]
        row[f"keys_{name}"] = int((marks == mark).sum()) / n
        row[f"weight_{name}"] = float(inside.mean()) if len(inside) else None
    return row


def _positive_texts(case: Case, answers: Sequence[Words]) -> Row:
    """Measure the contents of the positives whose text is known.

    Answers are looked for in texts, the question's content words in titles, too.
    """
    gold = [(words(p.title), words(p.text)) for p in case.positives or () if p.text is not None]
    if not gold:
        return {}
    terms = set(words(case.question)) - STOP_WORDS
    most = max(len(terms.intersection((*title, *text))) for title, text in gold)
    content = ([word for word in part if word not in STOP_WORDS] for both in gold for part in both)
    adjacent = any(
        a != b and a in terms and b in terms for part in content for a, b in pairwise(part)
    )
    held = hold_answer((text for _, text in gold), answers)
    return {
        "gold_holds_answer": int(held) if answers else None,
        "gold_terms": most if terms else None,
        "gold_adjacent": int(adjacent) if most > 1 else None,
    }
