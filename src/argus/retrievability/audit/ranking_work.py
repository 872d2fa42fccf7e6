"""Ranks of related pairs as work for an engine: a block is a range of queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import FloatArray
from argus.devices import check_device
from argus.knowledge import RelationGraph
from argus.retrievability.audit.config import AuditConfig
from argus.retrievability.pairs import PairRanks
from argus.retrievability.ranks import Ranker


@dataclass(frozen=True)
class Ranking:
    """What every worker holds; device None takes a GPU where there is one.

    reservoir: as for `pair_ranks`. Vectors that are memory-mapped go to workers as the name of
    their file.
    """

    vectors: FloatArray
    graph: RelationGraph
    reservoir: int | None
    seed: int
    device: str | None

    @classmethod
    def of(cls, vectors: FloatArray, graph: RelationGraph, config: AuditConfig) -> Ranking:
        """Take from an audit's settings what ranks depend on."""
        return cls(vectors, graph, config.reservoir_for(graph.n), config.seed, config.device)

    @property
    def key(self) -> str:
        """Hash of what determines the ranks: not of where they are counted."""
        arrays = (self.vectors, self.graph.indptr, self.graph.indices)
        parts = (np.ascontiguousarray(a).data for a in arrays)
        return content_hash(*parts, str(self.reservoir), str(self.seed), size=8).hex()

    def ranker(self, device: str) -> Ranker:
        """Return what ranks on a device."""
        return Ranker(
            self.vectors, self.graph, reservoir=self.reservoir, seed=self.seed,
            device=device,
        )  # fmt: skip


def begin_ranking(ranking: Ranking) -> Callable[[range], PairRanks]:
    """Return what ranks the related entities of a range of queries."""
    return ranking.ranker(check_device(ranking.device)).rank
