"""Check a place before it is written to, and name the errors of a disk that takes no more."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from argus.errors import ArgusError, InputError, NotWritten

_OF_DISKS = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO, errno.ESTALE, errno.ENODEV)
)
_OF_PLACES = frozenset((errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR))
_IN_WORDS = re.compile(
    r"no space left|file too large|read-only file system|disk quota|input/output error"
    r"|os error (?:5|27|28|30|122)\b|\d{1,20} requested and \d{1,20} written|PytorchStreamWriter"
    r"|inline_container\.cc|iostream error|disk full|disk is full|disk I/O error",
    re.IGNORECASE,
)
"""What libraries say that keep no number: numpy, torch, safetensors, tokenizers, SQLite."""


def is_of_disk(error: BaseException) -> bool:
    """Return whether an error says that a disk takes no more, whichever library raised it."""
    if isinstance(error, ArgusError):
        return False
    if isinstance(error, OSError) and error.errno in _OF_DISKS:
        return True
    return _IN_WORDS.search(str(error)) is not None


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """Turn what a full disk, or a place without rights, raises into NotWritten with the path."""
    try:
        yield
    except NotWritten:
        raise
    except Exception as error:
        of_place = isinstance(error, OSError) and error.errno in _OF_PLACES
        if is_of_disk(error) or of_place:
            raise NotWritten(path, error) from error
        raise


def check_plain(path: Path) -> Path:
    """Return a path at which a file or a folder lies, or nothing. Raises InputError for all else.

    A link leads to what is not Argus's to write, and a pipe is waited for.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            kind = "a link" if stat.S_ISLNK(mode) else "a pipe or a device"
            raise InputError(
                f"is {kind}",
                expected="a file or a folder that Argus wrote, or nothing",
                fix="Remove it, or give another folder.",
                where=path,
            )
    return path


def check_plain_folder(path: Path) -> None:
    """Raise InputError where a folder, or anything within it, is no plain file or folder."""
    check_plain(path)
    for home, folders, files in os.walk(path):
        for name in (*folders, *files):
            check_plain(Path(home, name))


def remove(path: Path) -> None:
    """Remove what lies at a path, if anything does: of a link, the link alone."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
