"""Measure one question: its row of failures.parquet. Figures are defined in docs/autopsy.md.

A function per group of columns takes a case and returns its columns. A figure that does not apply
is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import fsum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.types import IntArray
from argus.generative.failures.case import (
    BODY,
    QUERY,
    TITLE,
    Case,
    Keys,
    Passage,
    content,
    holds_any,
    once,
    words,
)
from argus.generative.failures.columns import (
    COLUMNS,
    LENGTHS,
    NEGLIGIBLE,
    OF_OUTPUT,
    TOP_NGRAMS,
    Row,
)
from argus.indexes.words import STOP_WORDS

IS_TITLE, IS_BODY, IS_QUERY = range(3)
_CODES = {TITLE: IS_TITLE, BODY: IS_BODY, QUERY: IS_QUERY}
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Arrays:
    """A question's n-grams, and its passages' keys end to end (n_keys in all).

    views: (n_ngrams,) int8, IS_TITLE, IS_BODY or IS_QUERY. lengths: (n_ngrams,) tokens.
    counts: (n_ngrams,) float64, occurrences in the corpus, NaN where unknown. unigrams: (n_ngrams,)
    bool. ngrams: (n_keys,) places in these four. weights: (n_keys,) float64. passages: (n_keys,) of
    each, from 0. starts: (n_passages + 1,) the keys of passage i are starts[i] to starts[i + 1].
    correct: (n_passages,) bool, False where it is not known.
    """

    views: npt.NDArray[np.int8]
    lengths: IntArray
    counts: npt.NDArray[np.float64]
    unigrams: npt.NDArray[np.bool_]
    ngrams: IntArray
    weights: npt.NDArray[np.float64]
    passages: IntArray
    starts: IntArray
    correct: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, case: Case) -> Arrays:
        """Return the arrays of a question. They are made once."""
        return once(case, "arrays", lambda: _arrays(case))

    def first(self, k: int) -> slice:
        """Return where the keys of the first k passages are."""
        return slice(0, int(self.starts[min(k, len(self.starts) - 1)]))


def _arrays(case: Case) -> Arrays:
    ngrams = case.ngrams
    views = np.array([_CODES[ngram.view] for ngram in ngrams], np.int8)
    lengths = np.array([len(ngram.tokens) for ngram in ngrams], np.int64)
    counts = [np.nan if ngram.count is None else ngram.count for ngram in ngrams]
    keys = [passage.keys for passage in case.passages]
    sizes = np.array([0 if key is None else len(key) for key in keys], np.int64)
    return Arrays(
        views=views,
        lengths=lengths,
        counts=np.array(counts, np.float64),
        unigrams=(views == IS_BODY) & (lengths == 1),
        ngrams=np.concatenate([_NONE, *(key.ngrams for key in keys if key is not None)]),
        weights=np.concatenate(
            [_NONE.astype(np.float64), *(key.weights for key in keys if key is not None)]
        ),
        passages=np.repeat(np.arange(len(keys)), sizes),
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        correct=np.array([bool(passage.correct) for passage in case.passages], bool),
    )


Words = tuple[str, ...]


def answer_words(case: Case) -> tuple[Words, ...]:
    """Return the words of each different answer. An answer without a word is none."""
    return once(case, "answers", lambda: _different(map(words, case.answers)))


def texts_with_answer(case: Case, k: int) -> tuple[bool, ...] | None:
    """Return of each of the first k texts whether it holds an answer. None without answers."""
    answers = answer_words(case)
    if not answers:
        return None
    return once(case, ("texts", k), lambda: _holding(case, answers, k))


def hold_answer(parts: Iterable[Words], answers: tuple[Words, ...]) -> bool:
    """Return whether one of several texts, given as words, holds one of the answers."""
    beginnings = {answer[0] for answer in answers}
    return any(not beginnings.isdisjoint(part) and holds_any(part, answers) for part in parts)


def _different(answers: Iterable[Words]) -> tuple[Words, ...]:
    return tuple(answer for answer in dict.fromkeys(answers) if answer)


def _holding(case: Case, answers: tuple[Words, ...], k: int) -> tuple[bool, ...]:
    return tuple(hold_answer([words(passage.text)], answers) for passage in case.passages[:k])


def quality(case: Case, k: int) -> Row:
    """Return whether correct passages were found (thesis, §5, Table 16)."""
    correct = Arrays.of(case).correct.tolist() if case.judged else None
    texts = texts_with_answer(case, k)
    return {
        "positives": len(case.positives) if case.positives else None,
        **ranking(case, correct, k),
        "first_correct": correct.index(True) + 1 if correct and any(correct) else None,
        "outcome": None if correct is None else _outcome(correct),
        "answer_hit_1": None if texts is None else int(any(texts[:1])),
        "answer_hit_k": None if texts is None else int(any(texts)),
    }


def ranking(case: Case, correct: Sequence[bool] | None, k: int) -> Row:
    """Return R-precision and hits of a ranking of the question's passages.

    correct: of each passage, best first. None if it is not known, and nothing applies.
    """
    if correct is None:
        return {"r_precision": None, "hit_1": None, "hit_k": None}
    r = len(case.positives or ())
    return {
        "r_precision": sum(correct[:r]) / r if r else None,
        "hit_1": int(any(correct[:1])),
        "hit_k": int(any(correct[:k])),
    }


def _outcome(correct: Sequence[bool]) -> str:
    first_two = [*correct[:2], False, False][:2]
    return "".join("P" if one else "N" for one in first_two)


Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums of weights: in all, and by view. None if nothing applies."""

    all: float | None = None
    title: float | None = None
    query: float | None = None


