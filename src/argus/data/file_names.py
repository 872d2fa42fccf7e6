"""Names that people gave, as names of files."""

from __future__ import annotations

import re

ROOM = 219
"""Bytes of a file's name, less a hash and suffix behind it and what a file is called that is yet
being written (`replacing`): 255 with all of them."""


def plain(name: str) -> str:
    """Return a name without what a file may not be called; several may come to one."""
    return re.sub(r"[^\w.+-]+", "-", name)


def cut(name: str, room: int = ROOM) -> str:
    """Return as much of the beginning of a name as has room, in bytes."""
    return name.encode()[:room].decode(errors="ignore")
