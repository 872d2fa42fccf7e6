"""Files that Argus wrote, and their readers, whatever has become of a file since."""

from __future__ import annotations

from pathlib import Path

from argus.errors import ArgusError

MOST_BYTES = 1 << 28
"""Largest file, in bytes, that is held in memory as a whole."""


def read_own(path: Path) -> str:
    """Return the text of a file that Argus wrote.

    Raises ValueError for what it never wrote: a pipe, a device, more than MOST_BYTES, no UTF-8.
    """
    if not path.is_file() and path.exists():
        raise ValueError("is no file")
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"{size:,} bytes, of {MOST_BYTES:,} at most")
    return path.read_text(encoding="utf-8")


def is_of_reader(error: BaseException) -> bool:
    """Return whether an error is what a library raised: a panic of Rust is no Exception."""
    if isinstance(error, ArgusError):
        return False
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"
