"""One build at a time in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from argus.data.locks import take_lock
from argus.errors import InputError

LOCK = ".lock"


@contextmanager
def alone(*folders: Path) -> Iterator[None]:
    """Keep other builds out of folders, which are made.

    Raises ArgusError where one is at work there, InputError for a folder that cannot be written.
    """
    with ExitStack() as locks:
        for folder in dict.fromkeys(path.resolve() for path in folders):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                busy = (
                    f"{folder} is in use by another kb build; wait for it, or give another --out "
                    "(and --shards)."
                )
                locks.enter_context(take_lock(folder / LOCK, busy=busy))
            except OSError as error:
                raise InputError(
                    f"cannot be written ({error.strerror})",
                    expected="a folder that can be written",
                    fix="Give another --out (and --shards).",
                    where=folder,
                ) from error
        yield
