"""The files of a data set as it is kept: in one file, or in the shards of a split."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from argus.data.documents import check_unique, documents_in
from argus.data.fields import FieldNames
from argus.data.rows import ARROW, FORMATS, Row, read_rows
from argus.data.types import Document
from argus.tasks.task import refused

_SHARD = re.compile(r"-\d{5}-of-\d{5}$")


def stem_of(file: Path) -> str:
    """Return the name of a split without ending and number of the shard: "biology"."""
    name = file.name.removesuffix(".gz")
    return _SHARD.sub("", name.rpartition(".")[0])


def splits_in(folder: Path) -> dict[str, list[Path]]:
    """Return the files of each split in a folder, in order. A split may be a folder of shards."""
    splits: dict[str, list[Path]] = {}
    if not folder.is_dir():
        return splits
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            shards = sorted(file for file in path.iterdir() if _is_rows(file))
            if shards:
                splits.setdefault(path.name, []).extend(shards)
        elif _is_rows(path):
            splits.setdefault(stem_of(path), []).append(path)
    return splits


def _is_rows(path: Path) -> bool:
    endings = [s.lower() for s in path.suffixes if s.lower() != ".gz"][-1:]
    return path.is_file() and bool(endings) and endings[0] in (*FORMATS, ARROW)


def choose_split(folder: Path, split: str, setting: str, where: str) -> tuple[str, list[Path]]:
    """Return one split of a folder and its files. Without a name, return the only one.

    setting: by which it is chosen. Raises InputError, which lists them, where it is not clear.
    """
    splits = splits_in(folder)
    if not split and len(splits) == 1:
        split = next(iter(splits))
    if split in splits:
        return split, splits[split]
    got = f"{setting} {split!r}" if split else f"{len(splits)} to choose from"
    expected = f"{setting}=..., one of {', '.join(splits) or '(there is none)'} in {folder}"
    fix = "Name one of them." if splits else "Check the folder: it lacks this part."
    raise refused(where, got, expected, fix)


def rows_in(files: Sequence[Path]) -> Iterator[Row]:
    """Yield the rows of files, one after the other."""
    for file in files:
        yield from read_rows(file)


def documents_of(files: Sequence[Path], fields: FieldNames) -> list[Document]:
    """Read the documents of all files. Raise InputError for an id that stands in two of them."""
    documents = [document for file in files for document in documents_in(file, fields)]
    if len(files) > 1:
        check_unique(documents)
    return documents


def once(rows: Iterator[Row], id_of: Callable[[Row], str]) -> Iterator[tuple[str, Row]]:
    """Yield rows with their ids. Raise InputError for an id that stands twice."""
    lines: dict[str, Row] = {}
    for row in rows:
        id_ = id_of(row)
        if id_ in lines:
            got = f"id {id_!r} stands in row {lines[id_].line} of {lines[id_].file.name} already"
            raise refused(row.at(), got, "one row per id", "Remove or rename one of the two.")
        lines[id_] = row
        yield id_, row
