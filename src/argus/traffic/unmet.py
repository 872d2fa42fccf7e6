"""Find demand that nobody meets: mark questions, cluster them by words, and name the clusters.

Bad feedback and empty lists are facts. Risk orders questions, and so does little support by words,
which is worth less. Each criterion is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

import numpy as np
import pyarrow as pa
from typing_extensions import TypedDict

from argus.indexes.words import stems
from argus.measures import content_words
from argus.traffic.questions import LookedAt
from argus.traffic.risk import NOTHING

BAD, SUPPORT = "bad feedback", "least supported by words"
RISK = "first by risk"
WORTH = "AUC 0.51 to 0.64 against judged failures of BM25 on three collections: weak"
"""Measured on cranfield, theoremqa and impliret (docs/traffic.md)."""
WELL = 0.6
"""Support from which a question is not among the least supported, however few are below."""
MAX_COMPARED = 2_000
"""Questions that are clustered at once: all pairs are compared."""
APART = 0.85
"""Mean cosine distance from which two clusters are two things."""
COMMON, FEW = 0.25, 20
"""A word in a larger share of questions is common, in any language; of few questions none is."""
MAX_WORDS = 400
"""Different words of one question that are looked at."""
MAX_EXAMPLES, MAX_PLACES, MAX_SHOWN, NAMING_WORDS = 3, 3, 20, 4
MAX_CHARS = 200
"""Characters of a question in an example."""
DEMAND = pa.schema(
    {
        "words": pa.string(), "asks": pa.int64(), "questions": pa.int64(), "why": pa.string(),
        "examples": pa.string(), "instead": pa.string(), "nearest": pa.string(),
    }
)  # fmt: skip
"""One row per cluster of questions that nobody meets; lists as lines.

words: what they have in common.
asks: how often they were asked.
questions: different questions of the cluster.
why: criteria by which nobody meets them, with how many they hold for.
examples: the most frequent of them.
instead: what came back for them, the most frequent first.
nearest: what the corpus has that holds most of their words.
"""
Terms = dict[str, str]
"""Stems of a question's content words, each with the word that stands there."""


class Demand(TypedDict):
    """Questions about one thing that nobody meets.

    words: what the questions have in common.
    asks: how often they were asked.
    questions: different questions.
    examples: the most frequent of them.
    """

    words: str
    asks: int
    questions: int
    why: dict[str, int]
    """Criterion to how many of the questions it holds for."""
    examples: list[str]
    instead: list[str]
    """What came back for them, the most frequent first."""
    nearest: list[str]
    """What the corpus has that holds most of their words."""


class Unmet(TypedDict):
    """Demand that nobody meets, among the questions that were looked at.

    questions: different questions that nobody meets.
    asks: how often they were asked.
    why: criterion to how many questions it holds for.
    clusters: clusters of two or more.
    largest: the largest clusters.
    """

    questions: int
    asks: int
    why: dict[str, int]
    worth: str
    """What little support by words is worth as a sign of failing; empty where none is named so."""
    clustered: int
    """Questions in a cluster of two or more."""
    compared: int
    """Questions that were put together: the most asked, where there are very many."""
    clusters: int
    largest: list[Demand]


def find_unmet(questions: Sequence[LookedAt], labels: Mapping[str, str]) -> tuple[Unmet, pa.Table]:
    """Mark unmet questions, and return figures and a table of their clusters, most asked first.

    labels: titles by document.
    """
    unmet = _mark_unmet(questions)
    own = [_terms(one.text or "") for one in unmet]
    inside = {one.id for one in unmet}
    others = [_terms(one.text or "") for one in questions if one.id not in inside]
    counts = Counter(term for terms in (*own, *others) for term in terms)
    n = len(own) + len(others)
    common = {term for term, count in counts.items() if n >= FEW and count > COMMON * n}
    own, others = ([{t: w for t, w in one.items() if t not in common} for one in every]
                   for every in (own, others))  # fmt: skip
    groups = _clusters(own)
    rows = [
        _demand([unmet[i] for i in group], name, labels)
        for group, name in zip(groups, _names(groups, own, others), strict=True)
    ]
    rows.sort(key=lambda row: (-row["asks"], row["words"]))
    figures: Unmet = {
        "questions": len(unmet),
        "asks": sum(one.asks for one in unmet),
        "why": dict(Counter(why for one in unmet for why in one.why).most_common()),
        "worth": WORTH if any(SUPPORT in one.why for one in unmet) else "",
        "clustered": sum(row["questions"] for row in rows),
        "compared": min(len(unmet), MAX_COMPARED),
        "clusters": len(rows),
        "largest": rows[:MAX_SHOWN],
    }
    flat = [
        {
            **row,
            "why": "; ".join(f"{why} ({n})" for why, n in row["why"].items()),
            "examples": "\n".join(row["examples"]),
            "instead": "\n".join(row["instead"]),
            "nearest": "\n".join(row["nearest"]),
        }
        for row in rows
    ]
    return figures, pa.Table.from_pylist(flat, schema=DEMAND)


