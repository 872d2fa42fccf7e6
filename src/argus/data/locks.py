"""One writer at a time, by the lock of a file."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from argus.errors import ArgusError


def take_lock(file: Path, *, busy: str) -> IO[str]:
    """Return a file, made if need be, whose lock is held until it is closed.

    The file stays: who waits for one that is removed waits for another one. Raises ArgusError,
    saying `busy`, where another process or thread holds it, OSError where it cannot be written.
    """
    lock = file.open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise ArgusError(busy) from error
    except OSError:
        lock.close()
        raise
    return lock
