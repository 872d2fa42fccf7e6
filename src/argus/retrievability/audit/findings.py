"""Findings of an audit, as the table of entities and the summary that its report shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from argus.data.folders import ArtifactFolder
from argus.data.types import State, StateCounts, count_states
from argus.encoders import Embedded, Rows
from argus.jobs.parts import remove_parts
from argus.jobs.workspace import Record
from argus.knowledge import KnowledgeBase, RelationGraph
from argus.knowledge.base import ids_of
from argus.retrievability import rps
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.audit.summary import (
    AuditSummary,
    FindingFigures,
    PairCounts,
    ProjectionFigures,
    ReservoirFigures,
    SampleCounts,
    SettingFigures,
)
from argus.retrievability.displacement import displacers
from argus.retrievability.geometry import Projection, project_bands
from argus.retrievability.limits import PROJECTED, WORST
from argus.retrievability.pairs import PairRanks

CURVE_K = 100
HISTOGRAM_EDGES = [round(0.03 * i, 2) for i in range(34)] + [1.0]
"""Steps of 0.03, so that the bands' edges 0.33 and 0.66 are among them."""
CODE = tuple(State)
"""States by their number in `Findings.states`."""


@dataclass(frozen=True)
class Findings:
    """The parts of an audit. Vectors, graph and ranks count only entities with a vector."""

    base: KnowledgeBase
    measured: npt.NDArray[np.int64]
    """Position in `base` of each entity that has a vector."""
    embedded: Embedded[Rows]
    graph: RelationGraph
    ranks: PairRanks
    config: AuditConfig

    @classmethod
    def of(
        cls,
        base: KnowledgeBase,
        embedded: Embedded[Rows],
        graph: RelationGraph,
        ranks: PairRanks,
        config: AuditConfig,
    ) -> Findings:
        """Take the ranks of all pairs. Of a sampled knowledge base only its targets' are kept.

        embedded: of the entities of `base` that have text.
        """
        measured = np.flatnonzero(base.has_text)[embedded.ok]
        if base.targets is not None:
            ranks = ranks.of_targets(base.targets[measured])
        return cls(base, measured, embedded, graph, ranks, config)

    @cached_property
    def scores(self) -> list[rps.Scores]:
        """Scores at every k and N asked for. The first is the headline."""
        settings = [(k, pool) for k in self.config.k for pool in self.config.pool]
        return [rps.score(self.ranks, self.graph.n, k=k, pool=pool) for k, pool in settings]

    @cached_property
    def bands(self) -> npt.NDArray[np.str_]:
        """Band of each entity that has a vector, by the headline."""
        return rps.band(self.scores[0].rps)

    @cached_property
    def terciles(self) -> npt.NDArray[np.str_]:
        """Third of the scored entities that each lies in, by the headline."""
        return rps.tercile(self.scores[0].rps)

    @cached_property
    def projected(self) -> npt.NDArray[np.int64]:
        """Position of each entity that is projected, among those with a vector."""
        scored = np.flatnonzero(self.scores[0].measured)
        if len(scored) <= PROJECTED:
            return scored
        rng = np.random.default_rng(self.config.seed)
        return np.sort(rng.choice(scored, PROJECTED, replace=False))

    @cached_property
    def projection(self) -> Projection | None:
        """Positions of the projected entities. None for rows that are no single vectors."""
        rows = self.projected
        vectors = self.embedded.vectors[rows]
        if not isinstance(vectors, np.ndarray):
            return None
        return project_bands(vectors, self.bands[rows], seed=self.config.seed)

    @cached_property
    def states(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], list[str]]:
        """Per entity of `base` its state (of CODE) and why it was not measured (of the list)."""
        why = [
            "", "came along with the sample",
            f"under {self.scores[0].pool - 1} neutrals for all that is related",
            "no related entity has a vector", "no related entity", "no paragraph",
        ]  # fmt: skip
        n, measured = len(self.base.entities), self.measured
        targets = np.ones(n, bool) if self.base.targets is None else self.base.targets
        related = self.base.relations.degree[measured] > 0
        states = np.full(n, CODE.index(State.NOT_APPLICABLE), np.uint8)
        states[measured[self.scores[0].measured]] = CODE.index(State.MEASURED)
        reasons = np.full(n, len(why) - 1, np.int32)
        cases = [
            self.scores[0].measured, ~targets[measured] & related, self.graph.degree > 0, related
        ]  # fmt: skip
        reasons[measured] = np.select(cases, [0, 1, 2, 3], 4)
        with_text = np.flatnonzero(self.base.has_text)
        numbers = {reason: i for i, reason in enumerate(why)}
        for position, reason in self.embedded.failures.items():
            states[with_text[position]] = CODE.index(State.FAILED)
            reasons[with_text[position]] = numbers.setdefault(reason, len(numbers))
        return states, reasons, list(numbers)

    @cached_property
    def ids(self) -> list[str]:
        """Id of each entity that has a vector."""
        ids = ids_of(self.base.entities)
        return [ids[i] for i in self.measured]

    @cached_property
    def labels(self) -> pa.Array:
        """Label of every entity of `base`."""
        entities = self.base.entities
        return pa.array((entity.label for entity in entities), pa.string(), size=len(entities))

    def table(self) -> pa.Table:
        """See `TABLE`. In the order of `base`, with a column more per further k and N."""
        headline, (states, reasons, why) = self.scores[0], self.states
        related = np.zeros(len(self.base.entities), np.int64)
        related[self.measured] = headline.related
        points = np.full((self.graph.n, 2), np.nan)
        if self.projection is not None:
            points[self.projected] = self.projection.points
        outranked = self._displaced_by()
        columns: dict[str, pa.Array] = {
            "id": pa.array(ids_of(self.base.entities), pa.string()),
            "label": self.labels,
            "rps": self._spread(headline.rps),
            "low": self._spread(headline.low),
            "high": self._spread(headline.high),
            "related": pa.array(related),
            "state": _named(states, [str(state) for state in CODE]),
            "band": self._grouped(self.bands),
            "tercile": self._grouped(self.terciles),
            "reason": _named(reasons, why),
            "vector": self._placed(_hexadecimal(self.embedded.keys), self.measured),
            "displaced_by": self._placed(
                pa.array(outranked.values(), pa.string()), np.fromiter(outranked, np.int64)
            ),
            "x": self._spread(points[:, 0]),
            "y": self._spread(points[:, 1]),
        }
        for scores in self.scores[1:]:
            columns[f"rps_k{scores.k}_n{scores.pool}"] = self._spread(scores.rps)
        more = [(name, pa.float64()) for name in list(columns)[len(TABLE) :]]
        return pa.table(columns, schema=pa.schema([*TABLE, *more]))

    def figures(self) -> FindingFigures:
        """Return the figures of the report. No value in it is NaN."""
        headline, ranks, n = self.scores[0], self.ranks, self.graph.n
        k, pool = headline.k, headline.pool
        counts, _ = np.histogram(headline.rps[headline.measured], bins=HISTOGRAM_EDGES)
        return {
            **_figures(headline),
            "entities": self._counts(),
            "bands": rps.count_bands(self.bands),
            "terciles": rps.describe_groups(headline.rps, self.terciles),
            "pairs": self._pairs(),
            "settings": [_figures(scores) for scores in self.scores],
            "histogram": {"edges": HISTOGRAM_EDGES, "entities": counts.tolist()},
            "curve_over_pool": rps.curve_over_pool(ranks, n, k=k, pools=self._pools()),
            "curve_over_k": rps.curve_over_k(ranks, n, k_max=min(CURVE_K, pool), pool=pool),
            "reservoir": self._reservoir(),
            "projection": self._projection(),
        }

    def _counts(self) -> StateCounts:
        """Entities by state, and reasons in the order in which they come up."""
        states, reasons, why = self.states
        numbers, first, counts = np.unique(reasons, return_index=True, return_counts=True)
        return count_states(
            {state: int((states == i).sum()) for i, state in enumerate(CODE)},
            {why[numbers[i]]: int(counts[i]) for i in np.argsort(first) if why[numbers[i]]},
        )

    def _pairs(self) -> PairCounts:
        """Count the pairs by outcome (x, t)."""
        relations, unscored = self.base.relations, self.scores[0].pairs_without_pool
        others: SampleCounts = {}
        if self.base.targets is not None:
            others = {"not_of_the_sample": self.graph.n_pairs - len(self.ranks)}
        return {
            "related": relations.n_pairs,
            "measured": len(self.ranks) - unscored,
            "pool_too_small": unscored,
            "without_vector": relations.n_pairs - self.graph.n_pairs,
            **others,
            "triples": relations.triples,
            "self_loops": relations.self_loops,
            "unknown_ids": relations.unknown,
        }

    def _projection(self) -> ProjectionFigures | None:
        """Say how it was made. sample: how many of the scored entities it shows, where not all."""
        if self.projection is None:
            return None
        figures: ProjectionFigures = {
            "method": self.projection.method,
            "accuracy": self.projection.accuracy,
            "majority": self.projection.majority,
            "shrinkage": self.projection.shrinkage,
        }
        if len(self.projected) < int(self.scores[0].measured.sum()):
            figures["sample"] = len(self.projected)
        return figures

    def _pools(self) -> list[int]:
        """N from 100 up, as far as 99% of the pairs allow: the population hardly changes."""
        if not len(self.ranks):
            return []
        largest = int(np.quantile(self.ranks.pool, 0.01, method="lower")) + 1
        headline = self.scores[0]
        grid = rps.pool_grid(largest, headline=headline.pool)
        return [pool for pool in grid if pool >= headline.k]

    def _reservoir(self) -> ReservoirFigures | None:
        size, headline = self.config.reservoir_for(self.graph.n), self.scores[0]
        if size is None or size >= self.graph.n:
            return None
        error = rps.reservoir_error(self.ranks, self.graph.n, k=headline.k, pool=headline.pool)
        return {"size": size, "mean_standard_error": error}

    def _worst(self) -> npt.NDArray[np.int64]:
        """Return the least reachable: lowest upper bound first, so one bad pair cannot lead."""
        scores = self.scores[0]
        order = np.lexsort((np.arange(len(scores.rps)), scores.rps, scores.high))
        return order[scores.measured[order]][:WORST]

    def _displaced_by(self) -> dict[int, str]:
        """Position in `base` of each of the worst to who outranks it, in words."""
        worst = self._worst()
        rivals = displacers(
            self.embedded.vectors, self.graph, worst.tolist(), k=self.scores[0].k, top=3
        )
        names = self._names({z for above in rivals for z, _ in above})
        return {
            int(self.measured[x]): "; ".join(
                f"{names[z]} ({count} of {len(self.graph.neighbours(int(x)))})"
                for z, count in above
            )
            for x, above in zip(worst, rivals, strict=True)
        }

    def _names(self, positions: set[int]) -> dict[int, str]:
        """Return the labels of entities that have a vector, ids where a label is not theirs alone.

        positions: among the entities that have a vector.
        """
        entities = {z: self.base.entities[int(self.measured[z])] for z in positions}
        labels = pa.array({entity.label for entity in entities.values()}, pa.string())
        counted = pc.value_counts(self.labels.filter(pc.is_in(self.labels, labels))).to_pylist()
        unique = {row["values"] for row in counted if row["counts"] == 1 and row["values"]}
        return {z: e.label if e.label in unique else e.id for z, e in entities.items()}

    def _spread(self, values: npt.NDArray[Any]) -> pa.Array:
        """Values of entities that have a vector, over all of `base`. NaN becomes null."""
        whole = np.full(len(self.base.entities), np.nan)
        whole[self.measured] = values
        return pa.array(whole, mask=np.isnan(whole))

    def _grouped(self, groups: npt.NDArray[np.str_]) -> pa.Array:
        return self._placed(pa.array(groups, mask=groups == ""), self.measured)

    def _placed(self, values: pa.Array, positions: npt.NDArray[np.int64]) -> pa.Array:
        """Values at positions of `base`. Null elsewhere."""
        rows = np.full(len(self.base.entities), -1)
        rows[positions] = np.arange(len(positions))
        return values.take(pa.array(rows, mask=rows < 0))


