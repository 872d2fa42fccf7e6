"""What an engine's machines are like, and whether they can run what Argus does."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import TypedDict

from argus.engine.protocol import EngineRecord


class NodeCheck(TypedDict):
    """A machine. memory, object_store: bytes; None where they are not known.

    argus: its version there, None where it cannot be imported. sees: whether it sees the path asked
    for. latency_ms: a small block's round trip. mib_per_s: a block of 64 MiB on its way there.
    problem: why it cannot work with this machine; None where it can.
    """

    address: str
    host: str | None
    cores: int
    gpus: int
    memory: int | None
    object_store: int | None
    python: str | None
    ray: str | None
    argus: str | None
    sees: bool | None
    latency_ms: float | None
    mib_per_s: float | None
    problem: str | None


class EngineCheck(TypedDict):
    """What `argus engine check --json` gives."""

    engine: EngineRecord
    good: bool
    verdict: str
    nodes: list[NodeCheck]


def words_of(node: NodeCheck) -> str:
    """Return a machine as one line for people."""
    memory, store, latency_ms = node["memory"], node["object_store"], node["latency_ms"]
    facts = [f"{node['cores']} cores", f"{node['gpus']} GPUs"]
    facts += [f"{memory / 2**30:.1f} GiB"] if memory else []
    facts += [f"object store {store / 2**30:.1f} GiB"] if store else []
    facts += [f"Python {node['python']}"] if node["python"] else []
    facts += [f"Ray {node['ray']}"] if node["ray"] else []
    facts += [f"argus {node['argus']}"] if node["argus"] else []
    facts += [f"block {latency_ms:.1f} ms"] if latency_ms is not None else []
    facts += [f"{node['mib_per_s']:,.0f} MiB/s"] if node["mib_per_s"] is not None else []
    address, host = node["address"], node["host"]
    name = address if host in (None, address) else f"{address} {host}"
    return f"{name}: {', '.join(facts)}: {node['problem'] or 'good'}"


@dataclass(frozen=True, kw_only=True)
class Check:
    """An engine as it was tried out. engine: as `Engine.describe` says."""

    engine: EngineRecord
    nodes: tuple[NodeCheck, ...]

    @property
    def good(self) -> bool:
        """Whether every machine can work, and there is a worker."""
        return all(node["problem"] is None for node in self.nodes) and self.engine["workers"] != 0

    @property
    def verdict(self) -> str:
        """The last line for people."""
        machines, workers = len(self.nodes), self.engine["workers"]
        if self.good:
            return f"good: {workers} workers on {machines} machine{'s' * (machines != 1)}"
        if bad := sum(node["problem"] is not None for node in self.nodes):
            return f"not good: {bad} of {machines} machines cannot work; mend what is said of them"
        return "not good: no machine has cores for workers; start one: ray start --address HEAD"

    @property
    def summary(self) -> EngineCheck:
        """The same for machines."""
        return {
            "engine": self.engine,
            "good": self.good,
            "verdict": self.verdict,
            "nodes": list(self.nodes),
        }
