"""Count the CPU cores of this process, and share one pool of as many threads."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache


def available_cores() -> int:
    """Return the cores this process may use, bounded by OMP_NUM_THREADS."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(limit)) if limit.isdigit() and int(limit) else cores


@cache
def worker_threads() -> ThreadPoolExecutor:
    """Return a thread per core, which stay: to start them takes as long as a small search.

    For work that waits for no other work of theirs.
    """
    return ThreadPoolExecutor(available_cores(), "argus-worker")


os.register_at_fork(after_in_child=worker_threads.cache_clear)  # threads stay with the parent
