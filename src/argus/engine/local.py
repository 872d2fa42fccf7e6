"""Run one function over many blocks of data: in this process, or in one process per core.

`LocalEngine.run`: a `Work` and blocks -> (number of the block, its result) as they are done. Large
arrays are shared, or read from the file that they are mapped from. `EngineConfig` holds the
options, and a job expects the protocol `Engine`. `on_ray` runs the same on a cluster.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import re
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, Protocol, TypeVar

from argus.cores import available_cores
from argus.errors import ArgusError, InputError
from argus.settings import Ge, Option, check_settings

if TYPE_CHECKING:
    import numpy as np

S = TypeVar("S")
B = TypeVar("B")
R = TypeVar("R")
ADDRESS = re.compile(r"(ray://)?(\[[0-9a-fA-F:]+\]|[^\s:/@\[\]]+):(\d{1,5})")
AHEAD = 2  # blocks per worker that are out at once: one that it works on, one that waits
LARGE = 64 << 10  # bytes from which an array is laid beside the pickle


@dataclass(frozen=True, kw_only=True)
class EngineConfig:
    """Settings of an engine.

    address: host:port of a cluster's head, ray://host:port, or auto for the one of this machine.
    None starts one of this machine alone. workers: None takes a worker per core, or per machine (or
    accelerator) for work that keeps all cores busy.

    Attributes:
        name: local: this machine; work that keeps all cores busy by itself stays in one process.
            ray: a Ray cluster. Default: this process. Results are the same; models and keys have to
            be where workers look for them; endpoints of language models are asked from here anyway.
        address: Of a Ray cluster that runs; default: one of this machine, for this run.
        workers: Processes at once, of work that does not keep all cores busy by itself; on a
            cluster of all work. Default: what machine and work allow.
    """

    name: Annotated[Literal["local", "ray"], Option(("--engine",), panel="Engine")] = "local"
    address: Annotated[str | None, Option(panel="Engine")] = None
    workers: Annotated[int | None, Ge(1), Option(panel="Engine")] = None

    def __post_init__(self) -> None:
        check_settings(self)
        got, where, address = repr(self.address), "--address", self.address
        if address is not None and self.name == "local":
            got, expected = f"{got} for the local engine", "an address of a cluster alone"
            fix = "Add --engine ray, or leave the address out."
            raise InputError(got, expected=expected, fix=fix, where=where)
        if address not in (None, "auto") and ADDRESS.fullmatch(address) is None:
            expected = "host:port of a cluster's head, ray://host:port, or auto"
            fix = "The head says it when it starts: ray start --head --port 6379."
            raise InputError(got, expected=expected, fix=fix, where=where)


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
        """Return where it ran, no machine by name: name, workers, machines."""
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
            for number, content in enumerate(pack((work.setup, work.shared))):
                Path(folder, str(number)).write_bytes(content)
            pool = ProcessPoolExecutor(len(first), get_context("spawn"), _begin, (folder,))
            out: dict[Future[Any], int] = {}
            try:
                while True:
                    for number, block in islice(todo, AHEAD * len(first) - len(out)):
                        out[pool.submit(_do, block)] = number
                    if not out:
                        return
                    for future in wait(out, return_when=FIRST_COMPLETED).done:
                        yield out.pop(future), future.result()
            except BrokenProcessPool as error:
                raise died(work.what) from error
            finally:
                pool.shutdown(cancel_futures=True)

    def describe(self) -> dict[str, Any]:
        """See `Engine.describe`. workers: the most that there were, 0 where none was needed."""
        return {"name": self.name, "workers": self._most, "machines": 1}


def died(what: str) -> ArgusError:
    """Return the error of workers that die."""
    return ArgusError(
        f"{what}: workers ended while they worked. Most likely memory ran out: take smaller "
        "batches, fewer --workers or a larger machine, and run the same command again. Finished "
        "blocks are kept. (A script that uses Argus must start its work below "
        "`if __name__ == '__main__':`.)"
    )


# In a worker: the folder of the packed work.
_folder = Path()
# In a worker: the function that does a block, from the first one on.
_step: Callable[[Any], Any] | None = None


def _begin(folder: str) -> None:
    """Prepare a worker process."""
    global _folder
    _folder = Path(folder)
    parent = parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    threading.Thread(target=end_with_parent, daemon=True).start()
    os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    with suppress(ImportError):  # it comes with what embeds
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)


def _do(block: Any) -> Any:
    global _step
    if _step is None:
        import numpy as np

        n = len(list(_folder.iterdir()))
        buffers = [np.memmap(_folder / str(number), np.uint8, "r") for number in range(1, n)]
        setup, shared = pickle.loads((_folder / "0").read_bytes(), buffers=buffers)
        _step = setup(shared)
    return _step(block)


def pack(value: object) -> Sequence[bytes | memoryview]:
    """Return a pickle, then the large arrays that it refers to, not copied.

    An array that is mapped from a file is not among them: it travels as the file's path and the
    place in it. Arrays that come out of the pickle are read-only.
    """
    buffers: list[memoryview] = []

    def inside(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes >= LARGE:
            buffers.append(raw)
        return raw.nbytes < LARGE

    stream = io.BytesIO()
    _Pickler(stream, protocol=5, buffer_callback=inside).dump(value)
    return [stream.getvalue(), *buffers]


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        mapped = getattr(obj, "_mmap", None)  # of a numpy.memmap, or of a part of one
        if mapped is None or obj.mode == "c" or not (obj.size and obj.flags.c_contiguous):
            return NotImplemented
        import numpy as np

        start = obj.offset - obj.offset % mmap.ALLOCATIONGRANULARITY
        begin = obj.ctypes.data - np.frombuffer(mapped, np.uint8).ctypes.data
        return _map, (os.path.abspath(obj.filename), obj.dtype, start + begin, obj.shape)  # noqa: PTH100


def _map(path: str, dtype: np.dtype[Any], offset: int, shape: tuple[int, ...]) -> Any:
    """Return an array of a file's content, read-only."""
    import numpy as np

    try:
        return np.memmap(path, dtype, "r", offset, shape)
    except (FileNotFoundError, PermissionError, ValueError) as error:
        import socket

        got = f"a worker on {socket.gethostname()} cannot read it ({error})"
        expected = "a file that all machines see under the same path"
        fix = "Put it on storage that they share, or use --engine local."
        raise InputError(got, expected=expected, fix=fix, where=path) from error
