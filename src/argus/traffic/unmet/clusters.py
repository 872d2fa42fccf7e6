"""Questions about one thing, put together by their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

import numpy as np
import numpy.typing as npt

from argus.indexes.words import stems
from argus.measures import content_words

MOST = 2_000
"""Questions that are put together at once: all pairs are compared."""
APART = 0.85
"""Mean cosine distance from which two clusters are two things."""
COMMON = 0.25
"""A word of more questions than this share says nothing of one thing, in whatever language."""
FEW = 20
WORDS = 400
"""Different words of one question that are looked at."""


def terms(text: str) -> dict[str, str]:
    """Return the stems of a question's content words, each with the word that stands there."""
    forms: dict[str, str] = {}
    for word in sorted(content_words(text))[:WORDS]:
        if not (word.startswith("<") or word.isdigit()):
            forms.setdefault((stems(word) or [word])[0], word)
    return forms


def common_terms(all_terms: Sequence[dict[str, str]]) -> frozenset[str]:
    """Return the words that a quarter of the questions have; of few questions none."""
    if len(all_terms) < FEW:
        return frozenset()
    counts = Counter(term for own in all_terms for term in own)
    return frozenset(term for term, n in counts.items() if n > COMMON * len(all_terms))


def clusters(own: Sequence[dict[str, str]], common: frozenset[str]) -> list[list[int]]:
    """Return clusters of at least two questions, as positions; average linkage (Sokal, 1958).

    own: of each question its `terms`. At most MOST are compared, the first.
    """
    usable = [i for i, words in enumerate(own[:MOST]) if words.keys() - common]
    if len(usable) < 2:
        return []
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    rows = _unit_rows([own[i].keys() - common for i in usable])
    distance = np.clip(1 - rows @ rows.T, 0, 1)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    labels = fcluster(tree, APART, "distance")
    groups: dict[int, list[int]] = {}
    for i, label in zip(usable, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(i)
    return [group for group in groups.values() if len(group) > 1]


def _unit_rows(questions: Sequence[frozenset[str] | set[str]]) -> npt.NDArray[np.float64]:
    """Return rows of words weighted by how few questions have them; shape (n, n_words)."""
    counts = Counter(term for words in questions for term in words)
    kept_terms = [term for term, n in sorted(counts.items()) if n > 1]
    places = {term: i for i, term in enumerate(kept_terms)}
    rows = np.zeros((len(questions), len(places)), np.float32)
    for i, words in enumerate(questions):
        for term in words:
            if term in places:
                rows[i, places[term]] = log(1 + len(questions) / counts[term])
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    norms[norms == 0] = 1
    return np.asarray(rows / norms, np.float64)


def names(
    groups: Sequence[Sequence[int]],
    own: Sequence[dict[str, str]],
    others: Sequence[dict[str, str]],
    common: frozenset[str],
    most: int = 4,
) -> list[str]:
    """Return what each group is called: its words by class-based tf-idf (Grootendorst, 2022).

    W(t, c) = tf(t, c) · log(1 + A / f(t)): A the mean number of words of a class, f over all
    classes, of which the questions outside of all groups are one. Of words that several questions
    of the group have: what stands in one alone is not what they have in common.
    """
    classes = [Counter(t for i in group for t in own[i] if t not in common) for group in groups]
    rest = Counter(term for words in others for term in words if term not in common)
    frequency = sum(classes, Counter[str]()) + rest
    mean = sum(frequency.values()) / max(1, len(classes) + bool(rest))
    called = []
    for group, counts in zip(groups, classes, strict=True):
        shared = {term: n for term, n in counts.items() if n > 1} or counts
        weights = {term: n * log(1 + mean / frequency[term]) for term, n in shared.items()}
        best = sorted(weights, key=lambda term: (-weights[term], term))[:most]
        surfaces = [Counter(own[i][t] for i in group if t in own[i]).most_common(1) for t in best]
        called.append(", ".join(surface[0][0] for surface in surfaces if surface))
    return called
