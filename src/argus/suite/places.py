"""What a suite reads, by its place: whether it is there, and whether it is what it was."""

from __future__ import annotations

from pathlib import Path

from argus.data.provenance import content_hash, file_hash
from argus.data.yaml_file import nearest
from argus.indexes.header import FILE
from argus.indexes.views import ViewIndex
from argus.retrievers.dense import parse_index
from argus.retrievers.names import input_path, is_index
from argus.suite.toml import Table
from argus.tasks.opening import READERS
from argus.tasks.spec import parse_task_spec


def require_task(place: str, table: Table) -> None:
    """Raise InputError for a task of an unknown kind, and for one that is not there."""
    spec = parse_task_spec(place, READERS)
    if spec.place.exists():
        return
    kind, colon, rest = place.partition(":")
    if colon and not spec.kind and "/" not in kind and rest:
        raise table.error(
            "task", f"unknown kind of task {kind!r}", f"KIND:PLACE, of {', '.join(READERS)}",
            nearest(kind, list(READERS)),
        )  # fmt: skip
    raise table.error(
        "task", f"{spec.place} is absent", "the files of a task", "Check the path: nothing is "
        "downloaded.",
    )  # fmt: skip


def state_of(path: Path) -> str:
    """Return a hash of a file, or of all files of a folder; empty where there is nothing."""
    if path.is_file():
        return file_hash(path)
    inside = sorted(file for file in path.rglob("*") if file.is_file())
    parts = (f"{file.relative_to(path)} {file_hash(file)}" for file in inside)
    return content_hash(*parts).hex() if inside else ""


def state_of_source(name: str) -> str:
    """Return what tells a retriever from another of the same name: its file, or its index."""
    if is_index(name):
        spec, _ = parse_index(name)
        return f"{file_hash(spec.path / FILE)} {ViewIndex.open(spec.path).version}"
    path = input_path(name)
    return state_of(path) if path is not None and path.is_file() else ""