def _named(codes: npt.NDArray[Any], names: Sequence[str]) -> pa.Array:
    """Return the name of each code. The empty string stays one."""
    return pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string())).dictionary_decode()


def _hexadecimal(keys: Sequence[bytes]) -> pa.Array:
    """Return keys of one length in words."""
    if not len(keys):
        return pa.array([], pa.string())
    digits = np.frombuffer(b"".join(keys).hex().encode(), f"S{2 * len(keys[0])}")
    return pa.array(digits).cast(pa.string())


def write_results(
    folder: ArtifactFolder,
    record: Record,
    findings: Findings,
    table: pa.Table,
    summary: AuditSummary,
) -> None:
    """Write everything but the report. Then the parts of the ranking are needed no more."""
    with record.timed("writing"):
        folder.write_table("retrievability", table, csv=True)
        folder.write_table("pair_ranks", _pairs_by_id(findings.ranks, findings.ids))
    folder.write_results("audit", summary, record.manifest(summary["entities"]))
    remove_parts(folder)


def _pairs_by_id(ranks: PairRanks, ids: list[str]) -> pa.Table:
    names = pa.array(ids)
    entity, related = (
        pa.DictionaryArray.from_arrays(pa.array(positions), names)
        for positions in (ranks.entity, ranks.related)
    )
    return pa.table(
        {
            "entity": entity,
            "related": related,
            "similarity": ranks.similarity,
            "above": ranks.above,
            "pool": ranks.pool,
        },
        schema=PAIRS,
    )


