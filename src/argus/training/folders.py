"""Folders that are written whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from argus.data.writing import remove, writable


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path` that takes its place when the block ends well."""
    temporary, old = (path.with_name(f".{path.name}.{end}") for end in ("partial", "old"))
    if old.exists() and not path.exists():
        old.rename(path)  # of a run that was killed between the two renames
    for leftover in (temporary, old):
        remove(leftover)
    try:
        with writable(path):
            temporary.mkdir(parents=True)
            yield temporary
            if path.exists():
                path.rename(old)
            temporary.rename(path)
        remove(old)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
