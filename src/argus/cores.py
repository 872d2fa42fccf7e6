"""How many cores there are for this process."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Return the cores this process may use, bounded by OMP_NUM_THREADS."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(limit)) if limit.isdigit() and int(limit) else cores
