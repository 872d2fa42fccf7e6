"""Which journal belongs to the records that are served, wherever their folders lie by now."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from argus.errors import InputError
from argus.service.workplace import STATE, Workplace

PATTERN = "records-*.jsonl"


def journal_of(place: Workplace) -> Path | None:
    """Return the journal of the records that are served, made or not; None where none are.

    Its name says where the records lie from its folder, so that they may be moved together, and it
    is looked for in every folder, in whatever order they are named. Raises InputError where there
    are two that say otherwise: what one of them holds would not count.
    """
    if place.authority is None:
        return None
    records = Path(place.authority.records)
    there = [file for folder in place.folders for file in _of(records, folder)]
    unlike = {_content(file): file for file in reversed(there)}
    if len(unlike) > 1:
        first, second = list(unlike.values())[:2]
        raise InputError(
            f"{first} and {second} both hold records that came",
            expected="one journal",
            fix="Put the lines of both into one of them, the earlier ones first, and move the "
            "other away.",
            where=records,
        )
    home = _home(place, records)
    return there[0] if there else home / STATE / _names(records, home)[0]


def warnings_of(place: Workplace, journal: Path | None) -> Iterator[str]:
    """Yield what is to be said of journals that are not read: what they hold counts for nothing."""
    for file in _strangers(place):
        if journal is None:
            yield (
                f"{file} holds records that came to a service, and no records are served: none of "
                "them counts. Name their records with --records, and --rules or --edges."
            )
        elif file != journal and _content(file) != _content(journal):
            assert place.authority is not None
            yield (
                f"{file} holds records that came to a service, and belongs to other records than "
                f"{place.authority.records}: none of them counts. If it is theirs (they were moved "
                f"or renamed), stop the service and rename it to {journal}; else move it away, or "
                "serve the folder and the records that it belongs to."
            )


def _strangers(place: Workplace) -> Iterator[Path]:
    """Yield journals in the folders, and those of the same records in folders around them."""
    for folder in place.folders:
        yield from sorted(file for file in (folder / STATE).glob(PATTERN) if not _is_empty(file))
    if place.authority is not None:
        records = Path(place.authority.records)
        served = {folder.resolve() for folder in place.folders}
        for folder in records.resolve().parents:
            if folder not in served:
                yield from _of(records, folder)


def _of(records: Path, folder: Path) -> Iterator[Path]:
    """Yield the journals of some records that lie in a folder."""
    for name in _names(records, folder):
        file = folder / STATE / name
        if os.path.lexists(file) and not _is_empty(file):
            yield file


def _names(records: Path, folder: Path) -> tuple[str, str]:
    """Return how a journal in a folder is called: by where records lie from there, and as once."""
    real = records.resolve()
    ways = os.path.relpath(real, folder.resolve()), str(real)
    relative, absolute = (hashlib.sha256(os.fsencode(way)).hexdigest()[:12] for way in ways)
    return f"records-{relative}.jsonl", f"records-{absolute}.jsonl"


def _home(place: Workplace, records: Path) -> Path:
    """Return the folder that a new journal goes to: the one that the records lie in, or the first.

    With them it is found again, whatever else is served.
    """
    real = records.resolve()
    around = [
        folder for folder in place.folders
        if real.is_relative_to(folder.resolve()) and os.access(folder, os.W_OK)
    ]  # fmt: skip
    return max(around, key=lambda f: len(f.resolve().parts), default=place.folders[0])


def _is_empty(file: Path) -> bool:
    try:
        return file.is_file() and file.stat().st_size == 0
    except OSError:
        return False


def _content(file: Path) -> bytes:
    """Return what tells a journal from another; that of what is no file is its name."""
    try:
        return file.read_bytes() if file.is_file() else os.fsencode(file)
    except OSError:
        return os.fsencode(file)
