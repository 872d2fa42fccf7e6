"""What may tell that a question fails, each computed from the question and what came back alone.

Signs say which way a signal points, by the literature on query performance prediction, before
anything was measured: +1 where a high value goes with failure, -1 where a low one does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray
from argus.indexes.words import STOP_WORDS, words
from argus.traffic.risk.background import Background

DEPTH, NEAR, SHOWN = 100, 50, 10
"""How deep own searches go, how many documents are near a question, and how many were served."""
PERSISTENCE = 0.9
"""Of rank-biased overlap."""
Floats = npt.NDArray[np.float64]
Values = dict[str, float]


@dataclass(frozen=True)
class Served:
    """A question and what came back for it.

    documents: ids, best first. scores: theirs, empty where they are not known. vector: of the
    question, unit; None without an encoder.
    """

    text: str
    documents: Sequence[str]
    scores: Sequence[float] = ()
    vector: FloatArray | None = None


@dataclass(frozen=True)
class Search:
    """One question's search of the whole corpus by vectors. rows: of the best, best first."""

    rows: npt.NDArray[np.int64]
    scores: FloatArray
    mean: float
    deviation: float


@dataclass(frozen=True)
class Case:
    """A question as its signals see it."""

    served: Served
    background: Background
    by_words: Sequence[str]
    word_scores: Floats
    by_vectors: Search | None
    shown: Sequence[int]
    """Rows of the first documents that came back."""

    @property
    def ids(self) -> Sequence[str]:
        """The first documents that came back, as far as the corpus has them."""
        return [self.background.ids[row] for row in self.shown]


def case_of(served: Served, background: Background, places: Mapping[str, int]) -> Case:
    """Search the corpus with a question. places: the row of each document."""
    hits = background.lexical.search([served.text], DEPTH)
    shown = [places[id_] for id_ in served.documents[:SHOWN] if id_ in places]
    word_scores = np.asarray(hits.scores[0], float)
    search = _search(served.vector, background.vectors)
    return Case(served, background, hits.ids[0], word_scores, search, shown)


def _search(vector: FloatArray | None, vectors: FloatArray | None) -> Search | None:
    if vector is None or vectors is None or not len(vectors):
        return None
    scores = vectors @ np.asarray(vector, np.float32)
    n = min(DEPTH, len(scores))
    best = np.argpartition(-scores, n - 1)[:n]
    rows = best[np.lexsort((best, -scores[best]))]
    return Search(rows, scores[rows], float(scores.mean()), float(scores.std()))


def of_words(case: Case) -> Values:
    """Return how far the words of the question stand in what came back.

    Inverse document frequency weighs words, as in the pre-retrieval predictors of He and Ounis
    (2006); best and mean are over the documents. `words_best` is BM25's best score, over what a
    document with all the words could have.
    """
    weights = case.background.weights_of(case.served.text)
    total = sum(weights.values()) or 1.0
    covered = [
        sum(weights[word] for word in weights.keys() & set(words(case.background.texts[id_])))
        / total
        for id_ in case.ids
    ]
    values = {
        "words_covered_best": max(covered, default=math.nan),
        "words_covered_mean": float(np.mean(covered)) if covered else math.nan,
        "words_covered_first": covered[0] if covered else math.nan,
    }
    if len(case.word_scores):
        scores = case.word_scores
        values["words_best"] = float(scores[0]) / total
        values["words_fall"] = 1 - float(scores[min(SHOWN, len(scores)) - 1] / scores[0])
    return values


def of_topic(case: Case) -> Values:
    """Return how far what came back has words of its own (clarity, Cronen-Townsend et al., 2002).

    The mean of the twenty greatest terms p·log(p/q), p a word's share of these documents and q that
    of all.
    """
    counts: Counter[str] = Counter()
    for id_ in case.ids:
        counts.update(set(words(case.background.texts[id_])) - STOP_WORDS)
    if not counts:
        return {}
    n, size = len(case.ids), len(case.background.ids)
    terms = sorted(
        c / n * math.log((c / n) / (case.background.document_frequency[w] / size))
        for w, c in counts.items()
    )
    return {"clarity": float(np.mean(terms[-20:]))}


def of_scores(case: Case) -> Values:
    """Return the shape of the retriever's own scores: best, fall to the last, and spread.

    The spread is that of NQC (Shtok et al., 2012) without its corpus score, which is not known.
    """
    scores = np.asarray(case.served.scores[:SHOWN], float)
    if len(scores) < 3 or not np.isfinite(scores).all():
        return {}
    return {
        "score_best": float(scores[0]),
        "score_fall": float(scores[0] - scores[-1]),
        "score_spread": float(scores.std()),
        "score_flat": float(scores[-1] / scores[0]) if scores[0] > 0 else math.nan,
    }


def of_agreement(case: Case) -> Values:
    """Return how far three rankings agree: what came back, BM25's and that by vectors.

    Rank-biased overlap (Webber et al., 2010), as the reference lists of Shtok et al. (2016).
    """
    served, by_words = case.ids, case.by_words
    values = {"agree_words": overlap(served, by_words)}
    if case.by_vectors is not None:
        near = [case.background.ids[row] for row in case.by_vectors.rows]
        values["agree_vectors"] = overlap(served, near)
        values["agree_both"] = overlap(near, by_words)
        values["share_both"] = len({*near[:SHOWN]} & {*by_words[:SHOWN]}) / SHOWN
    return values


