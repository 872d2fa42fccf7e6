"""Findings of a need audit: scores of documents, who is before them, summary, tables and slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.types import Document, FloatArray, IntArray, State
from argus.measures.intervals import wilson
from argus.measures.significance import LEAST_RESAMPLES, RESAMPLES, UNCHANGED, bootstrap_interval
from argus.measures.slices import (
    Sliced,
    Slicing,
    Trials,
    slice_figures,
    slice_shares,
    slice_table,
    worst_first,
)
from argus.retrievability.audit.findings import HISTOGRAM_EDGES
from argus.retrievability.rps import Scores, band, count_bands, score
from argus.scenarios.ablation.grid import Cell, Documents, ScenarioTexts, usual_cell
from argus.scenarios.needs.config import PoolSetting
from argus.scenarios.needs.ranks import NeedRanks, pair_ranks
from argus.scenarios.needs.source import why_unmeasured
from argus.scenarios.profile import Component, Profiled

# Documents that are named of those before a document, for the need that fails it most.
DISPLACERS = 3
RESAMPLED = 20_000_000  # Values that are drawn for one interval: fewer resamples of many documents.


@dataclass(frozen=True, slots=True)
class Need:
    """An information need, and its document."""

    doc_id: str
    position: int
    text: str


@dataclass(frozen=True)
class Vectors:
    """Vectors of documents and of needs.

    documents: those that have a vector, by id. All positions count these.
    document_failures: document id to why it has no vector.
    needs: all needs of those documents.
    embedded: which needs have a vector, shape (n_needs,).
    queries: their vectors, shape (embedded.sum(), dim).
    need_failures: position in `needs` to why it has no vector.
    """

    documents: Documents
    document_failures: Mapping[str, str]
    texts: ScenarioTexts
    needs: Sequence[Need]
    embedded: npt.NDArray[np.bool_]
    queries: FloatArray
    need_failures: Mapping[int, str]

    @cached_property
    def with_vector(self) -> list[Need]:
        """The needs that could be asked."""
        return [need for need, ok in zip(self.needs, self.embedded, strict=True) if ok]

    @cached_property
    def targets(self) -> IntArray:
        """Position of the document of each need that could be asked."""
        position = {id_: i for i, id_ in enumerate(self.documents.ids)}
        return np.array([position[need.doc_id] for need in self.with_vector], np.int64)


@dataclass(frozen=True)
class Findings:
    """The parts of a need audit.

    profiles: profiles of these documents, in any state.
    ranks: ranks of the needs that could be asked. λ = 1 first.
    nominal: expected `rps` in a corpus that is large enough.
    drawn: documents whose needs ask. None is all.
    """

    documents: Sequence[Document]
    profiles: Mapping[str, Profiled]
    vectors: Vectors
    ranks: Mapping[Component, NeedRanks]
    cells: Sequence[Cell]
    rps: PoolSetting
    nominal: PoolSetting
    seed: int
    drawn: frozenset[str] | None = None

    @cached_property
    def cell(self) -> Cell:
        """The cell that is told of each document."""
        return usual_cell(self.cells)

    @property
    def k(self) -> int:
        """How far down the whole corpus is read."""
        return min(self.nominal.k, len(self.vectors.documents.ids))

    @cached_property
    def alone(self) -> dict[str, Scores]:
        """Scores of documents alone: found first, in the top k, and RPS. λ = 1 of any component."""
        return self._scores(*self.row(None))

    @cached_property
    def fused(self) -> dict[Cell, dict[str, Scores]]:
        """Scores of every cell of the grid."""
        return {cell: self._scores(*self.row(cell)) for cell in self.cells}

    def row(self, cell: Cell | None) -> tuple[NeedRanks, int]:
        """Return the ranks of a cell, and which row of them is its λ. None: documents alone."""
        if cell is None:
            return next(iter(self.ranks.values())), 0
        ranks = self.ranks[cell.component]
        return ranks, ranks.weights.index(cell.weight, 1)

    def _scores(self, ranks: NeedRanks, row: int) -> dict[str, Scores]:
        n = len(self.vectors.documents.ids)
        pairs = pair_ranks(ranks, row, self.vectors.targets, n)
        settings = {"found_at_1": (1, n), "found_at_k": (self.k, n), "rps": self.rps}
        return {name: score(pairs, n, k=k, pool=pool) for name, (k, pool) in settings.items()}

    def ranks_of(self, cell: Cell | None) -> IntArray:
        """Return the rank for each need that could be asked."""
        ranks, row = self.row(cell)
        rank: IntArray = ranks.rank[row]
        return rank

    def extremes(self) -> Iterator[tuple[int, int, int, str]]:
        """Yield every document that was asked for, by position, and its needs of best, worst rank.

        Of equal ones the first need. Last the documents before it for the worst need, in words.
        """
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
        for (document, need), ids in zip(worst.items(), top.doc_ids, strict=True):
            before = ids[: max(0, int(rank[need]) - 1)]
            yield document, best[document], need, "; ".join(names[id_] for id_ in before)

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

    def summary(self) -> dict[str, Any]:
        """Return the figures of the report. No value in it is NaN."""
        alone, fused = self.alone, self.fused[self.cell]
        found, found_fused = alone["found_at_k"].rps > 0, fused["found_at_k"].rps > 0
        states = Counter(state for state, _, _ in self.states.values())
        reasons = Counter(why for s, why, _ in self.states.values() if s is not State.MEASURED)
        profiles = self.vectors.documents.profiles.values()
        return {
            "k": self.k,
            "rps": self.rps._asdict(),
            "wanted": self.nominal._asdict(),
            "documents": {
                "total": len(self.documents),
                "indexed": len(self.vectors.documents.ids),
                "with_scenarios": sum(p.profile is not None for p in profiles),
                "measured": states[State.MEASURED],
                "failed": states[State.FAILED],
                "not applicable": states[State.NOT_APPLICABLE],
                "reasons": dict(reasons),
            },
            "needs": {
                "total": len(self.vectors.needs),
                "measured": len(self.vectors.with_vector),
                "failed": len(self.vectors.need_failures),
            },
            "scenarios_failed": len(self.vectors.texts.failures),
            "alone": {**{name: _mean(scores) for name, scores in alone.items()}, **_reach(alone)},
            "fused": {**self._cell(self.cell), **_reach(fused)},
            "recovered": int((found_fused & ~found).sum()),
            "lost": int((found & ~found_fused).sum()),
            "grid": [self._cell(cell) for cell in self.cells],
            "histogram": {
                "edges": HISTOGRAM_EDGES,
                "alone": _histogram(alone["rps"]),
                "fused": _histogram(fused["rps"]),
            },
        }

    def _cell(self, cell: Cell) -> dict[str, Any]:
        means = {
            name: {**_mean(after), "difference": _difference(self.alone[name], after, self.seed)}
            for name, after in self.fused[cell].items()
        }
        return {"component": str(cell.component), "lambda": cell.weight, **means}


def _reach(scores: Mapping[str, Scores]) -> dict[str, Any]:
    return {
        "bands": count_bands(band(scores["rps"].rps)),
        "unreached": int((scores["found_at_k"].rps == 0).sum()),
    }


def _histogram(scores: Scores) -> list[int]:
    counts: list[int] = np.histogram(scores.rps[scores.measured], HISTOGRAM_EDGES)[0].tolist()
    return counts


def _mean(scores: Scores) -> dict[str, Any]:
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


def needs_table(findings: Findings) -> pa.Table:
    """Return one row per need of a document that has a vector. Null where it could not be asked.

    rank_alone: rank of its document in the index of documents alone.
    ties_before: of those before it, documents of equal score.
    rank_fused: its rank with the other needs' scenarios.
    """
    vectors, failures = findings.vectors, findings.vectors.need_failures
    ranks, row = findings.row(None)
    alone, fused = findings.ranks_of(None), findings.ranks_of(findings.cell)
    ties = alone - 1 - ranks.above[row]
    place = np.cumsum(vectors.embedded) - 1

    def of_embedded(values: IntArray) -> IntArray:
        spread: IntArray = values[np.maximum(place, 0)]
        return spread

    states = np.where(vectors.embedded, str(State.MEASURED), str(State.FAILED)).tolist()
    needs, absent = vectors.needs, ~vectors.embedded
    return pa.table(
        {
            "document": pa.array([need.doc_id for need in needs], pa.string()),
            "scenario": pa.array([need.position + 1 for need in needs], pa.int64()),
            "need": pa.array([need.text for need in needs], pa.string()),
            "rank_alone": pa.array(of_embedded(alone), pa.int64(), mask=absent),
            "ties_before": pa.array(of_embedded(ties), pa.int64(), mask=absent),
            "rank_fused": pa.array(of_embedded(fused), pa.int64(), mask=absent),
            "state": pa.array(states, pa.string()),
            "reason": pa.array([failures.get(i, "") for i in range(len(needs))], pa.string()),
        }
    )


def documents_table(findings: Findings) -> pa.Table:
    """One row per document. Null where there is no score."""
    alone, fused = findings.alone["rps"], findings.fused[findings.cell]["rps"]
    rank, rank_fused = findings.ranks_of(None), findings.ranks_of(findings.cell)
    needs, bands = findings.vectors.with_vector, band(alone.rps)
    measured = {
        findings.vectors.documents.ids[document]: {
            "needs": int(alone.related[document]),
            "rps": float(alone.rps[document]),
            "low": float(alone.low[document]),
            "high": float(alone.high[document]),
            "band": str(bands[document]),
            "rps_fused": float(fused.rps[document]),
            "low_fused": float(fused.low[document]),
            "high_fused": float(fused.high[document]),
            "best_need": needs[best].text,
            "best_rank": int(rank[best]),
            "worst_need": needs[worst].text,
            "worst_rank": int(rank[worst]),
            "worst_rank_fused": int(rank_fused[worst]),
            "displaced_by": displaced_by,
        }
        for document, best, worst, displaced_by in findings.extremes()
    }
    rows = []
    for document in findings.documents:
        state, why, detail = findings.states[document.id]
        row = {
            "id": document.id,
            "label": document.title,
            "state": str(state),
            "reason": f"{why}: {detail}" if detail else why,
        }
        rows.append({**row, **measured.get(document.id, {})})
    return pa.Table.from_pylist(rows, schema=_DOCUMENTS)


# One row per document. Null where there is no score.
#
# rps: RPS over its needs, from 0 to 1.
# rps_fused: the same in the index with scenarios, each need's own held out.
# low_fused, high_fused: its 95% interval.
# best_need, worst_need: need with the best, the worst rank.
# best_rank, worst_rank: that rank, from 1.
# worst_rank_fused: rank of the worst need with scenarios.
# displaced_by: documents before it for the worst need, at most three.
_DOCUMENTS = pa.schema(
    [
        ("id", pa.string()),
        ("label", pa.string()),
        ("needs", pa.int64()),
        ("rps", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("band", pa.string()),
        ("rps_fused", pa.float64()),
        ("low_fused", pa.float64()),
        ("high_fused", pa.float64()),
        ("best_need", pa.string()),
        ("best_rank", pa.int64()),
        ("worst_need", pa.string()),
        ("worst_rank", pa.int64()),
        ("worst_rank_fused", pa.int64()),
        ("displaced_by", pa.string()),
        ("state", pa.string()),
        ("reason", pa.string()),
    ]
)


def audit_slices(folder: ArtifactFolder, findings: Findings, slices: Sequence[Slicing]) -> Sliced:
    """Write the shares of needs that find their documents. slices: of the findings' documents."""
    if not slices:
        return {}
    rows = {document.id: row for row, document in enumerate(findings.documents)}
    places = np.array([rows[id_] for id_ in findings.vectors.documents.ids], np.int64)
    top = f"found in the top {findings.k} by their needs"

    def trials(share_of: str, scores: Scores) -> Trials:
        of = scores.measured
        return Trials(share_of, places[of], scores.rps[of].astype(np.float64))

    alone, fused = findings.alone["found_at_k"], findings.fused[findings.cell]["found_at_k"]
    both = (trials(f"{top}, documents alone", alone), trials(f"{top}, with scenarios", fused))
    return write_slices(folder, "needs_slices", slices, both)


def write_slices(
    folder: ArtifactFolder, name: str, slices: Sequence[Slicing], trials: Sequence[Trials]
) -> Sliced:
    """Write the shares of every slice, the worst first. Return their figures for the summary."""
    shares = worst_first([share for one in trials for share in slice_shares(slices, one)])
    folder.write_table(name, slice_table(shares), csv=True)
    return {"slices": slice_figures(slices, shares)}
