"""Describe where a result came from: hashes of its inputs, versions, hardware, memory.

Every job writes this into `manifest.json` (`folders`). `content_hash` also makes the keys of caches
and of work that resumes.
"""

from __future__ import annotations

import hashlib
import platform
import resource
import sys
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from argus.cores import available_cores

LIBRARIES = ("numpy", "numba", "torch", "sentence-transformers", "transformers", "pyarrow")


def content_hash(*parts: str | bytes | memoryview, size: int = 16) -> bytes:
    """Return a `size`-byte BLAKE2b digest of the parts. No two lists of parts run together."""
    return absorb(hashlib.blake2b(digest_size=size), *parts).digest()


def absorb(digest: hashlib.blake2b, *parts: str | bytes | memoryview) -> hashlib.blake2b:
    """Add parts to a digest, as `content_hash` does, and return it. A copy may go on from there."""
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else memoryview(part)
        if isinstance(data, memoryview):
            data = data.cast("B") if data.nbytes else b""  # a shape with a zero cannot be cast
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal. It is read once while it does not change."""
    state = path.stat()
    return _file_hash(path.resolve(), state.st_ino, state.st_size, state.st_mtime_ns)


@lru_cache(256)
def _file_hash(path: Path, *_state: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe_inputs(**inputs: Any) -> dict[str, dict[str, Any]]:
    """Return name, size and hash of every input, for the manifest: file, bytes, sha256.

    inputs: paths, None for one that was not given, and stores. A store describes itself by file,
    records, and a hash of ids, texts and vectors.
    """
    described: dict[str, dict[str, Any]] = {}
    for name, path in inputs.items():
        if not isinstance(path, Path | None):
            described[name] = path.describe()
        elif path is not None and path.is_file():
            size = path.stat().st_size
            described[name] = {"file": str(path), "bytes": size, "sha256": file_hash(path)}
    return described


def describe_large_inputs(**paths: Path) -> dict[str, dict[str, Any]]:
    """Return name, size and last change of files that are too large for a hash, for the manifest.

    A folder has no size. changed: ISO 8601, UTC.
    """
    described: dict[str, dict[str, Any]] = {}
    for name, path in paths.items():
        described[name] = {"file": str(path)}
        if path.is_file():
            status = path.stat()
            time = datetime.fromtimestamp(status.st_mtime_ns / 1e9, UTC).isoformat()
            described[name] |= {"bytes": status.st_size, "changed": time}
    return described


def describe_environment() -> dict[str, Any]:
    """Return versions and hardware, for the manifest and for stored benchmark results.

    accelerator: GPU that torch finds; "" without one, or where nothing has loaded torch.
    libraries: version by name; None for a library that is not installed.
    """
    torch = sys.modules.get("torch")
    has_gpu = torch is not None and torch.cuda.is_available()
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": platform.processor(),
        "cores": available_cores(),
        "accelerator": str(torch.cuda.get_device_name()) if torch and has_gpu else "",
        "libraries": {name: installed_version(name) for name in LIBRARIES},
    }


@cache
def installed_version(name: str) -> str | None:
    """Return the version of a library, looked up once. None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def peak_memory_bytes() -> int:
    """Return the largest resident set of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # elsewhere in KiB


def utc_now() -> str:
    """Return the current time in ISO 8601, UTC, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
