"""Names that a run recorded, as they are valid from here: its folder may have been moved since."""

from __future__ import annotations

import os
import re
from pathlib import Path

from argus.commands import Invocation
from argus.errors import InputError
from argus.stores.spec import BLENDED, KINDS, is_store, parse_store

_PREFIX = re.compile(rf"(?:{BLENDED})?(?:(?:{'|'.join(KINDS)}|http):(?!//))?")
_SUFFIX = re.compile(r"(?<=\.py):\w+$|@[\w.-]+$")


def from_here(name: str, folder: Path, run: Invocation | None) -> str:
    """Return the name of a file, store, retriever or index as the current folder has it.

    What lies beside or in the folder of results is looked for there, then where it was. What is in
    neither place keeps its name.
    """
    if run is None:
        return name
    prefix = _PREFIX.match(name)
    start = prefix.end() if prefix else 0
    return name[:start] + _rest(name[start:], _suffix(name), folder, run)


def _suffix(name: str) -> str:
    """Return what stands behind the path: a collection, a name in a module, a state."""
    store = name.removeprefix(BLENDED)
    if is_store(store):
        try:
            collection = parse_store(store).collection
        except InputError:
            return ""
        return f"/{collection}" if collection else ""
    suffix = _SUFFIX.search(name)
    return suffix[0] if suffix and not Path(name).exists() else ""


def _rest(text: str, suffix: str, folder: Path, run: Invocation) -> str:
    path = text.removesuffix(suffix)
    was = _normal(Path(run["directory"], path))
    moved = _normal(Path(os.path.abspath(folder), os.path.relpath(was, run["out"])))  # noqa: PTH100
    there = next((place for place in (moved, was) if place.exists()), None)
    here = Path.cwd()
    if there is None or there == _normal(here / path):
        return text
    return f"{there.relative_to(here) if there.is_relative_to(here) else there}{suffix}"


def _normal(path: Path) -> Path:
    """Return a path without `..`, links as they are."""
    return Path(os.path.normpath(path))
