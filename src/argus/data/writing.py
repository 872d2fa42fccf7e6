"""Write files and folders whole or not at all, and let only one job write to a folder.

A file is written beside its place and renamed into it (`replacing`): a reader never sees half of
one, and a killed writer leaves a file that the next job in the folder removes. Links are never
followed. `one_writer` locks the folders of a job with filelock, whose locks end with the process.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from argus.data.reading import no_file
from argus.errors import ArgusError, InputError, NotWritten

P = ParamSpec("P")
R = TypeVar("R")
Locks = dict[Path, ExitStack]
PARTIAL = ".partial"  # how a name ends of what is written beside its place
MAX_NAME = 255  # bytes of a file's name, on every usual file system
MAX_WAIT_S = 60.0  # for a lock that another run holds while it writes a file
_FULL = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO, errno.ESTALE, errno.ENODEV)
)
_WITHOUT_LOCKS = frozenset((errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP))  # as network mounts
_REFUSED = frozenset((errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR))
# The words of libraries that drop the number: numpy, torch, safetensors, tokenizers, SQLite.
_FULL_IN_WORDS = re.compile(
    r"no space left|file too large|read-only file system|disk quota|input/output error"
    r"|os error (?:5|27|28|30|122)\b|\d{1,20} requested and \d{1,20} written|PytorchStreamWriter"
    r"|inline_container\.cc|iostream error|disk full|disk is full|disk I/O error",
    re.IGNORECASE,
)
SQLITE_DAMAGE = (sqlite3.Error, UnicodeDecodeError)  # the second for names that are not UTF-8
_jobs: ContextVar[tuple[Locks, ...]] = ContextVar("locks of running jobs", default=())


def _is_of_disk(error: BaseException) -> bool:
    """Return whether an error says that a disk is full or gone, whichever library raised it."""
    is_full = getattr(error, "errno", None) in _FULL or _FULL_IN_WORDS.search(str(error))
    return bool(is_full) and not isinstance(error, ArgusError)


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """Turn the errors of a full disk, or a place without rights, into NotWritten with the path."""
    try:
        yield
    except Exception as error:
        if getattr(error, "errno", None) in _REFUSED or _is_of_disk(error):
            raise NotWritten(path, error) from error
        raise


def check_plain(path: Path) -> Path:
    """Return a path of a file, of a folder or of nothing. Raises InputError for links and pipes."""
    with suppress(FileNotFoundError, NotADirectoryError):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            got = f"is {'a link' if stat.S_ISLNK(mode) else 'a pipe or a device'}"
            expected = "a file or a folder that Argus wrote, or nothing"
            fix = "Remove it, or give another folder."
            raise InputError(got, expected=expected, fix=fix, where=path)
    return path


def check_plain_folder(path: Path) -> None:
    """Raise InputError where a folder, or anything within it, is no plain file or folder."""
    check_plain(path)
    for home, folders, files in os.walk(path):
        for name in (*folders, *files):
            check_plain(Path(home, name))


def remove(path: Path) -> None:
    """Remove a file, a folder with all that it holds, or a link alone."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling of `path` that takes its place when the block ends well.

    Several may write one file at once: the last one's stands, whole. Raises NotWritten
    where the disk is full, InputError for a device or a pipe.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        fix = "Name a file: it is written beside its place, and renamed."
        raise InputError(no_file(path), expected="a place for a file", fix=fix, where=path)
    temporary = _aside(path)
    try:
        with writable(path):
            yield temporary
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def folder_aside(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path`. Rename it once it is whole: else it is removed."""
    aside = _aside(path)
    aside.mkdir()
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _aside(path: Path) -> Path:
    """Return a new name beside a path, short enough for every usual file system."""
    room = MAX_NAME - len(f"..{'0' * 8}{PARTIAL}")
    name = os.fsencode(path.name)[:room].decode(errors="ignore")
    return path.with_name(f".{name}.{secrets.token_hex(4)}{PARTIAL}")


def remove_leftovers(folder: Path) -> None:
    """Remove the files of killed writers from a folder that nobody else may write to now."""
    for path in folder.glob(f".*{PARTIAL}"):
        remove(path)


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file by this content, text as UTF-8. See `replacing`."""
    with replacing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def write_jsonl(path: Path, records: Iterable[Mapping[str, object]]) -> None:
    """Write one JSON object per line, whole or not at all."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as out:
        for record in records:
            out.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def take_lock(file: Path, *, busy: str, wait_s: float = 0.0) -> ExitStack:
    """Lock a file, made if need be, until you close what is returned. The file stays as it is.

    wait_s: for whoever holds it. Where the file system has no locks, nobody is kept out. Raises
    ArgusError, with the text `busy`, where another process or thread holds the lock, InputError for
    a link, and OSError where the file cannot be written.
    """
    from filelock import FileLock, Timeout  # seldom needed, and long to load

    check_plain(file)
    lock = FileLock(file, wait_s, thread_local=False, poll_interval=0.02, preserve_lock_file=True)
    try:
        lock.acquire()
    except Timeout as error:
        raise ArgusError(busy) from error
    except OSError as error:
        if error.errno not in _WITHOUT_LOCKS:
            raise
    held = ExitStack()
    held.callback(lock.release)
    return held


@contextmanager
def waiting_for(file: Path, *, busy: str) -> Iterator[None]:
    """Hold the lock of a file during a block. Wait for it, MAX_WAIT_S at most.

    The lock of a running job counts. Raises as `take_lock` does, with the text `busy` at last.
    """
    if any(file.resolve() in locks for locks in _jobs.get()):
        yield
        return
    with take_lock(file, busy=busy, wait_s=MAX_WAIT_S):
        yield


def one_writer(job: Callable[P, R]) -> Callable[P, R]:
    """Make a function a job: the folders that it opens are its own until it ends.

    A job within it shares them. Any other job, of this process or another, is refused. A full disk
    raises NotWritten, which names the file, or the folder where a library does not say the file.
    """

    @wraps(job)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        locks: Locks = {}
        token = _jobs.set((*_jobs.get(), locks))
        try:
            return job(*args, **kwargs)
        except Exception as error:
            if _is_of_disk(error) and locks:
                place = getattr(error, "filename", None) or next(iter(locks)).parent
                raise NotWritten(place, error) from error
            raise
        finally:
            _jobs.reset(token)
            for lock in locks.values():
                lock.close()

    return run


def hold(file: Path, *, busy: str) -> None:
    """Take the lock of a file for the running job. Outside of a job, take none.

    Raises as `take_lock` does.
    """
    jobs, file = _jobs.get(), file.resolve()
    if jobs and not any(file in locks for locks in jobs):
        jobs[-1][file] = take_lock(file, busy=busy)


def connect(path: Path, **options: Any) -> sqlite3.Connection:
    """Open a SQLite file. Raises InputError where it, or a file beside it, is a link or a pipe.

    options: of `sqlite3.connect`.
    """
    for ending in ("", "-journal", "-wal", "-shm"):
        check_plain(path.with_name(path.name + ending))
    connection: sqlite3.Connection = sqlite3.connect(path, **options)
    return connection


@contextmanager
def closing_if_it_fails(connection: Any) -> Iterator[None]:
    """Close a connection whose preparation fails: left open, it would lock its files."""
    try:
        yield
    except BaseException:
        connection.close()
        raise
