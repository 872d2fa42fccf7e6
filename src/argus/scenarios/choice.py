"""Choose component and λ of scenarios by needs that are held out.

Every need of a document with two scenarios or more asks an index without its own scenario
(`argus.scenarios.needs.ranks`). A cell is worth the mean over documents of the mean reciprocal rank
of their needs. No judged question takes part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from argus.data.types import IntArray
from argus.encoders import EmbeddingStore, Encoder
from argus.encoders.store import store_of
from argus.errors import InputError
from argus.indexes.blend import DOCUMENTS_ALONE, RELEVANCE_WEIGHT, check_weight
from argus.indexes.fold import ORIGINAL
from argus.indexes.views import ViewIndex
from argus.jobs.workspace import require_some
from argus.measures.significance import bootstrap_interval
from argus.progress import progress
from argus.scenarios.ablation.grid import Cell, Documents
from argus.scenarios.cells import AUTO, WEIGHTS
from argus.scenarios.needs.ranks import NeedVectors, held_out_ranks, mean_change
from argus.scenarios.profile import COMPONENT, Component, Profiled, needs

USUAL = Cell(COMPONENT, RELEVANCE_WEIGHT)  # Choice of the paper.

# Mean reciprocal rank of the needs of each document, (n_documents,).
Values = npt.NDArray[np.float64]
MOST = 1_000  # Documents whose needs are asked at most, drawn at random.
LEAST = 2  # Scenarios of a document that asks: one is held out, another one stays.
SEED = 0
AnyComponent: TypeAlias = Component | Literal["auto"]
AnyWeight: TypeAlias = float | Literal["auto"] | None


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

    def summary(self, without: Mapping[str, Any]) -> dict[str, Any]:
        """Return the figures of the choice. No value in it is NaN.

        Keys of the result:

        documents: documents whose needs asked.
        needs: needs that asked.
        mrr: mean reciprocal rank with this cell.
        alone: the same of documents alone.
        usual: the same of M+E at 0.7.
        to_alone: difference from these, each half by the best cell of the other half.
        to_usual: difference from these, each half by the best cell of the other half.
        without_scenarios.documents: documents that have no scenario.
        without_scenarios.alone: mean reciprocal rank of their needs in documents alone.
        without_scenarios.mrr: the same where others have scenarios.
        grid: every cell with its mean reciprocal rank.
        grid.mrr: mean reciprocal rank of needs.
        """
        return {
            "component": str(self.cell.component),
            "lambda": self.cell.weight,
            "documents": len(self.alone),
            "needs": self.needs,
            "mrr": self._mean(self.cells[self.cell]),
            "alone": self._mean(self.alone),
            "usual": self._mean(self.usual),
            "to_alone": mean_change(self.crossed - self.alone, seed=self.seed),
            "to_usual": mean_change(self.crossed - self.usual, seed=self.seed),
            "without_scenarios": without,
            "grid": [
                {"component": str(c.component), "lambda": c.weight, "mrr": float(values.mean())}
                for c, values in self.cells.items()
            ],
        }

    def _mean(self, values: Values) -> dict[str, Any]:
        low, high, _ = bootstrap_interval(values, seed=self.seed)
        mean = float(values.mean())
        return {
            "mean": mean,
            "low": mean if low is None else low,
            "high": mean if high is None else high,
        }


def choose(
    vectors: NeedVectors, components: Sequence[Component], weights: Sequence[float], *, seed: int
) -> Choice:
    """Return the worth of every component and λ by the needs of `vectors`.

    vectors: with the scenario texts of these components and of the paper's.
    """
    grid = {*weights, DOCUMENTS_ALONE, RELEVANCE_WEIGHT}
    every = tuple(dict.fromkeys([*components, COMPONENT]))
    ranks = vectors.ranks(every, sorted(grid))
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


def without_scenarios(vectors: NeedVectors, cell: Cell, documents: int) -> dict[str, Any]:
    """Return the effect of a cell on documents that have no scenarios.

    Every need asks an index without any scenario of its document, all others' in place. documents:
    how many there are of them.
    """
    snapshot = vectors.documents.with_scenarios(cell.component, vectors.texts)
    with progress("searching without own scenarios", len(vectors.targets)) as advance:
        weights = DOCUMENTS_ALONE, cell.weight
        ranks = held_out_ranks(
            vectors.queries.vectors, vectors.targets, None, snapshot, weights, advance=advance
        )
    alone, with_others = (float(per_document(r, vectors.targets).mean()) for r in ranks.rank)
    return {"documents": documents, "alone": alone, "mrr": with_others}


def select(
    index: ViewIndex,
    profiles: Mapping[str, Profiled],
    model: Encoder,
    component: AnyComponent,
    weight: AnyWeight,
    *,
    seed: int = SEED,
) -> tuple[Component, float | None, dict[str, Any] | None]:
    """Return component and λ as they are named, or as held-out needs choose where one is `auto`.

    λ is None where none is kept. Third, figures of the choice: see `Choice.summary`. Documents are
    searched by their own text, as no remedy has touched them. Raises InputError for a λ that is not
    from 0 to 1, and where no document has two scenarios.
    """
    number = None if weight is None or isinstance(weight, str) else check_weight(weight)
    if isinstance(component, Component) and not isinstance(weight, str):
        return component, number, None
    several = of_several(profiles)
    if not several:
        raise InputError(
            f"{AUTO}, and no document with {LEAST} scenarios",
            expected="needs of which one can be held out",
            fix="Name --component and --lambda, or leave them out.",
            where="--component",
        )
    components = (component,) if isinstance(component, Component) else tuple(Component)
    usual = RELEVANCE_WEIGHT if number is None else number
    weights = WEIGHTS if isinstance(weight, str) else (usual,)
    ids = sorted(several)
    drawn = np.random.default_rng(seed).permutation(len(ids))[:MOST]
    asking = needs({ids[i]: several[ids[i]] for i in drawn})
    snapshot = index.snapshot(ORIGINAL)
    rows = [i for i, view in enumerate(snapshot.views) if view.kind == ORIGINAL]
    own = [snapshot.views[i].doc_id for i in rows]
    known = {d: profiles[d] for d in own if d in profiles}
    documents = Documents(own, snapshot.vectors[rows], known)
    every, path = tuple(dict.fromkeys([*components, COMPONENT])), store_of(index.path)
    with EmbeddingStore(path, fingerprint=model.fingerprint, dim=model.dim) as store:
        vectors = NeedVectors.embed(documents, asking, every, model, store)
    why = next(iter(vectors.queries.failures.values()), "")
    require_some(len(vectors.targets), "need has a vector", why)
    choice = choose(vectors, components, weights, seed=seed)
    without = len(own) - sum(p.profile is not None for p in known.values())
    figures = choice.summary(without_scenarios(vectors, choice.cell, without))
    return choice.cell.component, None if weight is None else choice.cell.weight, figures


def of_several(profiles: Mapping[str, Profiled]) -> dict[str, Profiled]:
    """Return the profiles of two scenarios or more, of which one can be held out."""
    return {
        doc: p
        for doc, p in profiles.items()
        if p.profile is not None and len(p.profile.scenarios) >= LEAST
    }