def metadata(case: Case) -> Row:
    """Measure the weights of titles and pseudo-queries, over all passages."""
    return {**_scores(case), **_gains(case), **_title_scores(case)}


def _scores(case: Case) -> Row:
    """Return sums of weights by view. A part never exceeds its whole: both add up the same sums."""
    arrays = Arrays.of(case)
    of_correct = arrays.correct[arrays.passages]
    groups = arrays.views[arrays.ngrams] * 2 + of_correct
    sums: Float64Array = np.bincount(groups, arrays.weights, minlength=6).astype(np.float64)
    wrong, right = sums.reshape(3, 2).T
    every = _by_view(wrong + right, bool(len(arrays.weights)))
    correct = _by_view(right, bool(of_correct.any()))
    return {
        "score_all": every.all,
        "score_title": every.title,
        "score_query": every.query,
        "score_correct": correct.all,
        "score_title_correct": correct.title,
        "score_query_correct": correct.query,
    }


def _by_view(sums: Float64Array, applies: bool) -> _Sums:
    if not applies:
        return _Sums()
    title, body, query = (float(sums[view]) for view in (IS_TITLE, IS_BODY, IS_QUERY))
    return _Sums(title + body + query, title, query)


def _gains(case: Case) -> Row:
    """Return by how much an answer weighs more as a title than as another n-gram, per passage."""
    gains = _gain_of_passages(case)
    correct = Arrays.of(case).correct
    return {
        "answer_title_gain": _mean(list(gains.values())),
        "answer_title_gain_correct": _mean([gains[p] for p in gains if correct[p]]),
    }


def _gain_of_passages(case: Case) -> dict[int, float]:
    """Return the gain of each passage in which an answer is a title and another n-gram.

    The heaviest title and the heaviest other n-gram of an answer count. If there are several
    answers, use the one that weighs most as a title, then the one listed first.
    """
    arrays = Arrays.of(case)
    answers = answer_words(case)
    places = {words: place for place, words in enumerate(answers)}
    exact = np.array([places.get(ngram.words, -1) for ngram in case.ngrams], np.int64)
    keys = np.flatnonzero(exact[arrays.ngrams] >= 0)
    shape = (len(case.passages), max(len(answers), 1))
    heaviest = np.full((2, *shape), -1.0)  # as title, as another; -1: it is none
    other = arrays.views[arrays.ngrams[keys]] != IS_TITLE
    of_answer = exact[arrays.ngrams[keys]]
    np.maximum.at(
        heaviest, (other.astype(np.int64), arrays.passages[keys], of_answer), arrays.weights[keys]
    )
    titles, others = heaviest
    divisible = (others > 0) & (others >= NEGLIGIBLE * titles)
    titles = np.where(divisible, titles, -1.0)
    best = titles.argmax(axis=1)
    return {
        int(p): float(titles[p, best[p]] / others[p, best[p]] - 1)
        for p in np.flatnonzero(titles.max(axis=1) >= 0)
    }


