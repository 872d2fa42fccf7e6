"""Fuzzing: damaged input to every reader; only an ArgusError may come out, soon, in little memory."""

from __future__ import annotations

import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from argus.errors import ArgusError
from benchmarks.faults.mutate import mutations

LONGEST_S = 5.0
"""Of one file of a few kilobytes."""
MOST_BYTES = 3 << 30
"""Address space that a reader may take beyond what is taken when it begins."""


@dataclass(frozen=True)
class Reader:
    """What reads a file, or bytes. seeds: makes whole files. quick: cheap enough for each test."""

    name: str
    suffix: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], object]


@dataclass
class Fuzzed:
    """What became of a reader's mutations. by: kinds of what escaped, with the first number."""

    reader: str
    tries: int = 0
    refused: int = 0
    escaped: int = 0
    slow: int = 0
    seconds: float = 0.0
    by: dict[str, int] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        return asdict(self)


class TooSlow(Exception):
    """A reader took longer than LONGEST_S."""


def fuzz(reader: Reader, first: int, last: int) -> Fuzzed:
    """Try the mutations of a reader's seeds from one number to another; seeds have to be read."""
    told = Fuzzed(reader.name)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, bounds():
        path = Path(folder) / f"seed{reader.suffix}"
        for seed in reader.seeds():
            path.write_bytes(seed)
            consume(reader.read(path))
        for n, data in mutations(reader.seeds(), reader.name, first, last):
            path.write_bytes(data)
            told.tries += 1
            kind = outcome(reader, path)
            if kind == "refused":
                told.refused += 1
            elif kind == "slow":
                told.slow += 1
                told.by.setdefault("slow", n)
            elif kind:
                told.escaped += 1
                told.by.setdefault(kind, n)
    told.seconds = round(time.monotonic() - begin, 1)
    return told


def outcome(reader: Reader, path: Path) -> str:
    """Read a file: "" where that went well, "refused", "slow", or what escaped and from where."""
    signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
    try:
        consume(reader.read(path))
    except ArgusError:
        return "refused"
    except TooSlow:
        return "slow"
    except Exception as error:
        return f"{type(error).__name__} at {_where(error)}: {str(error)[:80]}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return ""


def consume(value: object) -> None:
    """Read an iterator to its end."""
    if isinstance(value, Iterator):
        for _ in value:
            pass


@contextmanager
def bounds() -> Iterator[None]:
    """Bound time and address space for as long as a block lasts."""

    def late(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, late)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_taken() + MOST_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)


def _taken() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def _where(error: BaseException) -> str:
    """Return the last line of Argus that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/argus/" in f.filename and "site-packages" not in f.filename]
    last = own[-1] if own else frames[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def main(names: Iterable[str]) -> None:
    """Try 200 mutations of some readers: `python -m benchmarks.faults.fuzz NAME ...`."""
    from benchmarks.faults.readers import READERS

    chosen = list(names)
    for reader in READERS:
        if not chosen or reader.name in chosen:
            print(fuzz(reader, 0, 200).record(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
