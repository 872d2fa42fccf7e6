"""The files of a folder that are pages, in an order that every run has."""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MARKDOWN = (".md", ".markdown")
HTML = (".html", ".htm")
ENDINGS = (*MARKDOWN, *HTML, ".txt")
"""Where a folder has a page in several formats, the first of these is read."""

LEFT_OUT_FOLDERS = frozenset({"node_modules", "__pycache__"})


class PageFile(NamedTuple):
    """A page's file: its path in the folder with "/", and the same without its ending, the id."""

    path: str
    id: str


def page_files(folder: Path, counts: Counter[str], *, max_bytes: int) -> list[PageFile]:
    """Return the pages of a folder, sorted by id; what is left out is counted by reason.

    Hidden files and folders are left out, and links to folders, so that no loop can be entered.
    """
    by_id: dict[str, str] = {}
    for path in _files(folder, counts):
        stem, suffix = posixpath.splitext(path)
        if suffix.lower() not in ENDINGS:
            counts["other ending"] += 1
        elif reason := _refusal(folder / path, max_bytes):
            counts[reason] += 1
        elif stem in by_id:
            counts["same page in another format"] += 1
            by_id[stem] = min(by_id[stem], path, key=_preference)
        else:
            by_id[stem] = path
    return [PageFile(by_id[id_], id_) for id_ in sorted(by_id)]


def _preference(path: str) -> tuple[int, str]:
    return ENDINGS.index(posixpath.splitext(path)[1].lower()), path


def _files(folder: Path, counts: Counter[str]) -> Iterator[str]:
    def unreadable(_: OSError) -> None:
        counts["folder cannot be read"] += 1

    for root, folders, names in os.walk(folder, onerror=unreadable):
        subfolders = []
        for name in sorted(folders):
            if name.startswith(".") or name in LEFT_OUT_FOLDERS:
                counts["hidden folder"] += 1
            elif (Path(root) / name).is_symlink():
                counts["link to a folder"] += 1
            else:
                subfolders.append(name)
        folders[:] = subfolders
        for name in sorted(names):
            if name.startswith("."):
                counts["hidden file"] += 1
            else:
                yield (Path(root) / name).relative_to(folder).as_posix()


def _refusal(path: Path, max_bytes: int) -> str:
    try:
        str(path).encode("utf-8")
        if not path.is_file():
            return "no regular file"
        return "too large" if path.stat().st_size > max_bytes else ""
    except UnicodeEncodeError:
        return "file name is not UTF-8"
    except OSError:
        return "cannot be read"