def _mark_unmet(questions: Sequence[LookedAt]) -> list[LookedAt]:
    """Note why each question is unmet; return the unmet ones, the most asked first.

    Doubtful are the tenth of questions that stand first by risk and the tenth whose words the
    corpus holds least of. Good feedback clears.
    """
    for one in questions:
        if one.bad > one.good:
            one.why.append(BAD)
        if one.results is not None and not one.results:
            one.why.append(NOTHING)
    ranks = {one.id: float(one.risk_rank) for one in questions if one.risk_rank is not None}
    support = {one.id: one.support for one in questions if one.support is not None}
    for why, order, most in ((RISK, ranks, float("inf")), (SUPPORT, support, WELL)):
        doubtful = [
            one
            for one in questions
            if one.id in order and order[one.id] < most and one.good <= one.bad
        ]
        doubtful.sort(key=lambda one: (order[one.id], one.id))
        for one in doubtful[: len(order) // 10]:
            one.why.append(why)
    unmet = [one for one in questions if one.why and one.alike is None]
    return sorted(unmet, key=lambda one: (-one.asks, one.id))


def _terms(text: str) -> Terms:
    forms: Terms = {}
    for word in sorted(content_words(text))[:MAX_WORDS]:
        if not (word.startswith("<") or word.isdigit()):
            forms.setdefault((stems(word) or [word])[0], word)
    return forms


def _clusters(own: Sequence[Terms]) -> list[list[int]]:
    """Return clusters of at least two questions, as positions; average linkage (Sokal, 1958).

    Words are weighted by how few questions have them. At most MAX_COMPARED are compared, the first.
    """
    usable = [i for i, terms in enumerate(own[:MAX_COMPARED]) if terms]
    if len(usable) < 2:
        return []
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    counts = Counter(term for i in usable for term in own[i])
    places = {t: i for i, t in enumerate(sorted(t for t, n in counts.items() if n > 1))}
    rows = np.zeros((len(usable), len(places)), np.float32)
    for row, i in enumerate(usable):
        for term in own[i].keys() & places.keys():
            rows[row, places[term]] = log(1 + len(usable) / counts[term])
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    norms[norms == 0] = 1
    unit = np.asarray(rows / norms, np.float64)
    distance = np.clip(1 - unit @ unit.T, 0, 1)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    groups: dict[int, list[int]] = {}
    for i, label in zip(usable, fcluster(tree, APART, "distance").tolist(), strict=True):
        groups.setdefault(label, []).append(i)
    return [group for group in groups.values() if len(group) > 1]


def _names(
    groups: Sequence[Sequence[int]], own: Sequence[Terms], others: Sequence[Terms]
) -> list[str]:
    """Return a name for each group: its words by class-based tf-idf (Grootendorst, 2022).

    W(t, c) = tf(t, c) · log(1 + A / f(t)): A the mean number of words of a class, f over all
    classes, of which the questions outside of all groups are one. Only words of several questions
    of the group count, if there are any.
    """
    classes = [Counter(term for i in group for term in own[i]) for group in groups]
    rest = Counter(term for terms in others for term in terms)
    frequency = sum(classes, Counter[str]()) + rest
    mean = sum(frequency.values()) / max(1, len(classes) + bool(rest))
    names = []
    for group, counts in zip(groups, classes, strict=True):
        shared = {term: n for term, n in counts.items() if n > 1} or counts
        weights = {term: n * log(1 + mean / frequency[term]) for term, n in shared.items()}
        best = sorted(weights, key=lambda term: (-weights[term], term))[:NAMING_WORDS]
        surfaces = [Counter(own[i][t] for i in group if t in own[i]).most_common(1) for t in best]
        names.append(", ".join(surface[0][0] for surface in surfaces))
    return names


def _demand(members: Sequence[LookedAt], words: str, labels: Mapping[str, str]) -> Demand:
    def named(counts: Counter[str]) -> list[str]:
        best = sorted(counts, key=lambda id_: (-counts[id_], id_))[:MAX_PLACES]
        return [f"{labels[id_]} · {id_}" if labels.get(id_) else id_ for id_ in best]

    served, nearest = Counter[str](), Counter[str]()
    for one in members:
        served.update(dict.fromkeys((id_ for id_, _ in (one.results or ())[:MAX_PLACES]), one.asks))
        nearest.update({one.nearest: one.asks} if one.nearest else {})
    often = sorted(members, key=lambda one: (-one.asks, one.id))[:MAX_EXAMPLES]
    return {
        "words": words,
        "asks": sum(one.asks for one in members),
        "questions": len(members),
        "why": dict(Counter(why for one in members for why in one.why).most_common()),
        "examples": [(one.text or "")[:MAX_CHARS] for one in often],
        "instead": named(served),
        "nearest": named(nearest),
    }
