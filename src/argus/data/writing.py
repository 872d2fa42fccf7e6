"""What a disk says that takes no more, as an error that names the place."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from argus.errors import ArgusError, NotWritten

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
