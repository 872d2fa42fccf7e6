"""What a need audit found: scores of documents, who is before them, and the summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

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
from argus.retrievability.rps import Scores, band, score
from argus.scenarios.ablation.grid import Cell, Documents, ScenarioTexts, usual_cell
from argus.scenarios.needs.ranks import NeedRanks, pair_ranks
from argus.scenarios.profile import Component, Profiled, ProfileState

DISPLACERS = 3
"""Documents that are named of those before a document, for the need that fails it most."""
RESAMPLED = 20_000_000
"""Values that are drawn for one interval: fewer resamples of many documents."""
BANDS = ("low", "mid", "high")


@dataclass(frozen=True, slots=True)
class Need:
    """An information need, and its document."""

    doc_id: str
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Setting:
    """In the top k of N candidates."""

    k: int
    pool: int


@dataclass(frozen=True)
class Searched:
    """What was embedded, to be searched and to be searched for."""

    documents: Documents
    """Those that have a vector, by id; all positions count these."""
    document_failures: Mapping[str, str]
    """Document id to why it has no vector."""
    texts: ScenarioTexts
    needs: Sequence[Need]
    """All needs of those documents."""
    asked: npt.NDArray[np.bool_]
    """Which needs have a vector, shape (n_needs,)."""
    queries: FloatArray
    """Their vectors, shape (asked.sum(), dim)."""
    need_failures: Mapping[int, str]
    """Position in `needs` to why it has no vector."""

    @cached_property
    def with_vector(self) -> list[Need]:
        """The needs that could be asked."""
        return [need for need, ok in zip(self.needs, self.asked, strict=True) if ok]

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
    """Position among the needs that could be asked; the first of equally good ones."""
    worst: int
    displaced_by: str
    """Who is before it for the worst, in words."""


@dataclass(frozen=True)
class Findings:
    """The parts of a need audit."""

    given: Sequence[Document]
    profiles: Mapping[str, Profiled]
    """Of these documents, whatever became of them."""
    searched: Searched
    ranks: Mapping[Component, NeedRanks]
    """Of the needs that could be asked; λ = 1 first."""
    cells: Sequence[Cell]
    rps: Setting
    wanted: Setting
    seed: int

    @cached_property
    def cell(self) -> Cell:
        """The cell that is told of each document."""
        return usual_cell(self.cells)

    @property
    def settings(self) -> dict[str, Setting]:
        """What is measured of each cell: in the top 1 and k of the whole corpus, and RPS."""
        n = len(self.searched.documents.ids)
        found = {"found_at_1": Setting(1, n), "found_at_k": Setting(min(self.wanted.k, n), n)}
        return found | {"rps": self.rps}

    @cached_property
    def alone(self) -> dict[str, Scores]:
        """Scores of documents alone; λ = 1 of any component."""
        return self._scores(*self.row(None))

    @cached_property
    def fused(self) -> dict[Cell, dict[str, Scores]]:
        """Scores of every cell of the grid, by setting."""
        return {cell: self._scores(*self.row(cell)) for cell in self.cells}

    def row(self, cell: Cell | None) -> tuple[NeedRanks, int]:
        """Return the ranks of a cell, and which row of them is its λ; None: documents alone."""
        if cell is None:
            return next(iter(self.ranks.values())), 0
        ranks = self.ranks[cell.component]
        return ranks, ranks.weights.index(cell.weight, 1)

    def _scores(self, ranks: NeedRanks, row: int) -> dict[str, Scores]:
        n = len(self.searched.documents.ids)
        pairs = pair_ranks(ranks, row, self.searched.targets, n)
        return {
            name: score(pairs, n, k=setting.k, pool=setting.pool)
            for name, setting in self.settings.items()
        }

    def ranks_of(self, cell: Cell | None) -> IntArray:
        """Return the rank for each need that could be asked."""
        ranks, row = self.row(cell)
        found: IntArray = ranks.rank[row]
        return found

    def extremes(self) -> dict[str, Extremes]:
        """Return, by document, its needs of best and worst rank, and who is before it then."""
        rank = self.ranks_of(None)
        best: dict[int, int] = {}
        worst: dict[int, int] = {}
        for need, document in enumerate(self.searched.targets.tolist()):
            if rank[need] < rank[best.setdefault(document, need)]:
                best[document] = need
            if rank[need] > rank[worst.setdefault(document, need)]:
                worst[document] = need
        top = self.searched.documents.alone().search(
            self.searched.queries[list(worst.values())], DISPLACERS
        )
        titles = Counter(d.title for d in self.given)
        names = {d.id: d.title if d.title and titles[d.title] == 1 else d.id for d in self.given}
        found = {}
        for (document, need), ids in zip(worst.items(), top.doc_ids, strict=True):
            before = ids[: max(0, int(rank[need]) - 1)]
            displacers = "; ".join(names[id_] for id_ in before)
            found[self.searched.documents.ids[document]] = Extremes(
                document, best[document], need, displacers
            )
        return found

    @cached_property
    def states(self) -> dict[str, tuple[State, str, str]]:
        """State of every document, why it was not measured, and what is known beyond that."""
        failed: dict[str, list[str]] = {}
        for i, why in self.searched.need_failures.items():
            failed.setdefault(self.searched.needs[i].doc_id, []).append(why)
        measured = {need.doc_id for need in self.searched.with_vector}
        return {d.id: self._state(d, failed.get(d.id, []), d.id in measured) for d in self.given}

    def _state(
        self, document: Document, failed: Sequence[str], measured: bool
    ) -> tuple[State, str, str]:
        profiled = self.profiles.get(document.id)
        if not document.content.strip():
            return State.NOT_APPLICABLE, "no text", ""
        if document.id in self.searched.document_failures:
            return State.FAILED, "no vector", self.searched.document_failures[document.id]
        if profiled is None:
            return State.NOT_APPLICABLE, "no profile", ""
        if profiled.state is ProfileState.NOISE:
            return State.NOT_APPLICABLE, "the profile is noise", profiled.reason
        if profiled.profile is None:
            return State.NOT_APPLICABLE, "the profile failed", profiled.reason
        if not measured:
            return State.FAILED, "no need has a vector", failed[0]
        return State.MEASURED, f"{len(failed)} of its needs without a vector" if failed else "", ""

    def summary(self) -> dict[str, Any]:
        """Return the figures of the report; no value in it is NaN."""
        states = Counter(state for state, _, _ in self.states.values())
        reasons = Counter(why for s, why, _ in self.states.values() if s is not State.MEASURED)
        return {
            "k": self.settings["found_at_k"].k,
            "rps": asdict(self.rps),
            "wanted": asdict(self.wanted),
            "documents": {
                "total": len(self.given),
                "indexed": len(self.searched.documents.ids),
                "with_scenarios": sum(
                    p.profile is not None for p in self.searched.documents.profiles.values()
                ),
                **{str(s): states[s] for s in State},
                "reasons": dict(reasons),
            },
            "needs": {
                "total": len(self.searched.needs),
                "measured": len(self.searched.with_vector),
                "failed": len(self.searched.need_failures),
            },
            "scenarios_failed": len(self.searched.texts.failures),
            "alone": {name: _mean(scores) for name, scores in self.alone.items()}
            | self._counts(self.alone),
            "fused": self._cell(self.cell) | self._counts(self.fused[self.cell]),
            **self._moved(),
            "grid": [self._cell(cell) for cell in self.cells],
            "histogram": {
                "edges": HISTOGRAM_EDGES,
                "alone": _histogram(self.alone["rps"]),
                "fused": _histogram(self.fused[self.cell]["rps"]),
            },
        }

    def _counts(self, found: dict[str, Scores]) -> dict[str, Any]:
        bands = Counter(band(found["rps"].rps).tolist())
        return {
            "bands": {name: bands[name] for name in BANDS},
            "unreached": int((found["found_at_k"].rps == 0).sum()),
        }

    def _moved(self) -> dict[str, int]:
        """Count the documents that one retriever alone brings back in the top k for any need."""
        alone = self.alone["found_at_k"].rps > 0
        fused = self.fused[self.cell]["found_at_k"].rps > 0
        return {"recovered": int((fused & ~alone).sum()), "lost": int((alone & ~fused).sum())}

    def _cell(self, cell: Cell) -> dict[str, Any]:
        found = self.fused[cell]
        return {"component": str(cell.component), "lambda": cell.weight} | {
            name: _mean(scores) | {"difference": _difference(self.alone[name], scores, self.seed)}
            for name, scores in found.items()
        }


def _histogram(scores: Scores) -> list[int]:
    counts: list[int] = np.histogram(scores.rps[scores.measured], HISTOGRAM_EDGES)[0].tolist()
    return counts


def _mean(scores: Scores) -> dict[str, float]:
    """Return the mean over documents and its interval (Wilson's: conservative for values)."""
    values = scores.rps[scores.measured]
    low, high = wilson(values.mean(), len(values))
    return {"mean": float(values.mean()), "low": float(low), "high": float(high)}


def _difference(before: Scores, after: Scores, seed: int) -> dict[str, Any]:
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
