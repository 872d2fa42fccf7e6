"""Pair ranks written part by part, so that a killed audit goes on where it stopped."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from argus.data.artifacts import ArtifactFolder, replacing
from argus.data.provenance import content_hash
from argus.data.types import FloatArray
from argus.knowledge import RelationGraph
from argus.progress import progress
from argus.retrievability.ranks import RESERVOIR_QUERIES, PairRanks, pair_ranks

if TYPE_CHECKING:
    from argus.workflows.audit import AuditConfig

PARTS = "ranks"
PART_QUERIES = 4 * RESERVOIR_QUERIES


def ranks_in_parts(
    vectors: FloatArray,
    graph: RelationGraph,
    folder: ArtifactFolder,
    config: AuditConfig,
    reservoir: int | None,
) -> PairRanks:
    """Return `pair_ranks` of all queries, computing only the parts not on disk from before.

    Parts are keyed by what determines them: vectors, edges, reservoir, seed. `remove_parts` removes
    them when the results are written.
    """
    home = folder / PARTS / _key(vectors, graph, reservoir, config.seed)
    home.mkdir(parents=True, exist_ok=True)
    parts = []
    with progress("ranking", graph.n) as advance:
        for start in range(0, graph.n, PART_QUERIES):
            queries = range(start, min(start + PART_QUERIES, graph.n))
            path = home / f"{start:09d}.npz"
            part = _read(path)
            if part is None:
                part = pair_ranks(
                    vectors, graph, queries=queries, device=config.device or "cpu",
                    reservoir=reservoir, seed=config.seed, advance=advance,
                )  # fmt: skip
                _write(path, part)
            else:
                advance(len(queries))
            parts.append(part)
    return PairRanks.concatenate(parts)


def remove_parts(folder: ArtifactFolder) -> None:
    """Remove the parts of this and of earlier settings."""
    shutil.rmtree(folder / PARTS, ignore_errors=True)


def _key(vectors: FloatArray, graph: RelationGraph, reservoir: int | None, seed: int) -> str:
    arrays = (np.ascontiguousarray(a).data for a in (vectors, graph.indptr, graph.indices))
    return content_hash(*arrays, str(reservoir), str(seed), size=8).hex()


def _read(path: Path) -> PairRanks | None:
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as data:
        return PairRanks(**{name: data[name] for name in data.files})


def _write(path: Path, part: PairRanks) -> None:
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **asdict(part))
