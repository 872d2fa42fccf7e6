"""One writer at a time, by the lock of a file."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import IO, ParamSpec, TypeVar

from argus.data.writing import check_plain, is_of_disk
from argus.errors import ArgusError, NotWritten

P = ParamSpec("P")
R = TypeVar("R")
Locks = dict[Path, IO[str]]
_WITHOUT_LOCKS = frozenset((errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP))
"""What file systems say that have none, such as a network mount."""
_AT_ONCE = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
"""How a lock's file is opened: a link is not followed, a pipe that nobody reads is no wait."""
LONGEST_WAIT_S = 60.0
"""For a lock that another run holds for as long as it writes a file."""
_OF_JOBS: ContextVar[tuple[Locks, ...]] = ContextVar("locks of jobs", default=())
"""What each job that is under way here holds, the outermost first."""


def take_lock(file: Path, *, busy: str) -> IO[str]:
    """Return a file, made if need be, whose lock is held until it is closed.

    The file stays: who waits for one that is removed waits for another one. Where the file system
    has no locks, nobody is kept out. Raises ArgusError, saying `busy`, where another process or
    thread holds it, InputError for a link, OSError where it cannot be written.
    """
    check_plain(file)
    lock = os.fdopen(os.open(file, _AT_ONCE, 0o666), "a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise ArgusError(busy) from error
    except OSError as error:
        if error.errno not in _WITHOUT_LOCKS:
            lock.close()
            raise
    return lock


def one_writer(job: Callable[P, R]) -> Callable[P, R]:
    """Make a function a job: the folders that it opens are its own until it ends.

    A job within it shares them; any other, of this process or another, is refused. A full disk is
    told as NotWritten, which names the file, or the folder where a library does not say the file.
    """

    @wraps(job)
    def alone(*args: P.args, **kwargs: P.kwargs) -> R:
        locks: Locks = {}
        token = _OF_JOBS.set((*_OF_JOBS.get(), locks))
        try:
            return job(*args, **kwargs)
        except Exception as error:
            if is_of_disk(error) and locks:
                place = getattr(error, "filename", None) or next(iter(locks)).parent
                raise NotWritten(place, error) from error
            raise
        finally:
            _OF_JOBS.reset(token)
            for lock in locks.values():
                lock.close()

    return alone


def hold(file: Path, *, busy: str) -> None:
    """Take the lock of a file for the job that is under way; none is taken outside of a job.

    Raises as `take_lock` does.
    """
    jobs = _OF_JOBS.get()
    file = file.resolve()
    if jobs and not is_held(file):
        jobs[-1][file] = take_lock(file, busy=busy)


def is_held(file: Path) -> bool:
    """Return whether the job that is under way holds the lock of a file."""
    file = file.resolve()
    return any(file in locks for locks in _OF_JOBS.get())


def check_held(file: Path) -> None:
    """Raise ArgusError where a file whose lock the job holds is another one by now.

    Its folder was moved away, and one was made in its place: that may be another run's.
    """
    file = file.resolve()
    for lock in (locks[file] for locks in _OF_JOBS.get() if file in locks):
        with suppress(FileNotFoundError):  # what is gone is told by whoever writes to it
            if not os.path.samestat(os.fstat(lock.fileno()), file.stat()):
                raise replaced(file.parent)


def replaced(folder: Path) -> ArgusError:
    """Return the error of a folder that is another one than the job began in."""
    return ArgusError(
        f"{folder} was replaced by another folder while this command ran; nothing was written "
        "there. Run it again."
    )


@contextmanager
def waiting_for(file: Path, *, busy: str) -> Iterator[None]:
    """Hold the lock of a file for as long as a block lasts; wait for it, a minute at most.

    Raises as `take_lock` does, saying `busy` after that minute.
    """
    if is_held(file):
        yield
        return
    last = time.monotonic() + LONGEST_WAIT_S
    while True:
        try:
            lock = take_lock(file, busy=busy)
            break
        except ArgusError:
            if time.monotonic() > last:
                raise
            time.sleep(0.02)
    with lock:
        yield
