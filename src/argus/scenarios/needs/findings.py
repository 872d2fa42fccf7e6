"""Findings of a need audit: scores of documents, who is before them, and the summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from argus.data.types import Document, FloatArray, IntArray, State
from argus.measures.intervals import wilson
from argus.measures.significance import (
    LEAST_RESAMPLES,
    RESAMPLES,
    UNCHANGED,
    bootstrap_interval,
)
from argus.retrievability.audit.findings import HISTOGRAM_EDGES
from argus.retrievability.rps import Scores, band, count_bands, score
from argus.scenarios.ablation.grid import Cell, Documents, ScenarioTexts, usual_cell
from argus.scenarios.needs.config import PoolSetting
from argus.scenarios.needs.ranks import NeedRanks, pair_ranks
from argus.scenarios.needs.source import why_unmeasured
from argus.scenarios.needs.summary import (
    AuditedDocuments,
    CellFigures,
    ComparedMean,
    Mean,
    MeanDifference,
    NeedsFigures,
    Reach,
)
from argus.scenarios.profile import Component, Profiled

DISPLACERS = 3
"""Documents that are named of those before a document, for the need that fails it most."""
RESAMPLED = 20_000_000
"""Values that are drawn for one interval: fewer resamples of many documents."""


@dataclass(frozen=True, slots=True)
class Need:
    """An information need, and its document."""

    doc_id: str
    position: int
    text: str


@dataclass(frozen=True)
class IndexScores:
    """Figures of the documents in one index: found first, in the top k, and RPS."""

    first: Scores
    top_k: Scores
    rps: Scores


@dataclass(frozen=True)
class Vectors:
    """Vectors of documents and of needs."""

    documents: Documents
    """Those that have a vector, by id. All positions count these."""
    document_failures: Mapping[str, str]
    """Document id to why it has no vector."""
    texts: ScenarioTexts
    needs: Sequence[Need]
    """All needs of those documents."""
    embedded: npt.NDArray[np.bool_]
    """Which needs have a vector, shape (n_needs,)."""
    queries: FloatArray
    """Their vectors, shape (embedded.sum(), dim)."""
    need_failures: Mapping[int, str]
    """Position in `needs` to why it has no vector."""

    @cached_property
    def with_vector(self) -> list[Need]:
        """The needs that could be asked."""
        return [need for need, ok in zip(self.needs, self.embedded, strict=True) if ok]

    @cached_property
    def targets(self) -> IntArray:
        """Position of the document of each need that could be asked."""
        position = {id_: i for i, id_ in enumerate(self.documents.ids)}
        return np.array([position[need.doc_id] for need in self.with_vector], np.int64)


@dataclass(frozen=True, slots=True)
class Extremes:
    """The needs of best and worst rank of a document."""

    document: int
    """Its position."""
    best: int
    """Position among the needs that could be asked. The first of equally good ones."""
    worst: int
    displaced_by: str
    """The document before it for the worst need, in words."""


@dataclass(frozen=True)
class Findings:
    """The parts of a need audit."""

    documents: Sequence[Document]
    profiles: Mapping[str, Profiled]
    """Profiles of these documents, in any state."""
    vectors: Vectors
    ranks: Mapping[Component, NeedRanks]
    """Ranks of the needs that could be asked. λ = 1 first."""
    cells: Sequence[Cell]
    rps: PoolSetting
    nominal: PoolSetting
    """Expected `rps` in a corpus that is large enough."""
    seed: int
    drawn: frozenset[str] | None = None
    """Documents whose needs ask. None is all."""

    @cached_property
    def cell(self) -> Cell:
        """The cell that is told of each document."""
        return usual_cell(self.cells)

    @property
    def k(self) -> int:
        """How far down the whole corpus is read."""
        return min(self.nominal.k, len(self.vectors.documents.ids))

    @cached_property
    def alone(self) -> IndexScores:
        """Scores of documents alone. λ = 1 of any component."""
        return self._scores(*self.row(None))

    @cached_property
    def fused(self) -> dict[Cell, IndexScores]:
        """Scores of every cell of the grid."""
        return {cell: self._scores(*self.row(cell)) for cell in self.cells}

    def row(self, cell: Cell | None) -> tuple[NeedRanks, int]:
        """Return the ranks of a cell, and which row of them is its λ. None: documents alone."""
        if cell is None:
            return next(iter(self.ranks.values())), 0
        ranks = self.ranks[cell.component]
        return ranks, ranks.weights.index(cell.weight, 1)

    def _scores(self, ranks: NeedRanks, row: int) -> IndexScores:
        n = len(self.vectors.documents.ids)
        pairs = pair_ranks(ranks, row, self.vectors.targets, n)
        return IndexScores(
            first=score(pairs, n, k=1, pool=n),
            top_k=score(pairs, n, k=self.k, pool=n),
            rps=score(pairs, n, k=self.rps.k, pool=self.rps.pool),
        )

    def ranks_of(self, cell: Cell | None) -> IntArray:
        """Return the rank for each need that could be asked."""
        ranks, row = self.row(cell)
        rank: IntArray = ranks.rank[row]
        return rank

    def extremes(self) -> dict[str, Extremes]:
        """Return, by document, its needs of best and worst rank, and who is before it then."""
        rank = self.ranks_of(None)
        best: dict[int, int] = {}
        worst: dict[int, int] = {}
        for need, document in enumerate(self.vectors.targets.tolist()):
            if rank[need] < rank[best.setdefault(document, need)]:
                best[document] = need
            if rank[need] > rank[worst.setdefault(document, need)]:
                worst[document] = need
        top = self.vectors.documents.alone().search(
            self.vectors.queries[list(worst.values())], DISPLACERS
        )
        titles = Counter(d.title for d in self.documents)
        names = {
            d.id: d.title if d.title and titles[d.title] == 1 else d.id for d in self.documents
        }
        extremes = {}
        for (document, need), ids in zip(worst.items(), top.doc_ids, strict=True):
            before = ids[: max(0, int(rank[need]) - 1)]
            displacers = "; ".join(names[id_] for id_ in before)
            extremes[self.vectors.documents.ids[document]] = Extremes(
                document, best[document], need, displacers
            )
        return extremes

    @cached_property
    def states(self) -> dict[str, tuple[State, str, str]]:
        """State of every document, why it was not measured, and further facts."""
        failed: dict[str, list[str]] = {}
        for i, why in self.vectors.need_failures.items():
            failed.setdefault(self.vectors.needs[i].doc_id, []).append(why)
        measured = {need.doc_id for need in self.vectors.with_vector}
        return {
            d.id: self._state(d, failed.get(d.id, []), d.id in measured) for d in self.documents
        }

    def _state(
        self, document: Document, failed: Sequence[str], measured: bool
    ) -> tuple[State, str, str]:
        if document.id in self.vectors.document_failures:
            return State.FAILED, "no vector", self.vectors.document_failures[document.id]
        why = why_unmeasured(document, self.profiles, self.drawn)
        if why is not None:
            profiled = self.profiles.get(document.id)
            detail = profiled.reason if profiled and document.content.strip() else ""
            return State.NOT_APPLICABLE, why, detail
        if not measured:
            return State.FAILED, "no need has a vector", failed[0]
        return State.MEASURED, f"{len(failed)} of its needs without a vector" if failed else "", ""

    def summary(self) -> NeedsFigures:
        """Return the figures of the report. No value in it is NaN."""
        alone, fused = self.alone, self.fused[self.cell]
        recovered, lost = self._moved()
        return {
            "k": self.k,
            "rps": self.rps.record(),
            "wanted": self.nominal.record(),
            "documents": self._document_counts(),
            "needs": {
                "total": len(self.vectors.needs),
                "measured": len(self.vectors.with_vector),
                "failed": len(self.vectors.need_failures),
            },
            "scenarios_failed": len(self.vectors.texts.failures),
            "alone": {
                "found_at_1": _mean(alone.first),
                "found_at_k": _mean(alone.top_k),
                "rps": _mean(alone.rps),
                **_reach(alone),
            },
            "fused": {**self._cell(self.cell), **_reach(fused)},
            "recovered": recovered,
            "lost": lost,
            "grid": [self._cell(cell) for cell in self.cells],
            "histogram": {
                "edges": HISTOGRAM_EDGES,
                "alone": _histogram(alone.rps),
                "fused": _histogram(fused.rps),
            },
        }

    def _document_counts(self) -> AuditedDocuments:
        states = Counter(state for state, _, _ in self.states.values())
        reasons = Counter(why for s, why, _ in self.states.values() if s is not State.MEASURED)
        profiles = self.vectors.documents.profiles.values()
        return {
            "total": len(self.documents),
            "indexed": len(self.vectors.documents.ids),
            "with_scenarios": sum(p.profile is not None for p in profiles),
            "measured": states[State.MEASURED],
            "failed": states[State.FAILED],
            "not applicable": states[State.NOT_APPLICABLE],
            "reasons": dict(reasons),
        }

    def _moved(self) -> tuple[int, int]:
        """Count the documents that one index alone brings back in the top k for any need.

        First those that only the one with scenarios does, then those that only the other does.
        """
        alone, fused = self.alone.top_k.rps > 0, self.fused[self.cell].top_k.rps > 0
        return int((fused & ~alone).sum()), int((alone & ~fused).sum())

    def _cell(self, cell: Cell) -> CellFigures:
        alone, fused = self.alone, self.fused[cell]
        return {
            "component": str(cell.component),
            "lambda": cell.weight,
            "found_at_1": _compared(alone.first, fused.first, self.seed),
            "found_at_k": _compared(alone.top_k, fused.top_k, self.seed),
            "rps": _compared(alone.rps, fused.rps, self.seed),
        }


def _reach(scores: IndexScores) -> Reach:
    return {
        "bands": count_bands(band(scores.rps.rps)),
        "unreached": int((scores.top_k.rps == 0).sum()),
    }


def _histogram(scores: Scores) -> list[int]:
    counts: list[int] = np.histogram(scores.rps[scores.measured], HISTOGRAM_EDGES)[0].tolist()
    return counts


def _mean(scores: Scores) -> Mean:
    """Return the mean over documents and its interval (Wilson's: conservative for values)."""
    values = scores.rps[scores.measured]
    low, high = wilson(values.mean(), len(values))
    return {"mean": float(values.mean()), "low": float(low), "high": float(high)}


def _compared(before: Scores, after: Scores, seed: int) -> ComparedMean:
    return {**_mean(after), "difference": _difference(before, after, seed)}


def _difference(before: Scores, after: Scores, seed: int) -> MeanDifference:
    """Return the mean difference over documents and its paired bootstrap interval."""
    values = after.rps[after.measured] - before.rps[before.measured]
    values[np.abs(values) <= UNCHANGED] = 0.0
    resamples = max(LEAST_RESAMPLES, min(RESAMPLES, RESAMPLED // len(values)))
    low, high, _ = bootstrap_interval(values, seed=seed, resamples=resamples)
    return {
        "mean": float(values.mean()),
        "low": low,
        "high": high,
        "improved": int((values > 0).sum()),
        "harmed": int((values < 0).sum()),
    }
