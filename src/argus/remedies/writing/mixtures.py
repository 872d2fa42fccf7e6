"""What a state of an index is in a store: records of which a document's best is its score.

With o a document's own views, t its sentences and s its scenarios, it scores in cosines

    μ·(λ·max o + (1-λ)·max(o, t)) + (1-μ)·max s - penalty

(`argus.indexes.fold`; μ is λ of scenarios). A sum of maxima is the maximum of all sums, and each of
these is the product of the query with one vector, μ·(λ·o + (1-λ)·t) + (1-μ)·s. So every choice of
one view of each kind is a record, and nothing is lost but what rounding takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from argus.data.types import FloatArray, IntArray
from argus.indexes.remedy_views import ORIGINAL
from argus.indexes.snapshot import Snapshot

DOCUMENT = "document"
"""Kind of the record that stands for a document's own vector."""
NONE = -1


class Choice(NamedTuple):
    """One view of each kind, by its row; NONE where it is left out."""

    own: int = NONE
    sentence: int = NONE
    scenario: int = NONE


class Mixtures(NamedTuple):
    """Vectors that stand for choices of views, a row per choice."""

    documents: IntArray
    """(n,), position of the document."""
    choices: list[Choice]
    vectors: FloatArray
    """(n, dim), as they are mixed: not of unit length."""
    penalties: FloatArray


def mixtures(snapshot: Snapshot, weight: float) -> Mixtures:
    """Return what the views of a snapshot are as records; weight: λ of scenarios."""
    layout = snapshot.layout(weight)
    each = [
        list(_choices(snapshot, document, layout.mixed.weight, weight))
        for document in range(len(snapshot))
    ]
    documents = np.repeat(np.arange(len(each)), [len(choices) for choices in each])
    choices = [choice for of_document in each for choice in of_document]
    penalty = layout.mixed.penalty
    return Mixtures(
        documents,
        choices,
        _mixed(snapshot, choices, layout.mixed.weight, weight),
        np.zeros(len(choices), np.float32) if penalty is None else penalty[documents],
    )


def _choices(
    snapshot: Snapshot, document: int, of_sentences: float, of_scenarios: float
) -> Iterator[Choice]:
    """Yield what can be a document's best; what counts for nothing is not multiplied out."""
    rows = range(int(snapshot.starts[document]), int(snapshot.starts[document + 1]))
    sentences = _among(rows, snapshot.sentence_rows)
    scenarios = _among(rows, snapshot.scenario_rows)
    sides = {*sentences, *scenarios}
    own = [row for row in rows if row not in sides] or [NONE]
    bases = [Choice(row) for row in own if row != NONE]
    if of_sentences < 1 or not bases:
        mixed_with = own if of_sentences > 0 else own[:1]
        bases += [Choice(row, sentence) for row in mixed_with for sentence in sentences]
    if not scenarios or (of_scenarios == 1 and bases):
        yield from bases
        return
    for base in (bases if of_scenarios > 0 else bases[:1]) or [Choice()]:
        for scenario in scenarios:
            yield base._replace(scenario=scenario)


def _among(rows: Sequence[int], mask: np.ndarray | None) -> list[int]:
    return [] if mask is None else [row for row in rows if mask[row]]


def _mixed(
    snapshot: Snapshot, choices: Sequence[Choice], of_sentences: float, of_scenarios: float
) -> FloatArray:
    """Return the vectors of choices; a kind that is left out leaves its share to the other."""
    own, sentence, scenario = np.array(choices, np.int64).reshape(-1, 3).T
    of_own = _share(own, sentence, of_sentences)
    base, sides = _share(np.maximum(own, sentence), scenario, of_scenarios)
    out: FloatArray = np.zeros((len(choices), snapshot.dim), np.float32)
    for rows, share in ((own, base * of_own[0]), (sentence, base * of_own[1]), (scenario, sides)):
        there = rows != NONE
        out[there] += share[there, None].astype(np.float32) * snapshot.vectors[rows[there]]
    return out


def _share(first: IntArray, second: IntArray, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Return what either of two counts: `weight` and the rest, or all where it is alone."""
    of_first = np.where(first == NONE, 0.0, np.where(second == NONE, 1.0, weight))
    return of_first, 1.0 - of_first


class Naming:
    """What records of choices are called."""

    def __init__(self, snapshot: Snapshot, remedy: str) -> None:
        self.ids: list[str] = snapshot.columns["id"].to_pylist()
        self.kinds: list[str] = snapshot.columns["kind"].to_pylist()
        self.remedy = remedy

    def kind(self, choice: Choice) -> str:
        """Return the kind of the last view, DOCUMENT for a document's own."""
        kind = self.kinds[next(row for row in reversed(choice) if row != NONE)]
        return DOCUMENT if kind == ORIGINAL else kind

    def name(self, choice: Choice) -> str:
        """Return the ids of its views, but of a document's own beside others, and the remedy."""
        rows = [row for row in choice if row != NONE]
        sides = [row for row in rows if self.kinds[row] != ORIGINAL] or rows
        name = "+".join(self.ids[row] for row in sides)
        return name if f"#{self.remedy}" in name else f"{name}#{self.remedy}"
