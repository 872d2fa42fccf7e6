"""Whether an engine can run what Argus does: its machines, and a block sent to each and back."""

from __future__ import annotations

import os
import platform
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from argus.cores import available_cores
from argus.engine.cluster import argus_version
from argus.engine.config import EngineConfig
from argus.engine.protocol import Work

_TRIES = 50
_LARGE = 64 << 20
_PATIENCE_S = 10.0


@dataclass(frozen=True, kw_only=True)
class NodeCheck:
    """A machine. memory, object_store: bytes; None where they are not known.

    argus: its version there, None where it cannot be imported. sees: whether it sees the path asked
    for. latency_ms: a small block's round trip. mib_per_s: a block of 64 MiB on its way there.
    problem: why it cannot work with this machine; None where it can.
    """

    address: str
    host: str | None = None
    cores: int
    gpus: int = 0
    memory: int | None = None
    object_store: int | None = None
    python: str | None = None
    ray: str | None = None
    argus: str | None = None
    sees: bool | None = None
    latency_ms: float | None = None
    mib_per_s: float | None = None
    problem: str | None = None

    @property
    def words(self) -> str:
        """One line for people."""
        facts = [f"{self.cores} cores", f"{self.gpus} GPUs"]
        facts += [f"{self.memory / 2**30:.1f} GiB"] if self.memory else []
        facts += [f"object store {self.object_store / 2**30:.1f} GiB"] if self.object_store else []
        facts += [f"Python {self.python}"] if self.python else []
        facts += [f"Ray {self.ray}"] if self.ray else []
        facts += [f"argus {self.argus}"] if self.argus else []
        facts += [f"block {self.latency_ms:.1f} ms"] if self.latency_ms is not None else []
        facts += [f"{self.mib_per_s:,.0f} MiB/s"] if self.mib_per_s is not None else []
        name = self.address if self.host in (None, self.address) else f"{self.address} {self.host}"
        return f"{name}: {', '.join(facts)}: {self.problem or 'good'}"


@dataclass(frozen=True, kw_only=True)
class Check:
    """What was found. engine: as `Engine.describe` says."""

    engine: dict[str, object]
    nodes: tuple[NodeCheck, ...]

    @property
    def good(self) -> bool:
        """Whether every machine can work, and there is a worker."""
        return all(node.problem is None for node in self.nodes) and self.engine["workers"] != 0

    @property
    def verdict(self) -> str:
        """The last line for people."""
        machines, workers = len(self.nodes), self.engine["workers"]
        if self.good:
            return f"good: {workers} workers on {machines} machine{'s' * (machines != 1)}"
        if bad := sum(node.problem is not None for node in self.nodes):
            return f"not good: {bad} of {machines} machines cannot work; mend what is said of them"
        return "not good: no machine has cores for workers; start one: ray start --address HEAD"

    @property
    def summary(self) -> dict[str, Any]:
        """The same for machines."""
        nodes = [asdict(node) for node in self.nodes]
        return {"engine": self.engine, "good": self.good, "verdict": self.verdict, "nodes": nodes}


def check_engine(config: EngineConfig, path: Path | None = None) -> Check:
    """Try an engine out.

    path: something that all machines have to see, such as the knowledge base. Raises ArgusError
    where the cluster does not answer, InputError where Ray is missing or of another version.
    """
    where = None if path is None else str(path.absolute())
    if config.name == "ray":
        from argus.engine.ray_engine import RayEngine

        with RayEngine(config, strict=False) as cluster:
            nodes = tuple(NodeCheck(**fields) for fields in cluster.check(where))
            return Check(engine=cluster.describe(), nodes=nodes)
    return _check_local(config, path)


def _check_local(config: EngineConfig, path: Path | None) -> Check:
    from argus.engine.local import LocalEngine

    sees = None if path is None else path.exists()
    latency_ms, mib_per_s = _measure()
    node = NodeCheck(
        address="this machine",
        host=socket.gethostname(),
        cores=available_cores(),
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        python=platform.python_version(),
        argus=argus_version(),
        sees=sees,
        latency_ms=latency_ms,
        mib_per_s=mib_per_s,
        problem=f"it does not see {path}" if sees is False else None,
    )
    engine = LocalEngine(config)
    return Check(engine=engine.describe() | {"workers": engine.workers}, nodes=(node,))


def _measure() -> tuple[float, float]:
    """Return the milliseconds that a process takes for a tiny block, and MiB/s of a large one."""
    from argus.engine.blocks import Blocks
    from argus.engine.local import Crew

    given: list[float] = []

    def blocks() -> Iterator[bytes]:
        for size in [1] * (1 + _TRIES) + [_LARGE]:
            block = bytes(size)
            given.append(time.perf_counter())
            yield block

    crew = Crew(Work(setup=_set_up, shared=None, what="check"), 1)
    try:
        results = crew.results(Blocks(blocks(), "check"))
        back = [time.perf_counter() for _ in results]
    finally:
        crew.close(grace_s=_PATIENCE_S)
    tiny_s = (back[-3] - back[0]) / (len(back) - 3)  # the last tiny one waits for the large one
    return 1e3 * tiny_s, (_LARGE >> 20) / (back[-1] - given[-1])


def _set_up(_: None) -> Callable[[bytes], int]:
    return len
