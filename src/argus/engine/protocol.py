"""Define engines, which run one piece of work over many blocks, wherever their workers are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NotRequired, Protocol, TypeVar

from typing_extensions import TypedDict

S = TypeVar("S")
B = TypeVar("B")
R = TypeVar("R")


class EngineRecord(TypedDict):
    """An engine as manifests have it: where it ran, no machine by name. gpus, ray: of a cluster."""

    name: str
    workers: int
    machines: int
    cores: NotRequired[int]
    gpus: NotRequired[int]
    ray: NotRequired[str]


@dataclass(frozen=True, kw_only=True)
class Work(Generic[S, B, R]):
    """Work to do on every block.

    setup: a function of a module (workers import it by name), called once in every worker. It loads
    what all blocks need, a model say, and returns a function from block to result. Results must
    depend on the block alone, never on the worker or on the order of blocks. shared: given to
    `setup`. Sent once to every machine, arrays are not copied per worker. what: for messages, as in
    "embedding". threaded: the work keeps all cores busy by itself (BLAS, torch), so that one worker
    per machine, or per accelerator, does.
    """

    setup: Callable[[S], Callable[[B], R]]
    shared: S
    what: str
    threaded: bool = False


class Engine(Protocol):
    """Run one piece of work over many blocks.

    A worker that dies costs the blocks under way, which are done again. An error of a block's work
    is raised here as it was, and ends the run.
    """

    @property
    def name(self) -> str:
        """As on the command line: local, ray."""

    def run(self, work: Work[S, B, R], blocks: Iterable[B]) -> Iterator[tuple[int, R]]:
        """Yield (number of the block, its result) as blocks are done, in any order.

        blocks: taken as there is room, never far ahead of finished blocks. Raises ArgusError when
        workers die again and again, and when the cluster is lost.
        """
        ...

    def describe(self) -> EngineRecord:
        """Return the description for manifests: name, workers, machines."""
        ...

    def unseen(self, path: str) -> list[str]:
        """Return the addresses of the machines that do not see an absolute path."""
        ...
