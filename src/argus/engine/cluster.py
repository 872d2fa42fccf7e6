"""What a cluster consists of, and where workers sit on it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NotRequired

from typing_extensions import TypedDict


@dataclass(frozen=True, kw_only=True)
class Node:
    """A machine of a cluster; memory and object store in bytes."""

    id: str
    address: str
    cores: int
    gpus: int
    memory: int
    object_store: int


@dataclass(frozen=True, kw_only=True)
class Seat:
    """Room for one worker. threads: what BLAS may use."""

    node: str
    cores: int
    gpus: int
    threads: int


class Facts(TypedDict):
    """What a machine says of itself; argus is None, with the reason, where it is not installed.

    sees: whether the path asked for is there; None where there was none.
    """

    host: str
    python: str
    ray: str
    argus: str | None
    sees: NotRequired[bool | None]
    reason: NotRequired[str]


class RayNode(TypedDict):
    """A machine as `ray.nodes()` has it, as far as it is read."""

    NodeID: str
    NodeManagerAddress: str
    Alive: bool
    Resources: dict[str, float]


def living(nodes: Sequence[RayNode]) -> list[Node]:
    """Return the machines that are up, of what `ray.nodes()` says."""
    return [
        Node(
            id=node["NodeID"],
            address=node["NodeManagerAddress"],
            cores=int(node["Resources"].get("CPU", 0)),
            gpus=int(node["Resources"].get("GPU", 0)),
            memory=int(node["Resources"].get("memory", 0)),
            object_store=int(node["Resources"].get("object_store_memory", 0)),
        )
        for node in nodes
        if node["Alive"]
    ]


def seats(nodes: Sequence[Node], *, threaded: bool, workers: int | None) -> list[Seat]:
    """Return where workers sit: one per core; threaded ones one per GPU, else one per machine.

    workers: at most so many, spread over the machines; threaded ones on machines without a GPU
    divide the cores of theirs.
    """
    if not threaded:
        rows = [[_seat(node, 1)] * node.cores for node in nodes]
    elif any(node.gpus for node in nodes):
        rows = [[_seat(n, n.cores // n.gpus, gpus=1)] * n.gpus for n in nodes if n.gpus]
    else:
        able = [node for node in nodes if node.cores]
        shares = [len(range(i, workers or len(able), len(able))) for i in range(len(able))]
        rows = [
            [_seat(node, node.cores // min(share, node.cores))] * min(share, node.cores)
            for node, share in zip(able, shares, strict=True)
            if share
        ]
    spread = [seat for turn in zip_longest(*rows) for seat in turn if seat is not None]
    return spread[:workers]


def _seat(node: Node, cores: int, gpus: int = 0) -> Seat:
    return Seat(node=node.id, cores=cores, gpus=gpus, threads=max(1, cores))


def argus_version() -> str:
    """Return the version of Argus here; by name, as engines know nothing of what is above them."""
    return str(importlib.import_module("argus").__version__)


def facts_of_node() -> Callable[[str | None], Facts]:
    """Return a function for `Facts`, which runs where Argus is not installed, too.

    A function within a function travels as its code, not as a name to import.
    """

    def facts(path: str | None) -> Facts:
        import importlib
        import os
        import platform
        import socket

        import ray

        own: Facts = {
            "host": socket.gethostname(),
            "python": platform.python_version(),
            "ray": ray.__version__,
            "argus": None,
            "sees": None if path is None else os.path.exists(path),  # noqa: PTH110
        }
        try:
            own["argus"] = importlib.import_module("argus").__version__
        except Exception as error:  # whatever a broken installation raises
            own["reason"] = f"{type(error).__name__}: {error}"
        return own

    return facts
