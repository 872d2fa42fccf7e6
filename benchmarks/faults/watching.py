"""What a process holds while it runs, and what is left once it has ended."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from argus.data.locks import take_lock
from argus.errors import ArgusError
from benchmarks.faults.values import leftovers

PROC = Path("/proc")


@dataclass(frozen=True)
class Sample:
    """A process at a moment.

    files: open ones, sockets among them. temporary: in the folder for such. partial: temporary
    files in what is served, which jobs have while they write.
    """

    minute: float
    requests: int
    resident_mb: float
    anonymous_mb: float
    files: int
    sockets: int
    threads: int
    processes: int
    temporary: int
    partial: int
    served_files: int
    served_mb: float

    def record(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        return asdict(self)


def sampled(pid: int, served: Path, temporary: Path, minute: float, requests: int) -> Sample:
    """Return what a process holds now, its children counted alone."""
    status = (PROC / str(pid) / "status").read_text()
    held = list(_held(pid))
    there = list(_sizes(served))
    return Sample(
        minute=round(minute, 2),
        requests=requests,
        resident_mb=_mb(status, "VmRSS"),
        anonymous_mb=_mb(status, "RssAnon"),
        files=len(held),
        sockets=sum(name.startswith("socket:") for name in held),
        threads=_number(status, "Threads"),
        processes=sum(1 for _ in below(pid)),
        temporary=len(files_in(temporary)),
        partial=len(leftovers(served)),
        served_files=len(there),
        served_mb=round(sum(there) / 2**20, 1),
    )


def memory_of(pid: int) -> tuple[float, float]:
    """Return the resident megabytes of a process, and those of it that are no file's."""
    status = (PROC / str(pid) / "status").read_text()
    return _mb(status, "VmRSS"), _mb(status, "RssAnon")


def processor_s(pid: int) -> float:
    """Return the processor seconds of a process so far: what a busy machine does not change."""
    fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _number(status: str, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
    assert found is not None, name
    return int(found[1])


def _mb(status: str, name: str) -> float:
    return round(_number(status, name) / 1024, 1)


def _held(pid: int) -> Iterator[str]:
    """Yield what each open file of a process is."""
    for link in (PROC / str(pid) / "fd").iterdir():
        try:
            yield str(link.readlink())
        except OSError:  # closed meanwhile
            continue


def _sizes(folder: Path) -> Iterator[int]:
    """Yield the sizes of files; some go while one looks."""
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                yield (Path(place) / name).stat().st_size


def files_in(folder: Path) -> list[str]:
    """Return all that lies in a folder."""
    return [name for _, folders, files in os.walk(folder) for name in (*folders, *files)]


def below(pid: int) -> Iterator[int]:
    """Yield the processes that a process started, and those that they did."""
    parents: dict[int, list[int]] = {}
    for other in _processes():
        try:
            text = (PROC / str(other) / "stat").read_text()
        except OSError:
            continue
        parents.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(other)
    rest = [pid]
    while rest:
        children = parents.get(rest.pop(), [])
        yield from children
        rest += children


def started_with(variable: str, value: str) -> list[int]:
    """Return the processes that have a variable in their environment, whoever started them."""
    word = f"{variable}={value}".encode()
    return [pid for pid in _processes() if word in _environment(pid)]


def _environment(pid: int) -> list[bytes]:
    try:
        return (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _processes() -> list[int]:
    return [int(path.name) for path in PROC.iterdir() if path.name.isdigit()]


def locks_held(state: Path) -> list[str]:
    """Return the locks in a service's own folder that a process still holds."""
    held = []
    for path in state.glob("*lock"):
        try:
            take_lock(path, busy="").close()
        except ArgusError:
            held.append(path.name)
    return held
