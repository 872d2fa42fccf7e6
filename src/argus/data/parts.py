"""What belongs to one run of a job: hashes of its summary and of its tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

PARTS = "parts"
"""In a job's section of manifest.json: SHA-256 of its summary and of each of its tables, by name of
the file."""


def parts_of(section: object) -> Mapping[str, object]:
    """Return the hashes in a job's section; none of a version that kept none."""
    parts = section.get(PARTS) if isinstance(section, dict) else None
    return parts if isinstance(parts, dict) else {}


def section_hash(section: object) -> str:
    """Return the SHA-256 of a section of a JSON file, whatever its layout."""
    return hashlib.sha256(json.dumps(section, sort_keys=True).encode()).hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_hash_now(path: Path) -> str:
    """Return the same, not computed again for a file that has not changed since."""
    state = path.stat()
    return _hash_of_state(path, state.st_ino, state.st_size, state.st_mtime_ns)


@lru_cache(256)
def _hash_of_state(path: Path, *_: int) -> str:
    return file_hash(path)
