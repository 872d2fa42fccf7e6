"""What every machine of a cluster is like, tried out. Runs where Ray's driver is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from argus.engine.cluster import Facts, Node, argus_version
from argus.engine.ray_connect import facts, misfit

TRIES = 5
LARGE = 64 << 20
"""Bytes of the array that is sent to every machine."""
_PATIENCE_S = 30.0


def check_nodes(ray: Any, nodes: list[Node], path: str | None) -> list[dict[str, Any]]:
    """Return the fields of a `NodeCheck` for every machine."""
    found = facts(ray, nodes, path)
    return [_check(ray, node, found[node.id], path) for node in nodes]


def _check(ray: Any, node: Node, found: Facts | None, path: str | None) -> dict[str, Any]:
    problem = misfit(node, found, argus_version(), ray.__version__)
    if problem is None and found is not None and found.sees is False:
        problem = f"{node.address} ({found.host}) does not see {path}"
    if problem is None and node.object_store < 2 * LARGE:
        problem = f"{node.address} has an object store of only {node.object_store >> 20} MiB"
    checked: dict[str, Any] = {
        "address": node.address,
        "cores": node.cores,
        "gpus": node.gpus,
        "memory": node.memory,
        "object_store": node.object_store,
        "problem": problem,
    }
    if found is None:
        return checked
    checked |= {name: getattr(found, name) for name in ("host", "python", "ray", "argus", "sees")}
    try:
        latency_ms, mib_per_s = _measure(ray, node)
    except ray.exceptions.RayError as error:
        said = str(error).partition("\n")[0][:200]
        reason = f"{node.address} did not return a block ({type(error).__name__}: {said})"
        return checked | {"problem": problem or reason}
    return checked | {"latency_ms": latency_ms, "mib_per_s": mib_per_s}


def _measure(ray: Any, node: Node) -> tuple[float, float]:
    """Return the milliseconds of a small block's round trip, and MiB/s of a large one's way."""
    import numpy as np
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task = ray.remote(_size()).options(
        num_cpus=0,
        max_retries=0,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False),
    )

    def seconds(array: Any) -> float:
        began = time.perf_counter()
        ray.get(task.remote(ray.put(array)), timeout=_PATIENCE_S)
        return time.perf_counter() - began

    small = [seconds(np.zeros(1, np.uint8)) for _ in range(1 + TRIES)][1:]
    large = seconds(np.zeros(LARGE, np.uint8))
    return 1e3 * statistics.median(small), (LARGE >> 20) / large


def _size() -> Callable[[Any], int]:
    """Return a function within a function: it travels as its code, so Argus is not needed."""

    def size(array: Any) -> int:
        return int(array.nbytes)

    return size