TABLE = pa.schema(
    [
        ("id", pa.string()), ("label", pa.string()), ("rps", pa.float64()), ("low", pa.float64()),
        ("high", pa.float64()), ("related", pa.int64()), ("state", pa.string()),
        ("band", pa.string()), ("tercile", pa.string()), ("reason", pa.string()),
        ("vector", pa.string()), ("displaced_by", pa.string()), ("x", pa.float64()),
        ("y", pa.float64()),
    ]
)  # fmt: skip
"""One row per entity. Null where there is no score. RPS at further k and N: `rps_kK_nN`.

rps: RPS at the first k and N, from 0 to 1.
low, high: its 95% Wilson interval.
related: related entities that were ranked for it.
tercile: low, mid or high third of the scored entities.
vector: key of its vector in the store of embeddings.
displaced_by: of the 50 worst: who outranks it, and for how many related ones.
x, y: place in the picture of the embedding space.
"""
_NAMES = pa.dictionary(pa.int32(), pa.string())
PAIRS = pa.schema(
    [
        ("entity", _NAMES), ("related", _NAMES), ("similarity", pa.float32()),
        ("above", pa.int32()), ("pool", pa.int32()),
    ]
)  # fmt: skip
"""One row per pair of related entities. Every RPS is computed from these.

entity: id of the entity that is to be retrieved.
related: id of the one that asks.
similarity: cosine of the two.
above: unrelated entities that are more similar to the one that asks.
pool: unrelated entities, all of them.
"""


def _figures(scores: rps.Scores) -> SettingFigures:
    """Return the headline figures of one setting. None where no entity has a score."""
    values = scores.rps[scores.measured]
    return {
        "k": scores.k,
        "pool": scores.pool,
        "scored": len(values),
        "mean_rps": _mean(values),
        "share_below_0.33": _mean(values < rps.LOW),
        "share_above_0.5": _mean(values > 0.5),
    }


def _mean(values: npt.NDArray[np.float64] | npt.NDArray[np.bool_]) -> float | None:
    return round(float(values.mean()), 6) if len(values) else None
