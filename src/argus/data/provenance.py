"""Where a result came from: hashes of its inputs, versions, hardware, memory."""

from __future__ import annotations

import hashlib
import platform
import resource
import sys
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple, NotRequired, Protocol

from typing_extensions import TypedDict

from argus.cores import available_cores
from argus.data.kb_file import KB_FILE
from argus.data.parts import file_hash
from argus.data.storage import is_remote, read_bytes, state_of_file
from argus.errors import InputError

LIBRARIES = ("numpy", "numba", "torch", "sentence-transformers", "transformers", "pyarrow")


class InputFile(TypedDict):
    """A file that a job read: hashed, or, where it is too large for that, by its last change."""

    file: str
    bytes: NotRequired[int]
    sha256: NotRequired[str]
    changed: NotRequired[str | None]
    """ISO 8601, UTC; None where it is not known."""
    records: NotRequired[int]
    """Of a store: how many were read; its hash is one of ids, texts and vectors."""


class Described(Protocol):
    """An input that is no file, and says itself what it is."""

    def describe(self) -> InputFile:
        """Return its name, size and hash."""


class Environment(TypedDict):
    """Versions and hardware."""

    python: str
    platform: str
    processor: str
    cores: int
    accelerator: NotRequired[str]
    """GPU that torch finds; "" without one, or where nothing has loaded torch."""
    libraries: dict[str, str | None]
    """Version by name; None for what is not installed."""


def content_hash(*parts: str | bytes | memoryview, size: int = 16) -> bytes:
    """Return a `size`-byte BLAKE2b digest of the parts; no two lists of parts run together."""
    return absorb(hashlib.blake2b(digest_size=size), *parts).digest()


def absorb(digest: hashlib.blake2b, *parts: str | bytes | memoryview) -> hashlib.blake2b:
    """Add parts to a digest, as `content_hash` does, and return it; a copy may go on from there."""
    for part in parts:
        data = _bytes(part)
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest


def _bytes(part: str | bytes | memoryview) -> bytes | memoryview:
    if isinstance(part, str):
        return part.encode("utf-8", "surrogatepass")
    view = memoryview(part)
    return view.cast("B") if view.nbytes else b""  # what has a zero in its shape cannot be cast


class AsRead(NamedTuple):
    """How a file was when it was read: what tells another in its place, and that it was written."""

    inode: int
    bytes: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path | None) -> AsRead | None:
        """Return how a file on this machine is now; None where there is none."""
        if path is None:
            return None
        try:
            status = path.stat()
        except OSError:
            return None
        is_file = S_ISREG(status.st_mode)
        return cls(status.st_ino, status.st_size, status.st_mtime_ns) if is_file else None

    def refuse_other(self, path: Path) -> None:
        """Raise InputError where the file is not as it was."""
        if AsRead.of(path) != self:
            raise InputError(
                "was replaced, written to or removed while it was read",
                expected="a file that stays as it is until it is read",
                fix="Run the command again.",
                where=path,
            )


def describe_inputs(**inputs: Path | Described | None) -> dict[str, InputFile]:
    """Return name, size and hash of every input, for the manifest.

    Of what is in an object store only the list of a knowledge base's shards is fetched for it.
    """
    described: dict[str, InputFile] = {}
    for name, path in inputs.items():
        if path is not None and not isinstance(path, Path):
            described[name] = path.describe()
            continue
        if path is not None and path.name == KB_FILE and is_remote(path):
            data = read_bytes(path)
            size, digest = len(data), hashlib.sha256(data).hexdigest()
        elif path is not None and path.is_file():
            size, digest = path.stat().st_size, file_hash(path)
        else:
            continue
        described[name] = {"file": str(path), "bytes": size, "sha256": digest}
    return described


def describe_large_inputs(**locations: Path | str) -> dict[str, InputFile]:
    """Return name, size and time of last change of files too large to be hashed, for the manifest.

    They may be in an object store. A folder has no size.
    """
    described: dict[str, InputFile] = {}
    for name, location in locations.items():
        described[name] = {"file": str(location)}
        if state := state_of_file(location):
            described[name] |= {"bytes": state.bytes, "changed": _time(state.changed_ns)}
    return described


def _time(since_1970_ns: int | None) -> str | None:
    if since_1970_ns is None:
        return None
    return datetime.fromtimestamp(since_1970_ns / 1e9, UTC).isoformat()


def describe_environment() -> Environment:
    """Return versions and hardware, for the manifest and for stored benchmark results."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": available_cores(),
        "accelerator": accelerator(),
        "libraries": dict(_versions()),
    }


def accelerator() -> str:
    """Return the GPU that torch finds; "" without one, or where nothing has loaded torch."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return ""
    return str(torch.cuda.get_device_name())


@cache
def _versions() -> dict[str, str | None]:
    """Return what this process imports of each library: it does not change while it runs."""
    libraries: dict[str, str | None] = {}
    for name in LIBRARIES:
        try:
            libraries[name] = version(name)
        except PackageNotFoundError:
            libraries[name] = None
    return libraries


def peak_memory_bytes() -> int:
    """Return the largest resident set of this process so far, in bytes."""
    status = Path("/proc/self/status")
    if status.is_file():  # getrusage would count what the parent held when it forked
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # elsewhere in KiB


def utc_now() -> str:
    """Return the current time in ISO 8601, UTC, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()
