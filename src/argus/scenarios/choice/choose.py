"""Which component and λ bring documents back for needs that are held out.

Every need of a document with two scenarios or more asks an index without its own scenario
(`argus.scenarios.needs.ranks`). A cell is worth the mean over documents of the mean reciprocal rank
of their needs. No judged question takes part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray
from argus.indexes.blend import DOCUMENTS_ALONE, RELEVANCE_WEIGHT
from argus.measures.significance import bootstrap_interval
from argus.progress import progress
from argus.scenarios.ablation.grid import Cell
from argus.scenarios.choice.summary import ChoiceFigures, WithoutScenarios
from argus.scenarios.figures import Mean, MeanDifference
from argus.scenarios.needs.findings import Vectors
from argus.scenarios.needs.job import rank_needs
from argus.scenarios.needs.ranks import held_out_ranks
from argus.scenarios.profile import COMPONENT, Component

USUAL = Cell(COMPONENT, RELEVANCE_WEIGHT)
"""Choice of the paper."""

Values = npt.NDArray[np.float64]
"""Mean reciprocal rank of the needs of each document, (n_documents,)."""


@dataclass(frozen=True)
class Choice:
    """The cells of a grid, by held-out needs. seed: of halves and intervals."""

    cells: Mapping[Cell, Values]
    alone: Values
    usual: Values
    needs: int
    seed: int

    @cached_property
    def cell(self) -> Cell:
        """The best cell. Of equal ones that of the greater λ, then the paper's component."""
        return self._best(np.arange(len(self.alone)))

    def _best(self, documents: IntArray) -> Cell:
        def worth(cell: Cell) -> tuple[float, float, bool]:
            mean = round(float(self.cells[cell][documents].mean()), 12)
            return mean, cell.weight, cell.component is COMPONENT

        return max(self.cells, key=worth)

    @cached_property
    def crossed(self) -> Values:
        """Return the worth, on each half of the documents, of the other half's best cell."""
        order = np.random.default_rng(self.seed).permutation(len(self.alone))
        halves = order[::2], order[1::2]
        values = np.empty(len(self.alone))
        for half, other in (halves, halves[::-1]):
            values[half] = self.cells[self._best(other if len(other) else half)][half]
        return values

    def summary(self, without: WithoutScenarios) -> ChoiceFigures:
        """Return the figures of the choice. No value in it is NaN."""
        return {
            "component": str(self.cell.component),
            "lambda": self.cell.weight,
            "documents": len(self.alone),
            "needs": self.needs,
            "mrr": self._mean(self.cells[self.cell]),
            "alone": self._mean(self.alone),
            "usual": self._mean(self.usual),
            "to_alone": self._difference(self.alone),
            "to_usual": self._difference(self.usual),
            "without_scenarios": without,
            "grid": [
                {
                    "component": str(cell.component),
                    "lambda": cell.weight,
                    "mrr": float(values.mean()),
                }
                for cell, values in self.cells.items()
            ],
        }

    def _mean(self, values: Values) -> Mean:
        low, high, _ = bootstrap_interval(values, seed=self.seed)
        mean = float(values.mean())
        return {
            "mean": mean,
            "low": mean if low is None else low,
            "high": mean if high is None else high,
        }

    def _difference(self, base: Values) -> MeanDifference:
        """Return the gain of the choice, each half told by the other half's choice."""
        gain = self.crossed - base
        low, high, _ = bootstrap_interval(gain, seed=self.seed)
        return {
            "mean": float(gain.mean()),
            "low": low,
            "high": high,
            "improved": int((gain > 0).sum()),
            "harmed": int((gain < 0).sum()),
        }


def choose(
    vectors: Vectors, components: Sequence[Component], weights: Sequence[float], *, seed: int
) -> Choice:
    """Return the worth of every component and λ by the needs of `vectors`.

    vectors: with the scenario texts of these components and of the paper's.
    """
    grid = {*weights, DOCUMENTS_ALONE, RELEVANCE_WEIGHT}
    every = tuple(dict.fromkeys([*components, COMPONENT]))
    ranks = rank_needs(vectors, every, sorted(grid))
    values = {
        Cell(component, weight): per_document(of.rank[i], vectors.targets)
        for component, of in ranks.items()
        for i, weight in enumerate(of.weights)
    }
    return Choice(
        {Cell(c, w): values[Cell(c, w)] for c in components for w in weights},
        values[Cell(COMPONENT, DOCUMENTS_ALONE)], values[USUAL], len(vectors.targets), seed,
    )  # fmt: skip


def per_document(ranks: IntArray, targets: IntArray) -> Values:
    """Return the mean reciprocal rank of each document that has a need, by position."""
    _, of = np.unique(targets, return_inverse=True)
    values: Values = np.bincount(of, 1 / ranks) / np.bincount(of)
    return values


def without_scenarios(vectors: Vectors, cell: Cell, documents: int) -> WithoutScenarios:
    """Return the effect of a cell on documents that have no scenarios.

    Every need asks an index without any scenario of its document, all others' in place. documents:
    how many there are of them.
    """
    snapshot = vectors.documents.with_scenarios(cell.component, vectors.texts)
    with progress("searching without own scenarios", len(vectors.targets)) as advance:
        ranks = held_out_ranks(
            vectors.queries, vectors.targets, None, snapshot, (DOCUMENTS_ALONE, cell.weight),
            advance=advance,
        )  # fmt: skip
    alone, with_others = (float(per_document(r, vectors.targets).mean()) for r in ranks.rank)
    return {"documents": documents, "alone": alone, "mrr": with_others}
