"""Whether an engine can run what Argus does: its machines, and a block sent to each and back."""

from __future__ import annotations

import os
import platform
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from argus.cores import available_cores
from argus.engine.cluster import argus_version
from argus.engine.config import EngineConfig
from argus.engine.protocol import Work
from argus.engine.verdict import Check, NodeCheck

_TRIES = 50
_LARGE = 64 << 20
_PATIENCE_S = 10.0


def check_engine(config: EngineConfig, path: Path | None = None) -> Check:
    """Try an engine out.

    path: something that all machines have to see, such as the knowledge base. Raises ArgusError
    where the cluster does not answer, InputError where Ray is missing or of another version.
    """
    where = None if path is None else str(path.absolute())
    if config.name == "ray":
        from argus.engine.ray_engine import RayEngine

        with RayEngine(config, strict=False) as cluster:
            return Check(nodes=tuple(cluster.check(where)), engine=cluster.describe())
    return _check_local(config, path)


def _check_local(config: EngineConfig, path: Path | None) -> Check:
    from argus.engine.local import LocalEngine

    sees = None if path is None else path.exists()
    latency_ms, mib_per_s = _measure()
    node = NodeCheck(
        address="this machine",
        host=socket.gethostname(),
        cores=available_cores(),
        gpus=0,
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        object_store=None,
        python=platform.python_version(),
        ray=None,
        argus=argus_version(),
        sees=sees,
        latency_ms=latency_ms,
        mib_per_s=mib_per_s,
        problem=f"it does not see {path}" if sees is False else None,
    )
    engine = LocalEngine(config)
    return Check(engine={**engine.describe(), "workers": engine.workers}, nodes=(node,))


def _measure() -> tuple[float, float]:
    """Return the milliseconds that a process takes for a tiny block, and MiB/s of a large one."""
    from argus.engine.blocks import Blocks
    from argus.engine.local import Crew

    sent_s: list[float] = []

    def blocks() -> Iterator[bytes]:
        for size in [1] * (1 + _TRIES) + [_LARGE]:
            block = bytes(size)
            sent_s.append(time.perf_counter())
            yield block

    crew = Crew(Work(setup=_set_up, shared=None, what="check"), 1)
    try:
        results = crew.results(Blocks(blocks(), "check"))
        back = [time.perf_counter() for _ in results]
    finally:
        crew.close(grace_s=_PATIENCE_S)
    tiny_s = (back[-3] - back[0]) / (len(back) - 3)  # the last tiny one waits for the large one
    return 1e3 * tiny_s, (_LARGE >> 20) / (back[-1] - sent_s[-1])


def _set_up(_: None) -> Callable[[bytes], int]:
    return len
