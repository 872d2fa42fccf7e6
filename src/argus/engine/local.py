"""Run one piece of work over many blocks: here, in one process per core, or on a cluster."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, Protocol, TypeVar

from argus.cores import available_cores
from argus.engine.config import EngineConfig
from argus.engine.packing import Packed, dumps, load, pack, save
from argus.errors import ArgusError

S = TypeVar("S")
B = TypeVar("B")
R = TypeVar("R")
AHEAD = 2  # blocks per worker that are out at once: one that it works on, one that waits


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

    An error of a block's work is raised here as it was, and ends the run.
    """

    @property
    def name(self) -> str:
        """As on the command line: local, ray."""

    def run(self, work: Work[S, B, R], blocks: Iterable[B]) -> Iterator[tuple[int, R]]:
        """Yield (number of the block, its result) as blocks are done, in any order.

        blocks: taken as there is room, never far ahead of finished blocks. Raises ArgusError when
        workers die, and when the cluster is lost.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Return where it ran, no machine by name: name, workers, machines; cores, gpus, ray."""
        ...

    def unseen(self, path: str) -> list[str]:
        """Return the addresses of the machines that do not see an absolute path."""
        ...


class LocalEngine:
    """Runs work on this machine.

    Work that keeps all cores busy runs in this process, as does everything with one worker, and a
    single block. Other work runs in processes, in which arrays of `shared` are read-only.
    """

    name = "local"

    def __init__(self, config: EngineConfig) -> None:
        self.workers = config.workers or available_cores()
        self._most = 0

    def run(self, work: Work[S, B, R], blocks: Iterable[B]) -> Iterator[tuple[int, R]]:
        """See `Engine.run`."""
        ahead = iter(blocks)
        first = list(islice(ahead, self.workers))
        todo = enumerate(chain(first, ahead))
        if work.threaded or len(first) < 2:
            step: Callable[[B], R] | None = None
            for number, block in todo:
                step = step or work.setup(work.shared)
                yield number, step(block)
            return
        self._most = max(self._most, len(first))
        with TemporaryDirectory(prefix="argus-") as folder:
            save(pack((work.setup, work.shared)), Path(folder))
            pool = ProcessPoolExecutor(len(first), get_context("spawn"), _begin, (folder,))
            out: dict[Future[Any], int] = {}
            try:
                while True:
                    for number, block in islice(todo, AHEAD * len(first) - len(out)):
                        out[pool.submit(_do, dumps(block))] = number
                    if not out:
                        return
                    for future in wait(out, return_when=FIRST_COMPLETED).done:
                        done, value = future.result()
                        if not done:
                            raise value
                        yield out.pop(future), Packed(value).unpack()
            except BrokenProcessPool as error:
                raise died(work.what, list(out.values())) from error
            finally:
                pool.shutdown(cancel_futures=True)

    def describe(self) -> dict[str, Any]:
        """See `Engine.describe`. workers: the most that there were, 0 where none was needed."""
        return {"name": self.name, "workers": self._most, "machines": 1}

    def unseen(self, path: str) -> list[str]:
        """See `Engine.unseen`."""
        return []


def died(what: str, numbers: list[int], how: str = "") -> ArgusError:
    """Return the error of workers that die on some blocks."""
    return ArgusError(
        f"{what}: workers ended while they started or worked on blocks {min(numbers, default=0)} "
        f"to {max(numbers, default=0)}{how}. Most likely memory ran out: take smaller batches, "
        "fewer --workers or a larger machine, and run the same command again. Finished blocks are "
        "kept. (A script that uses Argus must start its work below `if __name__ == '__main__':`.)"
    )


_step: Callable[[Any], Any] | Exception | None = None
"""In a worker: the function that does a block, or the error of setting it up."""


def _begin(folder: str) -> None:
    """Set a worker up: once, for all blocks that it does."""
    global _step
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    with suppress(ImportError):  # it comes with what embeds
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)
    _step = begin(load(Path(folder)))


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


def _do(payload: bytes) -> tuple[bool, Any]:
    return outcome(_step, payload)


def begin(packed: Packed) -> Callable[[Any], Any] | Exception:
    """Return, in a worker, the function that does a block, or the error of setting it up."""
    try:
        setup, shared = packed.unpack()
        step: Callable[[Any], Any] = setup(shared)
    except Exception as error:
        return error
    return step


def outcome(step: Callable[[Any], Any] | Exception | None, payload: bytes) -> tuple[bool, Any]:
    """Return (True, packed result) of a block, or (False, error) that survives the way back."""
    try:
        if isinstance(step, Exception):
            raise step
        assert step is not None
        return True, dumps(step(Packed(payload).unpack()))
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)).rstrip())
        error.__traceback__ = error.__cause__ = error.__context__ = None
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # whatever its class does when it is pickled
            plain = RuntimeError(f"{type(error).__name__}: {error}")
            plain.__notes__ = error.__notes__
            return False, plain
        return False, error
