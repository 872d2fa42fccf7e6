"""What every machine of a cluster is like, tried out. Runs where Ray's driver is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from argus.engine.cluster import Facts, Node, argus_version
from argus.engine.ray_connect import facts_of_nodes, misfit
from argus.engine.verdict import NodeCheck

if TYPE_CHECKING:
    import numpy as np

TRIES = 5
LARGE = 64 << 20
"""Bytes of the array that is sent to every machine."""
_PATIENCE_S = 30.0


def check_nodes(ray: ModuleType, nodes: list[Node], path: str | None) -> list[NodeCheck]:
    """Try every machine out."""
    facts_of = facts_of_nodes(ray, nodes, path)
    return [_check(ray, node, facts_of[node.id], path) for node in nodes]


def _check(ray: ModuleType, node: Node, facts: Facts | None, path: str | None) -> NodeCheck:
    problem = misfit(node, facts, argus_version(), ray.__version__)
    if problem is None and facts is not None and facts.get("sees") is False:
        problem = f"{node.address} ({facts['host']}) does not see {path}"
    if problem is None and node.object_store < 2 * LARGE:
        problem = f"{node.address} has an object store of only {node.object_store >> 20} MiB"
    latency_ms = mib_per_s = None
    if facts is not None:
        try:
            latency_ms, mib_per_s = _measure(ray, node)
        except ray.exceptions.RayError as error:
            words = str(error).partition("\n")[0][:200]
            reason = f"{node.address} did not return a block ({type(error).__name__}: {words})"
            problem = problem or reason
    return {
        "address": node.address,
        "host": facts and facts["host"],
        "cores": node.cores,
        "gpus": node.gpus,
        "memory": node.memory,
        "object_store": node.object_store,
        "python": facts and facts["python"],
        "ray": facts and facts["ray"],
        "argus": facts and facts["argus"],
        "sees": facts and facts.get("sees"),
        "latency_ms": latency_ms,
        "mib_per_s": mib_per_s,
        "problem": problem,
    }


def _measure(ray: ModuleType, node: Node) -> tuple[float, float]:
    """Return the milliseconds of a small block's round trip, and MiB/s of a large one's way."""
    import numpy as np
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task = ray.remote(_size()).options(
        num_cpus=0,
        max_retries=0,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False),
    )

    def seconds(array: np.ndarray) -> float:
        began = time.perf_counter()
        ray.get(task.remote(ray.put(array)), timeout=_PATIENCE_S)
        return time.perf_counter() - began

    small = [seconds(np.zeros(1, np.uint8)) for _ in range(1 + TRIES)][1:]
    large = seconds(np.zeros(LARGE, np.uint8))
    return 1e3 * statistics.median(small), (LARGE >> 20) / large


def _size() -> Callable[[np.ndarray], int]:
    """Return a function within a function: it travels as its code, so Argus is not needed."""

    def size(array: np.ndarray) -> int:
        return int(array.nbytes)

    return size
