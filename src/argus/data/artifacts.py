"""The folder in which a job leaves its results: tables, `summary.json`, `manifest.json`.

Every file is written beside its place and renamed into it, so a reader never sees half of one and
a killed run leaves what it had. Two jobs over one corpus (audit, exposure) may share a folder:
the JSON files hold one section per job. A job's section of `manifest.json` is written last, with
the hashes of what belongs to it: files of two runs are not taken for one (`argus.data.manifest`).
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from argus.commands import invocation_of
from argus.data.csv_cells import harmless_table
from argus.data.locks import check_held, hold, waiting_for
from argus.data.parts import PARTS, file_hash, parts_of, section_hash
from argus.data.reading import read_own
from argus.data.writing import check_plain, remove, writable
from argus.errors import InputError, NotWritten
from argus.hidden import LEAST_IN_FILES, without_known
from argus.progress import remark

if TYPE_CHECKING:
    import pyarrow as pa

MARKER = ".argus"
"""The file in a folder of results that names, a line each, what Argus wrote there."""
PARTIAL = ".partial"
"""How the name ends of what is written beside its place."""
NOTE = "# Argus wrote these here; --fresh removes them.\n"
SUMMARY, MANIFEST = "summary.json", "manifest.json"
LONGEST_RECORD = 1 << 24
"""Bytes that are read of that file."""
LONGEST_NAME = 255
"""Bytes of a file's name, on every usual file system."""


