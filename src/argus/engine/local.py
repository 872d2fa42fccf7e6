"""Run work on this machine: in this process, or in one per core (concurrent.futures)."""

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
from itertools import chain, islice
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from argus.cores import available_cores
from argus.engine.config import EngineConfig
from argus.engine.packing import Packed, dumps, load, pack, save
from argus.engine.protocol import EngineRecord, Work
from argus.errors import ArgusError

S = TypeVar("S")
B = TypeVar("B")
R = TypeVar("R")
AHEAD = 2
"""Blocks per worker that are out at once: one that it works on, one that waits."""
MAX_DEATHS = 3
"""Times that workers may die of one block, or before any is done."""


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
        if work.threaded or len(first) < 2:
            step = None
            for number, block in enumerate(chain(first, ahead)):
                step = step or work.setup(work.shared)
                yield number, step(block)
            return
        self._most = max(self._most, len(first))
        with TemporaryDirectory(prefix="argus-") as folder:
            save(pack((work.setup, work.shared)), Path(folder))
            yield from _spread(enumerate(chain(first, ahead)), len(first), folder, work.what)

    def describe(self) -> EngineRecord:
        """See `Engine.describe`. workers: the most that there were, 0 where none was needed."""
        return {"name": self.name, "workers": self._most, "machines": 1}

    def unseen(self, path: str) -> list[str]:
        """See `Engine.unseen`."""
        return []


def _spread(
    blocks: Iterator[tuple[int, Any]], workers: int, folder: str, what: str
) -> Iterator[tuple[int, Any]]:
    """Yield the results of blocks that processes do. Start them again where one of them dies."""
    todo: dict[int, bytes] = {}  # blocks taken that are not done
    suspects: list[int] = []  # those that were out when a worker died: each is done alone
    deaths = 0
    while True:
        pool = ProcessPoolExecutor(workers, get_context("spawn"), _begin, (folder,))
        out: dict[Future[Any], int] = {}
        try:
            while True:
                if not suspects:
                    for number, block in islice(blocks, AHEAD * workers - len(out)):
                        todo[number] = dumps(block)
                        out[pool.submit(_do, todo[number])] = number
                elif not out:
                    out[pool.submit(_do, todo[suspects[0]])] = suspects[0]
                if not out:
                    return
                for future in wait(out, return_when=FIRST_COMPLETED).done:
                    number = out.pop(future)
                    done, value = future.result()
                    if not done:
                        raise value
                    suspects, deaths = suspects[1:], 0
                    del todo[number]
                    yield number, Packed(value).unpack()
        except BrokenProcessPool as error:
            deaths += bool(suspects)
            if deaths == MAX_DEATHS:
                raise died(what, suspects[:1]) from error
            suspects = suspects or list(todo)
        finally:
            pool.shutdown(cancel_futures=True)


def died(what: str, numbers: list[int], how: str = "") -> ArgusError:
    """Return the error of workers that die again and again on some blocks."""
    return ArgusError(
        f"{what}: workers ended {MAX_DEATHS} times, one after the other, while they started or "
        f"worked on blocks {min(numbers, default=0)} to {max(numbers, default=0)}{how}. Most "
        "likely memory ran out: take smaller batches, fewer --workers or a larger machine, and run "
        "the same command again. Finished blocks are kept. (A script that uses Argus must start "
        "its work below `if __name__ == '__main__':`.)"
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
    try:
        setup, shared = load(Path(folder)).unpack()
        _step = setup(shared)
    except Exception as error:
        _step = error


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


def _do(payload: bytes) -> tuple[bool, Any]:
    return outcome(_step, payload)


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
