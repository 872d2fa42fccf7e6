"""Fuzzing: of damaged input only an ArgusError may come, soon and in little memory."""

from __future__ import annotations

import json
import os
import resource
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
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


def fuzz(
    reader: Reader, first: int, last: int, at: Callable[[int], object] = lambda n: None
) -> Fuzzed:
    """Try the mutations of a reader's seeds from one number to another; seeds have to be read.

    at: told the number of each before it is read.
    """
    told = Fuzzed(reader.name)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, bounds():
        path = Path(folder) / f"seed{reader.suffix}"
        for seed in reader.seeds():
            path.write_bytes(seed)
            consume(reader.read(path))
        for n, data in mutations(reader.seeds(), reader.name, first, last):
            path.write_bytes(data)
            at(n)
            told.tries += 1
            kind = outcome(reader, path)
            if kind == "slow":  # or the machine stood still
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


def outcome(reader: Reader, path: Path, timer: int = signal.ITIMER_REAL) -> str:
    """Read a file: "" where that went well, "refused", "slow", or what escaped and from where.

    timer: ITIMER_VIRTUAL counts processor time, where others may hold the machine up.
    """
    signal.setitimer(timer, LONGEST_S)
    try:
        consume(reader.read(path))
    except ArgusError:
        return "refused"
    except TooSlow:
        return "slow"
    except Exception as error:
        return f"{type(error).__name__} at {_where(error)}: {str(error)[:80]}"
    finally:
        signal.setitimer(timer, 0)
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

    before = {one: signal.signal(one, late) for one in (signal.SIGALRM, signal.SIGVTALRM)}
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_taken() + MOST_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        for one, handler in before.items():
            signal.signal(one, handler)


def _taken() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def _where(error: BaseException) -> str:
    """Return the last line of Argus that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/argus/" in f.filename and "site-packages" not in f.filename]
    last = own[-1] if own else frames[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def fuzzed_apart(reader: Reader, first: int, last: int) -> Fuzzed:
    """Do the same in processes of their own: what ends one is told, and the next goes on."""
    total = Fuzzed(reader.name)
    while first < last:
        with tempfile.NamedTemporaryFile() as file:
            place = Path(file.name)
            child = os.fork()
            if child == 0:
                _in_child(reader, first, last, place)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            told = place.read_text(encoding="utf-8")
        if code == 0:
            part = Fuzzed(**json.loads(told))
            last_done = last
        elif not told:
            raise RuntimeError(f"{reader.name}: its seeds cannot be read")
        else:  # the number that it was at stands in the file
            at = int(told or first)
            part = Fuzzed(reader.name, at - first + 1, escaped=1, by={f"ended with {code}": at})
            last_done = at + 1
        _add(total, part)
        first = last_done
    return total


def _in_child(reader: Reader, first: int, last: int, place: Path) -> None:
    code = 1
    try:
        told = fuzz(reader, first, last, at=lambda n: place.write_text(str(n), encoding="utf-8"))
        place.write_text(json.dumps(told.record()), encoding="utf-8")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _add(total: Fuzzed, part: Fuzzed) -> None:
    for name in ("tries", "refused", "escaped", "slow"):
        setattr(total, name, getattr(total, name) + getattr(part, name))
    total.seconds = round(total.seconds + part.seconds, 1)
    total.by = part.by | total.by
