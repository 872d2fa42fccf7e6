"""What an audit found, as the table of entities and the summary that its report shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.artifacts import ArtifactFolder
from argus.data.types import State
from argus.encoders import Embedded
from argus.knowledge import KnowledgeBase, RelationGraph
from argus.retrievability import rps
from argus.retrievability.displacement import displacers
from argus.retrievability.geometry import Projection, project_bands
from argus.retrievability.ranks import PairRanks

if TYPE_CHECKING:
    from argus.workflows.audit import AuditConfig

WORST = 200
"""Entities for which it is looked up who outranks them."""
CURVE_K = 100
HISTOGRAM_EDGES = [round(0.03 * i, 2) for i in range(34)] + [1.0]
"""Steps of 0.03, so that the bands' edges 0.33 and 0.66 are among them."""


@dataclass(frozen=True)
class Findings:
    """The parts of an audit. Vectors, graph and ranks count only entities with a vector."""

    base: KnowledgeBase
    measured: npt.NDArray[np.int64]
    """Position in `base` of each entity that has a vector."""
    keys: Sequence[bytes]
    """Key in the store of each entity that has a vector."""
    embedded: Embedded
    graph: RelationGraph
    ranks: PairRanks
    config: AuditConfig

    @cached_property
    def scores(self) -> list[rps.Scores]:
        """Scores at every k and N asked for; the first is the headline."""
        settings = [(k, pool) for k in self.config.k for pool in self.config.pool]
        return [rps.score(self.ranks, self.graph.n, k=k, pool=pool) for k, pool in settings]

    @cached_property
    def bands(self) -> npt.NDArray[np.str_]:
        """Band of each entity that has a vector, by the headline."""
        return rps.band(self.scores[0].rps)

    @cached_property
    def projection(self) -> Projection | None:
        """Where the scored entities lie."""
        scored = self.scores[0].measured
        vectors = self.embedded.vectors[scored]
        return project_bands(vectors, self.bands[scored], seed=self.config.seed)

    @cached_property
    def states(self) -> tuple[npt.NDArray[np.str_], list[str]]:
        """State of every entity of `base`, and why where it was not measured."""
        entities = self.base.entities
        targets = self.base.targets
        if targets is None:
            targets = np.ones(len(entities), bool)
        states = np.full(len(entities), str(State.NOT_APPLICABLE), dtype="<U16")
        reasons = ["no paragraph"] * len(entities)
        with_text = np.flatnonzero(self.base.has_text)
        for position, why in self.embedded.failures.items():
            states[with_text[position]], reasons[with_text[position]] = str(State.FAILED), why
        for i, entity in enumerate(self.measured):
            if self.scores[0].measured[i]:
                states[entity], reasons[entity] = str(State.MEASURED), ""
            elif not targets[entity] and self.base.relations.degree[entity]:
                reasons[entity] = "came along with the sample"
            elif self.graph.degree[i]:
                reasons[entity] = (
                    f"under {self.scores[0].pool - 1} neutrals for all that is related"
                )
            elif self.base.relations.degree[entity]:
                reasons[entity] = "no related entity has a vector"
            else:
                reasons[entity] = "no related entity"
        return states, reasons

    def table(self) -> pa.Table:
        """One row per entity of `base`, in its order; null where there is no score."""
        entities, headline = self.base.entities, self.scores[0]
        states, reasons = self.states
        related = np.zeros(len(entities), np.int64)
        related[self.measured] = headline.related
        bands = dict(zip(self.measured.tolist(), self.bands.tolist(), strict=True))
        outranked = self._displaced_by()
        vectors = dict(zip(self.measured.tolist(), self.keys, strict=True))
        points = np.full((self.graph.n, 2), np.nan)
        if self.projection is not None:
            points[headline.measured] = self.projection.points
        columns: dict[str, Any] = {
            "id": [e.id for e in entities],
            "label": [e.label for e in entities],
            "rps": self._spread(headline.rps),
            "low": self._spread(headline.low),
            "high": self._spread(headline.high),
            "related": related,
            "state": states.tolist(),
            "band": [bands.get(i) or None for i in range(len(entities))],
            "reason": reasons,
            "vector": pa.array(
                [vectors[i].hex() if i in vectors else None for i in range(len(entities))],
                pa.string(),
            ),
            "displaced_by": pa.array([outranked.get(i) for i in range(len(entities))], pa.string()),
            "x": self._spread(points[:, 0]),
            "y": self._spread(points[:, 1]),
        }
        for scores in self.scores[1:]:
            columns[f"rps_k{scores.k}_n{scores.pool}"] = self._spread(scores.rps)
        return pa.table(columns)

    def summary(self) -> dict[str, Any]:
        """Return the figures of the report; no value in it is NaN."""
        headline, ranks, n = self.scores[0], self.ranks, self.graph.n
        states, reasons = self.states
        relations = self.base.relations
        return {
            **_figures(headline),
            "entities": {
                "total": len(self.base.entities),
                **{str(s): int((states == str(s)).sum()) for s in State},
                "reasons": dict(Counter(r for r in reasons if r)),
            },
            "bands": {name: int((self.bands == name).sum()) for name in ("low", "mid", "high")},
            "pairs": {
                "related": relations.n_pairs,
                "measured": len(ranks) - headline.pairs_without_pool,
                "pool_too_small": headline.pairs_without_pool,
                "without_vector": relations.n_pairs - len(ranks),
                "triples": relations.triples,
                "self_loops": relations.self_loops,
                "unknown_ids": relations.unknown,
            },
            "settings": [_figures(scores) for scores in self.scores],
            "histogram": {
                "edges": HISTOGRAM_EDGES,
                "entities": np.histogram(headline.rps[headline.measured], bins=HISTOGRAM_EDGES)[
                    0
                ].tolist(),
            },
            "curve_over_pool": asdict(
                rps.curve_over_pool(ranks, n, k=headline.k, pools=self._pools())
            ),
            "curve_over_k": asdict(
                rps.curve_over_k(ranks, n, k_max=min(CURVE_K, headline.pool), pool=headline.pool)
            ),
            "reservoir": self._reservoir(),
            "projection": None
            if self.projection is None
            else {
                "method": self.projection.method,
                "accuracy": self.projection.accuracy,
                "majority": self.projection.majority,
            },
        }

    def _pools(self) -> list[int]:
        """N from 100 to what 99% of the pairs allow, so that the population hardly changes."""
        if not len(self.ranks):
            return []
        largest = int(np.quantile(self.ranks.pool, 0.01, method="lower")) + 1
        headline = self.scores[0]
        grid = rps.pool_grid(largest, wanted=headline.pool)
        return [pool for pool in grid if pool >= headline.k]

    def _reservoir(self) -> dict[str, Any] | None:
        size, headline = self.config.reservoir_for(self.graph.n), self.scores[0]
        if size is None or size >= self.graph.n:
            return None
        error = rps.reservoir_error(self.ranks, self.graph.n, k=headline.k, pool=headline.pool)
        return {"size": size, "mean_standard_error": error}

    def _worst(self) -> npt.NDArray[np.int64]:
        """Return the surest blind spots: lowest upper bound first, so one bad pair cannot lead."""
        scores = self.scores[0]
        order = np.lexsort((np.arange(len(scores.rps)), scores.rps, scores.high))
        return order[scores.measured[order]][:WORST]

    def _displaced_by(self) -> dict[int, str]:
        """Position in `base` of each of the worst to who outranks it, in words."""
        worst = self._worst()
        found = displacers(
            self.embedded.vectors, self.graph, worst.tolist(), k=self.scores[0].k, top=3
        )
        labels = Counter(e.label for e in self.base.entities)
        entities = [self.base.entities[i] for i in self.measured]
        names = [e.label if e.label and labels[e.label] == 1 else e.id for e in entities]
        return {
            int(self.measured[x]): "; ".join(
                f"{names[z]} ({count} of {self.graph.degree[x]})" for z, count in above
            )
            for x, above in zip(worst, found, strict=True)
        }

    def _spread(self, values: npt.NDArray[Any]) -> pa.Array:
        """Values of entities that have a vector, over all of `base`; NaN becomes null."""
        whole = np.full(len(self.base.entities), np.nan)
        whole[self.measured] = values
        return pa.array(whole, mask=np.isnan(whole))


def write_results(
    folder: ArtifactFolder, table: pa.Table, ranks: PairRanks, ids: list[str]
) -> None:
    """Write the table of entities and the pair ranks, with ids for positions."""
    names = pa.array(ids)

    def by_id(positions: np.ndarray) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(positions), names)

    folder.write_table("retrievability", table, csv=True)
    folder.write_table(
        "pair_ranks",
        pa.table(
            {
                "entity": by_id(ranks.entity),
                "related": by_id(ranks.related),
                "similarity": ranks.similarity,
                "above": ranks.above,
                "pool": ranks.pool,
            }
        ),
    )


def _figures(scores: rps.Scores) -> dict[str, Any]:
    """Return the headline figures of one setting; None where no entity has a score."""
    values = scores.rps[scores.measured]
    figures: dict[str, float | None] = {
        "mean_rps": None, "share_below_0.33": None, "share_above_0.5": None
    }  # fmt: skip
    if len(values):
        figures = {
            "mean_rps": round(float(values.mean()), 6),
            "share_below_0.33": round(float((values < rps.LOW).mean()), 6),
            "share_above_0.5": round(float((values > 0.5).mean()), 6),
        }
    return {"k": scores.k, "pool": scores.pool, "scored": len(values), **figures}