def _title_scores(case: Case) -> Row:
    """Return the mean over passages with a title n-gram of their titles' total weight."""
    arrays = Arrays.of(case)
    titles = arrays.views[arrays.ngrams] == IS_TITLE
    n = len(case.passages)
    weights = np.bincount(arrays.passages[titles], arrays.weights[titles], minlength=n)
    has = np.bincount(arrays.passages[titles], minlength=n) > 0
    wrong = has & ~arrays.correct if case.judged else np.zeros(n, bool)
    return {
        "title_score_correct": _mean(weights[has & arrays.correct].tolist()),
        "title_score_wrong": _mean(weights[wrong].tolist()),
    }


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


_NO_NGRAMS: Row = {
    "frequency_top": None,
    "frequency_all": None,
    "rarest_top": None,
    "unigram_share": None,
    "ngram_words": None,
    "overlap": None,
}


def generation(case: Case, k: int) -> Row:
    """Measure the generated n-grams (thesis, Tables 4 to 7)."""
    return {
        **_of_first(case),
        "answer_ngram_1": _answer_ngram(case, case.passages[:1]),
        "answer_ngram_k": _answer_ngram(case, case.passages[:k]),
    }


def _of_first(case: Case) -> Row:
    keys = case.first
    if keys is None:
        return _NO_NGRAMS
    arrays = Arrays.of(case)
    counts = arrays.counts[keys.ngrams]
    heaviest = np.argsort(-keys.weights, kind="stable")[:TOP_NGRAMS]
    top = _known(counts[heaviest])
    return {
        "frequency_top": _array_mean(top),
        "frequency_all": _array_mean(_known(counts)),
        "rarest_top": int(top.min()) if len(top) else None,
        "unigram_share": float(arrays.unigrams[keys.ngrams].mean()),
        "ngram_words": sum(len(case.ngrams[i].words) for i in keys.ngrams) / len(keys),
        "overlap": _overlap(case, keys),
    }


