"""One build at a time in a folder."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from argus.errors import ArgusError, InputError

LOCK = ".lock"
"""It stays when a build ends: who waits for a file that is removed waits for another one."""


@contextmanager
def alone(*folders: Path) -> Iterator[None]:
    """Keep other builds out of folders, which are made.

    Raises ArgusError where one is at work there, InputError for a folder that cannot be written.
    """
    with ExitStack() as held:
        for folder in dict.fromkeys(path.resolve() for path in folders):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                lock = held.enter_context((folder / LOCK).open("a"))
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ArgusError(
                    f"{folder} is in use by another kb build; wait for it, or give another --out "
                    "(and --shards)."
                ) from error
            except OSError as error:
                raise InputError(
                    f"cannot be written ({error.strerror})",
                    expected="a folder that can be written",
                    fix="Give another --out (and --shards).",
                    where=folder,
                ) from error
        yield