class ArtifactFolder:
    """An output folder. Nothing is made or removed before `open`.

    What is written into it is recorded in it, before it is written: by the methods here, and by
    `own` for what a job writes itself. A link of that name is replaced, and never followed.
    `fresh`: opening removes what is recorded, nothing else; a folder that Argus did not write is
    refused, and so is a name that somebody else's file has.
    Raises InputError when the path is a file.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path, self.fresh = path, fresh
        self._tables: dict[str, str] = {}
        """SHA-256 of those written since the last summary, by name of the file."""
        self._told: set[str] = set()
        """Jobs that have written theirs: what the manifest has of them is of this run."""
        if path.is_symlink() and not path.exists():
            raise InputError(
                f"is a link to {path.readlink()}, which is not there",
                expected="a folder for results",
                fix="Make that folder, remove the link, or give another --out.",
                where=path,
            )
        if path.exists() and not path.is_dir():
            raise InputError(
                "is a file", expected="a folder for results", fix="Give another --out.", where=path
            )
        if fresh and path.exists() and any(path.iterdir()) and not self._is_recorded():
            raise InputError(
                "holds files that Argus did not write, or did not record",
                expected="an empty folder, or one from an earlier run",
                fix="--fresh deletes only Argus's own results: give another --out, or clear it.",
                where=path,
            )

    def open(self) -> None:
        """Make the folder and, once, empty it if `fresh`. Call when all input has been checked.

        It is the job's own from then on (`one_writer`). Raises ArgusError where another run has
        it, InputError where it cannot be written.
        """
        self._check_marker()
        for name in (SUMMARY, MANIFEST):  # of every job: told before it works for hours
            self._refuse_foreign(name)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            hold(self.path / MARKER, busy=self._busy)
        except OSError as error:
            raise NotWritten(error.filename or self.path, error) from error
        remove_leftovers(self.path)
        if self.fresh:
            self._clear()
        self.fresh = False
        try:
            self._begin_record()
        except OSError as error:
            raise NotWritten(error.filename or self.path, error) from error

    def own(self, name: str, *, goes_on: bool = False) -> Path:
        """Return the path of a file or folder in it, recorded as written by Argus.

        goes_on: what is there is read and gone on with, whoever wrote it. Else a file of somebody
        else's raises InputError. Raises ArgusError where the folder is another by now.
        """
        self._check_marker()
        check_held(self.path / MARKER)
        path = self.path / name
        if goes_on or not path.is_symlink() or path.is_dir():
            check_plain(path)
        if not goes_on:
            self._refuse_foreign(name)
            if path.is_symlink():
                path.unlink()
        if name not in self.recorded():
            with writable(self.path / MARKER):
                self._begin_record()
                with (self.path / MARKER).open("a", encoding="utf-8") as marker:
                    marker.write(f"{name}\n")  # appended: two jobs may write at once
        return path

    def _refuse_foreign(self, name: str) -> None:
        if name in self._foreign:
            raise InputError(
                "is there, and Argus did not write it",
                expected="a folder for results alone: a file of this name is part of them",
                fix="Move it elsewhere, or give another --out.",
                where=self.path / name,
            )

    @cached_property
    def _foreign(self) -> frozenset[str]:
        """Names of files that lay there before this job, and nobody recorded.

        Where results came without their record (a copy of what is not hidden), nothing is foreign.
        """
        entries = self.path.iterdir() if self.path.is_dir() else ()
        there = {entry.name for entry in entries if not entry.is_dir()}
        if not self._is_recorded() and there >= {SUMMARY, MANIFEST}:
            return frozenset()
        return frozenset(there - self.recorded() - {MARKER})

    def recorded(self) -> frozenset[str]:
        """Return the names of what Argus wrote here."""
        if not self._is_recorded():
            return frozenset()
        return frozenset(self._record().splitlines()[1:])

    def _is_recorded(self) -> bool:
        """Return whether there is a record; earlier versions left a note alone."""
        return (self.path / MARKER).is_file() and self._record().startswith(NOTE)

    def _record(self) -> str:
        """Return what the record says; damaged bytes make names that no file has."""
        with (self.path / MARKER).open("rb") as file:
            return file.read(LONGEST_RECORD).decode(errors="replace")

    def _check_marker(self) -> None:
        """Refuse a record that leads elsewhere, or on which a writer would wait."""
        marker = self.path / MARKER
        if marker.is_symlink() or (marker.exists() and not marker.is_file()):
            raise InputError(
                "is a link, or no file",
                expected="the record that Argus keeps of what it wrote",
                fix="Remove it, or give another --out.",
                where=marker,
            )

    @property
    def _busy(self) -> str:
        return (
            f"{self.path} is being written to by another run; wait for it, or give another --out. "
            "Nothing was changed."
        )

    def _begin_record(self) -> None:
        if not self._is_recorded():
            (self.path / MARKER).write_text(NOTE, encoding="utf-8")

    def _clear(self) -> None:
        for name in self.recorded():
            if Path(name).name != name or name in ("", ".", "..") or "\0" in name:
                continue  # of a damaged record: never leave the folder
            remove(self.path / name)
        (self.path / MARKER).write_text(NOTE, encoding="utf-8")

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def write_json(self, name: str, value: Any) -> Path:
        """Write `value` as indented JSON, without secrets.

        A NaN is a bug here, never a value: it raises.
        """
        path = self.own(name)
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
        write_whole(path, without_known(text, LEAST_IN_FILES) + "\n")
        return path

    def write_results(self, job: str, summary: Any, manifest: Any) -> None:
        """Write a job's summary and, last, its section of the manifest.

        That names what belongs together: the summary and the tables that this job has written. A
        table is of the job that wrote it last.
        """
        self.write_section(SUMMARY, job, summary)
        parts: Mapping[str, object] = {
            SUMMARY: section_hash(self.read_json(SUMMARY)[job]), **self._tables
        }  # fmt: skip
        with self._alone():
            sections = self.read_json(MANIFEST)
            for section in sections.values():
                theirs = parts_of(section)
                if theirs.keys() & self._tables.keys():
                    section[PARTS] = {n: h for n, h in theirs.items() if n not in self._tables}
            before = sections.pop(job, None)  # they stand in the order in which they were written
            if job in self._told:
                parts = {**parts_of(before), **parts}
            section = {**manifest, "invocation": invocation_of(self.path), PARTS: parts}
            self.write_json(MANIFEST, {**sections, job: section})
        self._told.add(job)
        self._tables = {}  # the next job's of this object are its own

    def write_section(self, name: str, section: str, value: Any) -> Path:
        """Set one section of a JSON file and keep the others, whoever else writes one."""
        with self._alone():
            return self.write_json(name, {**self.read_json(name), section: value})

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Have no other job write a section meanwhile."""
        self._check_marker()
        self._begin_record()
        with waiting_for(self.path / MARKER, busy=self._busy):
            yield

    def read_json(self, name: str) -> dict[str, Any]:
        """Return the sections of a JSON file, none where there is no file."""
        path = self.path / name
        if not path.is_file():
            return {}
        try:
            return dict(json.loads(read_own(path)))
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(
                f"broken JSON ({error})",
                expected="the file as Argus wrote it",
                fix="Remove it, or run again with --fresh.",
                where=path,
            ) from error

    def write_table(self, name: str, table: pa.Table, *, csv: bool = False) -> Path:
        """Write `name.parquet`, and `name.csv` beside it on request, its cells harmless."""
        import pyarrow.csv

        from argus.data.parquet import write_table

        path = self.own(f"{name}.parquet")
        with replacing(path) as temporary:
            write_table(table, temporary)
            self._tables[path.name] = file_hash(temporary)
        if csv:
            shown, changed = harmless_table(table)
            with replacing(self.own(f"{name}.csv")) as temporary:
                pyarrow.csv.write_csv(shown, temporary)
            if changed:
                remark(
                    f"{name}.csv: {changed:,} cells that a spreadsheet would compute begin with "
                    "an apostrophe (argus --raw-csv writes them as they are)"
                )
        return path


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """Yield a temporary sibling of `path` that takes its place when the block ends well.

    Several may write one file at once: the last one's stands, whole. What a killed one left is
    removed by the next. durable: it is on the disk before it takes its place, so that no power
    cut leaves neither; for what cannot be made again. A link is replaced, and never followed.
    Raises NotWritten where the disk is full, InputError for a device or a pipe.
    """
    _check_replaceable(path)
    remove_leftovers(path.parent, path.name)
    with writable(path):
        temporary, lock = _sibling(path)
    try:
        with lock, writable(path):
            yield temporary
            if durable:
                _sync(temporary)
            temporary.replace(path)
            if durable:
                _sync(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def folder_aside(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path`, to be renamed once it is whole; else it goes again.

    What a killed one left is removed by the next.
    """
    remove_leftovers(path.parent, path.name)
    aside, lock = _sibling_folder(path)
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        os.close(lock)


def write_whole(path: Path, content: str | bytes) -> None:
    """Have a file hold just this, text as UTF-8, or stay as it was; see `replacing`."""
    with replacing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def _check_replaceable(path: Path) -> None:
    """Refuse what a file must not take the place of, such as /dev/stdout, whatever it leads to."""
    home = path.parent.resolve()
    of_system = home == Path("/dev") or home.is_relative_to("/proc")
    if of_system or (path.exists() and not (path.is_file() or path.is_dir())):
        raise InputError(
            "is a device or a pipe",
            expected="a place for a file",
            fix="Name a file: it is written beside its place, and renamed.",
            where=path,
        )


def _sibling(path: Path) -> tuple[Path, IO[bytes]]:
    """Return a new file beside a path, and its lock: who writes it is alive as long as that."""
    while True:
        temporary = _aside(path)
        lock = temporary.open("xb")
        with suppress(OSError):  # where files cannot be locked, leftovers stay
            fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock.fileno()).st_nlink:
            return temporary, lock
        lock.close()  # another has taken it for a leftover before it was locked


def _sibling_folder(path: Path) -> tuple[Path, int]:
    """Return a new folder beside a path, and the descriptor that holds its lock."""
    while True:
        folder = _aside(path)
        folder.mkdir()
        with suppress(FileNotFoundError):  # another has taken it for a leftover
            lock = os.open(folder, os.O_RDONLY)
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.is_dir():
                return folder, lock
            os.close(lock)


def _aside(path: Path) -> Path:
    return path.with_name(f".{_shortened(path.name)}.{secrets.token_hex(4)}{PARTIAL}")


def _shortened(name: str) -> str:
    """Return a file's name, cut so that what is written beside it may have a name, too."""
    most = LONGEST_NAME - len(f"..{'0' * 8}{PARTIAL}")
    return os.fsencode(name)[:most].decode(errors="ignore")


def remove_leftovers(folder: Path, of: str = "") -> None:
    """Remove what killed writers left in a folder: of one file by its name, or of all."""
    name = re.compile(rf"\.{re.escape(_shortened(of)) or '.+'}\.[0-9a-f]{{8}}{re.escape(PARTIAL)}")
    with suppress(OSError):
        for entry in os.scandir(folder):
            if name.fullmatch(entry.name):
                _remove_unlocked(Path(entry.path))


def _remove_unlocked(leftover: Path) -> None:
    with suppress(OSError):
        lock = os.open(leftover, os.O_RDONLY | os.O_NONBLOCK)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if leftover.is_dir():
                shutil.rmtree(leftover)
            else:
                leftover.unlink()
        finally:
            os.close(lock)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _plain(value: Any) -> Any:
    import numpy as np

    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