def _known(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return counts[~np.isnan(counts)]


def _array_mean(values: npt.NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None


def _overlap(case: Case, keys: Keys) -> float | None:
    """C(Q, G_n) of the thesis: the share of the question's tokens that some n-gram has."""
    tokens = set(case.question_tokens)
    if not tokens:
        return None
    written = set(chain.from_iterable(case.ngrams[i].tokens for i in keys.ngrams))
    return len(tokens & written) / len(tokens)


def _answer_ngram(case: Case, passages: tuple[Passage, ...]) -> int | None:
    """Return whether an n-gram of the passages holds an answer. None without either."""
    lists = [passage.keys.ngrams.tolist() for passage in passages if passage.keys is not None]
    places = set(chain.from_iterable(lists))
    answers = answer_words(case)
    if not places or not answers:
        return None
    return int(hold_answer((case.ngrams[i].words for i in places), answers))


def scoring(case: Case, k: int) -> Row:
    """Measure how n-grams were scored (thesis, Tables 8, 13 to 15 and 17)."""
    return {
        "dominance": _dominance(case.first),
        **_quantities(case),
        **_score_shares(case),
        "diversity": _diversity(case),
        "title_repetition": _title_repetition(case, k),
        **_telling_keys(case, k),
        **_by_length(case, k),
    }


def _total(keys: Keys | None) -> float:
    """Return the sum of a passage's weights, exactly rounded, so that no part exceeds it.

    0 where no shares of it can be had: no n-gram, none of any weight, or one below 0.
    """
    return 0.0 if keys is None or keys.weights.min() < 0 else fsum(keys.weights)


def _dominance(keys: Keys | None) -> float | None:
    """Return the heaviest weight / the sum (Table 8)."""
    total = _total(keys)
    return float(keys.weights.max()) / total if keys is not None and total > 0 else None


def _quantities(case: Case) -> Row:
    arrays = Arrays.of(case)
    views = arrays.views[arrays.ngrams]
    first = views[arrays.first(1)]
    return {
        "ngrams_all": len(views) or None,
        "title_ngrams_all": int((views == IS_TITLE).sum()) if len(views) else None,
        "query_ngrams_all": int((views == IS_QUERY).sum()) if len(views) else None,
        "ngrams_first": len(first) or None,
        "query_ngrams_first": int((first == IS_QUERY).sum()) if len(first) else None,
    }


def _score_shares(case: Case) -> Row:
    """Return shares of the first passage's weights."""
    arrays, keys = Arrays.of(case), case.first
    total = _total(keys)
    if keys is None or total <= 0:
        return {
            "unigram_score_share": None,
            "title_score_share": None,
            "query_score_share": None,
        }
    views = arrays.views[keys.ngrams]
    return {
        "unigram_score_share": fsum(keys.weights[arrays.unigrams[keys.ngrams]]) / total,
        "title_score_share": fsum(keys.weights[views == IS_TITLE]) / total,
        "query_score_share": fsum(keys.weights[views == IS_QUERY]) / total,
    }


def _diversity(case: Case) -> float | None:
    """Return different tokens / tokens of the first passage's n-grams (Table 14)."""
    places = [] if case.first is None else case.first.ngrams.tolist()
    tokens = list(chain.from_iterable(case.ngrams[i].tokens for i in places))
    return len(set(tokens)) / len(tokens) if tokens else None


def _title_repetition(case: Case, k: int) -> int | None:
    """Return how many of the first k passages bear the most frequent title (Table 15)."""
    titles = Counter(passage.title for passage in case.passages[:k] if passage.title)
    return max(titles.values(), default=None)


def _telling_keys(case: Case, k: int) -> Row:
    """Return how many n-grams of the first k passages tell correct from other ones (Table 17).

    Shares are of different n-grams. A mean weight counts an n-gram in every passage that it is in.
    """
    arrays = Arrays.of(case)
    part = arrays.first(k)
    ngrams, weights = arrays.ngrams[part], arrays.weights[part]
    correct = arrays.correct[arrays.passages[part]]
    marks = np.zeros(len(case.ngrams), np.int64)  # 1: in a correct passage, 2: in another, 3: both
    marks[ngrams[correct]] = 1
    marks[ngrams[~correct]] += 2  # once, however many passages it is in
    n = int((marks > 0).sum()) if case.judged else 0

    def share(mark: int) -> float | None:
        return int((marks == mark).sum()) / n if n else None

    def mean_weight(mark: int) -> float | None:
        inside = weights[marks[ngrams] == mark]
        return float(inside.mean()) if n and len(inside) else None

    return {
        "keys_correct": share(1),
        "keys_wrong": share(2),
        "keys_shared": share(3),
        "weight_correct": mean_weight(1),
        "weight_wrong": mean_weight(2),
        "weight_shared": mean_weight(3),
    }


def _by_length(case: Case, k: int) -> Row:
    """Return sums over the n-grams of the first k passages by tokens. Those of none are left out.

    An n-gram counts in every passage that it is in.
    """
    arrays = Arrays.of(case)
    part = arrays.first(k)
    ngrams = arrays.ngrams[part]
    if not len(ngrams):
        return {
            "length_ngrams": None,
            "length_weight": None,
            "length_log_frequency": None,
            "length_counted": None,
        }
    bins = np.minimum(arrays.lengths[ngrams], LENGTHS)
    counts = arrays.counts[ngrams]
    counted = counts > 0  # unknown ones are NaN
    logs = np.log10(counts, out=np.zeros(len(counts)), where=counted)

    def sums(values: npt.NDArray[np.float64]) -> list[float]:
        added: list[float] = np.bincount(bins, values, minlength=LENGTHS + 1)[1:].tolist()
        return added

    def times(of: IntArray) -> list[int]:
        counts: list[int] = np.bincount(of, minlength=LENGTHS + 1)[1:].tolist()
        return counts

    return {
        "length_ngrams": times(bins),
        "length_weight": sums(arrays.weights[part]),
        "length_log_frequency": sums(logs),
        "length_counted": times(bins[counted]),
    }


HIT, UNANNOTATED, ABSENT = "hit", "unannotated", "absent"


def annotation(case: Case, k: int) -> Row:
    """Return whether an answer stands in a passage that nobody annotated (thesis, Table 9).

    Both are None without answers, or without positives: where correctness goes by answers, nobody
    annotated anything.
    """
    texts = texts_with_answer(case, k)
    if texts is None or not case.positives:
        return {"answer_outcome": None, "answer_rank": None}
    if any(passage.correct for passage in case.passages[:k]):
        return {"answer_outcome": HIT, "answer_rank": None}
    if any(texts):
        return {"answer_outcome": UNANNOTATED, "answer_rank": texts.index(True) + 1}
    return {"answer_outcome": ABSENT, "answer_rank": None}


def texts(case: Case) -> Row:
    """Measure the contents of the positives whose text is known.

    Answers are looked for in texts, terms in titles, too.
    """
    gold = [(words(p.title), words(p.text)) for p in case.positives or () if p.text is not None]
    answers = answer_words(case)
    terms = frozenset(content(words(case.question)))
    most = max((len(terms.intersection((*title, *text))) for title, text in gold), default=0)
    side_by_side = any(_adjacent(part, terms) for parts in gold for part in parts)
    holds = hold_answer((text for _, text in gold), answers)
    return {
        "gold_holds_answer": int(holds) if gold and answers else None,
        "gold_terms": most if gold and terms else None,
        "gold_adjacent": int(side_by_side) if most > 1 else None,
    }


def _adjacent(text: Sequence[str], terms: frozenset[str]) -> bool:
    """Return whether two different terms are neighbours without stop words."""
    rest = [word for word in text if word not in STOP_WORDS]
    return any(a != b and a in terms and b in terms for a, b in pairwise(rest))


def ablations(case: Case, k: int) -> Row:
    """Rank anew without titles, pseudo-queries or unigrams, from the file alone.

    All are None if correctness or all n-grams are missing.
    """
    arrays = Arrays.of(case)
    views = arrays.views[arrays.ngrams]
    known = case.judged and len(views)
    titles, queries, unigrams = (
        ranking(case, _correct_without(arrays, off) if known else None, k)
        for off in (views == IS_TITLE, views == IS_QUERY, arrays.unigrams[arrays.ngrams])
    )
    return {
        "r_precision_without_titles": titles["r_precision"],
        "hit_1_without_titles": titles["hit_1"],
        "hit_k_without_titles": titles["hit_k"],
        "r_precision_without_queries": queries["r_precision"],
        "hit_1_without_queries": queries["hit_1"],
        "hit_k_without_queries": queries["hit_k"],
        "r_precision_without_unigrams": unigrams["r_precision"],
        "hit_1_without_unigrams": unigrams["hit_1"],
        "hit_k_without_unigrams": unigrams["hit_k"],
    }


def _correct_without(arrays: Arrays, off: npt.NDArray[np.bool_]) -> list[bool]:
    """Return of each passage, ranked anew, whether it is correct. Ties keep the file's order.

    Sums are exact, so that equal passages tie in whatever order their keys are listed. Where
    nothing is switched off, the file's order stays, however it came about.
    """
    correct: list[bool] = arrays.correct.tolist()
    if not off.any():
        return correct
    left = np.where(off, 0.0, arrays.weights).tolist()
    scores = [fsum(left[start:end]) for start, end in pairwise(arrays.starts.tolist())]
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [correct[place] for place in order]


def measure(case: Case, k: int) -> Row:
    """Return the measures that need only an output: the columns of OF_OUTPUT, in order."""
    return {
        "query_id": case.id,
        "question": case.question,
        "passages": len(case.passages),
        **quality(case, k),
        **metadata(case),
        **generation(case, k),
        **scoring(case, k),
        **annotation(case, k),
        **texts(case),
        **ablations(case, k),
    }


def to_table(rows: Sequence[Row]) -> pa.Table:
    """Return rows as a table with the COLUMNS that some row has. Missing values are null.

    Without rows, the columns of OF_OUTPUT.
    """
    names = {name for row in rows for name in row} if rows else set(OF_OUTPUT)
    schema = pa.schema([(name, kind) for name, kind in COLUMNS.items() if name in names])
    return pa.Table.from_pylist(list(rows), schema=schema)