def of_vectors(case: Case) -> Values:
    """Return how the question lies among the documents, by vectors.

    `near_best` is the best cosine in deviations of all (Zhou and Croft's WIG, 2007, of one
    document), `near_wig` the mean of ten; `near_spread` is NQC's. `coherence` is the mean cosine of
    what came back (Arabzadeh et al., 2021, in dense spaces); `feedback` correlates the scores with
    those of the first five documents' mean (UEF, Shtok et al., 2010); `smoothness` correlates each
    score with its neighbours' (Diaz, 2007).
    """
    search, vectors = case.by_vectors, case.background.vectors
    if search is None or vectors is None or len(case.shown) < 2:
        return {}
    scores = search.scores.astype(float)
    deviation = max(search.deviation, 1e-9)
    mine = vectors[list(case.shown)]
    cosines = mine @ mine.T
    pairs = cosines[np.triu_indices(len(mine), 1)]
    first = vectors[search.rows[:5]].mean(axis=0)
    near = vectors[search.rows[:NEAR]]
    return {
        "near_cosine": float(scores[0]),
        "near_best": (float(scores[0]) - search.mean) / deviation,
        "near_wig": (float(scores[:SHOWN].mean()) - search.mean) / deviation,
        "near_fall": float(scores[0] - scores[min(SHOWN, len(scores)) - 1]),
        "near_spread": float(scores.std()),
        "coherence": float(pairs.mean()),
        "feedback": correlation(near @ first, scores[:NEAR]),
        "smoothness": correlation(_smoothed(near, scores[:NEAR]), scores[:NEAR]),
    }


def _smoothed(vectors: FloatArray, scores: Floats) -> Floats:
    weights = np.exp(10 * (vectors @ vectors.T - 1)).astype(float)
    np.fill_diagonal(weights, 0)
    return np.asarray(weights @ scores / np.maximum(weights.sum(axis=1), 1e-12))


SIGNALS: tuple[Callable[[Case], Values], ...] = (
    of_words, of_topic, of_scores, of_agreement, of_vectors,
)  # fmt: skip
SIGNS: Mapping[str, int] = {
    "words_covered_best": -1, "words_covered_mean": -1, "words_covered_first": -1,
    "words_best": -1, "words_fall": -1, "clarity": -1,
    "score_best": -1, "score_fall": -1, "score_spread": -1, "score_flat": +1,
    "agree_words": -1, "agree_vectors": -1, "agree_both": -1, "share_both": -1,
    "near_cosine": -1, "near_best": -1, "near_wig": -1, "near_fall": -1, "near_spread": -1,
    "coherence": -1, "feedback": -1, "smoothness": -1,
    "popular": +1, "crowded": +1,
}  # fmt: skip


def overlap(first: Sequence[str], second: Sequence[str], depth: int = 20) -> float:
    """Return the rank-biased overlap of two rankings to a depth, over its value for equal ones.

    NaN where one of them is empty.
    """
    depth = min(depth, max(len(first), len(second)))
    if not first or not second:
        return math.nan
    seen: tuple[set[str], set[str]] = (set(), set())
    total = most = 0.0
    for i in range(depth):
        for own, ranking in zip(seen, (first, second), strict=True):
            own.update(ranking[i : i + 1])
        weight = PERSISTENCE**i
        total += weight * len(seen[0] & seen[1]) / (i + 1)
        most += weight
    return total / most


def correlation(first: FloatArray | Floats, second: Floats) -> float:
    """Return Pearson's correlation; NaN where it is not defined."""
    x, y = np.asarray(first, float), np.asarray(second, float)
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / scale if scale > 1e-12 else math.nan


def of_log(cases: Sequence[Case]) -> list[Values]:
    """Return what only the log as a whole shows of each question.

    `popular`: in how many questions' results what came back stands, as hubs do (Radovanović et
    al., 2010), on a log scale. `crowded`: mean cosine to the five nearest other questions.
    """
    times = Counter(row for case in cases for row in case.shown)
    values: list[Values] = [
        {"popular": float(np.mean([math.log(times[row]) for row in case.shown]))}
        if case.shown
        else {}
        for case in cases
    ]
    vectors = [case.served.vector for case in cases]
    known = [i for i, vector in enumerate(vectors) if vector is not None]
    if len(known) > 5:
        stacked = np.stack([np.asarray(vectors[i], np.float32) for i in known])
        for start in range(0, len(known), 1024):
            block = stacked[start : start + 1024] @ stacked.T
            block[np.arange(len(block)), np.arange(start, start + len(block))] = -1
            nearest = np.partition(block, -5, axis=1)[:, -5:].mean(axis=1)
            for i, value in zip(known[start:], nearest, strict=False):
                values[i]["crowded"] = float(value)
    return values


def signals(served: Sequence[Served], background: Background) -> Floats:
    """Return all signals of all questions, shape (n, len(SIGNS)), NaN for what is not known."""
    places = {id_: row for row, id_ in enumerate(background.ids)}
    table = np.full((len(served), len(SIGNS)), np.nan)
    columns = {name: i for i, name in enumerate(SIGNS)}
    cases = [case_of(one, background, places) for one in served]
    for row, (case, in_log) in enumerate(zip(cases, of_log(cases), strict=True)):
        values = dict(in_log)
        for signal in SIGNALS:
            values |= signal(case)
        for name, value in values.items():
            table[row, columns[name]] = value
    return table
