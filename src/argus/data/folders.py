"""Write and read a folder of results (`--out`): tables, `summary.json` and `manifest.json`.

Jobs over one corpus may share a folder, so each JSON file has a section per job. A job writes its
section of `manifest.json` last, with the hashes of its summary and tables: files of two runs are
never taken for one run (`check_one_run`). The file `.argus` names all that Argus wrote, so that
`--fresh` removes nothing else. All jobs use `ArtifactFolder`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.commands import invocation_of
from argus.data.provenance import describe_inputs, file_hash
from argus.data.reading import MAX_BYTES, WRITTEN, parse_json, read_own, reading
from argus.data.writing import (
    check_plain,
    hold,
    remove,
    remove_leftovers,
    replacing,
    waiting_for,
    writable,
    write_whole,
)
from argus.errors import InputError, Location, NotWritten
from argus.hidden import LEAST_IN_FILES, without_known

if TYPE_CHECKING:
    import pyarrow as pa

MARKER = ".argus"
NOTE = "# Argus wrote these here; --fresh removes them.\n"  # the first line of that file
SUMMARY, MANIFEST = "summary.json", "manifest.json"
PARTS = "parts"  # the key of these hashes in a section of the manifest
KB_FILE, KB_WORDS = "kb.json", "words"  # of a knowledge base: its list of shards, its BM25 index
KB_TABLES = ("entities", "relations", "aliases", "redirects")
ManifestSection = dict[str, Any]  # see `read_manifest`


class ArtifactFolder:
    """An output folder. Nothing is made or removed before `open`.

    Each name is recorded in it before its file is written: by the methods here, and by `own` for
    files that a job writes itself. A link of that name is replaced, and never followed.
    fresh: opening removes all that is recorded, and nothing else. A folder that Argus did not write
    is refused, and so is a name that somebody else's file has.
    Raises InputError when the path is a file.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path, self.fresh = path, fresh
        self._marker = path / MARKER
        self._busy = (
            f"{path} is being written to by another run; wait for it, or give another --out. "
            "Nothing was changed."
        )
        self._tables: dict[str, str] = {}  # hashes of those written since the last summary
        if not path.is_dir() and (path.exists() or path.is_symlink()):
            got = "is a file" if path.exists() else f"is a link to {path.readlink()}: not there"
            raise self._refused(got, fix="Give another --out.")
        if fresh and path.exists() and any(path.iterdir()) and not self._record:
            got = "holds files that Argus did not write, or did not record"
            fix = "--fresh deletes only Argus's own results: give another --out, or clear it."
            raise self._refused(got, fix=fix)

    def _refused(self, got: str, *, fix: str, name: str = "") -> InputError:
        expected = "a folder for results of Argus alone"
        return InputError(got, expected=expected, fix=fix, where=self.path / name)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def open(self) -> None:
        """Make the folder and, once, empty it if `fresh`. Call it when all input is checked.

        It is the job's own from then on (`one_writer`). Raises ArgusError where another run has
        it, InputError where it cannot be written.
        """
        check_plain(self._marker)
        for name in (SUMMARY, MANIFEST):  # every job writes these: refuse them before hours of work
            self._refuse_foreign(name)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            hold(self._marker, busy=self._busy)
            remove_leftovers(self.path)
            if self.fresh:
                for name in self.recorded():  # a damaged record must not lead out of the folder
                    if Path(name).name == name and name not in ("", ".", "..") and "\0" not in name:
                        remove(self.path / name)
                self._marker.write_text(NOTE, encoding="utf-8")
            self.fresh = False
            self._begin_record()
        except OSError as error:
            raise NotWritten(error.filename or self.path, error) from error

    def own(self, name: str, *, goes_on: bool = False) -> Path:
        """Return the path of a file or folder in it, recorded as written by Argus.

        goes_on: the job reads the file that is there and goes on with it, whoever wrote it. Without
        it, a file of somebody else raises InputError.
        """
        check_plain(self._marker)
        path = self.path / name
        if goes_on or not path.is_symlink() or path.is_dir():
            check_plain(path)
        if not goes_on:
            self._refuse_foreign(name)
            if path.is_symlink():
                path.unlink()
        if name not in self.recorded():
            with writable(self._marker):
                self._begin_record()
                with self._marker.open("a", encoding="utf-8") as marker:
                    marker.write(f"{name}\n")  # appended: two jobs may write at once
        return path

    def recorded(self) -> frozenset[str]:
        """Return the names of all that Argus wrote here."""
        return frozenset(self._record.splitlines()[1:])

    @property
    def _record(self) -> str:
        """Text of the marker, "" where Argus wrote none. Damaged bytes make names of no file."""
        if not self._marker.is_file():
            return ""
        with self._marker.open(encoding="utf-8", errors="replace") as marker:
            text = marker.read(MAX_BYTES)
        return text if text.startswith(NOTE) else ""

    def _begin_record(self) -> None:
        if not self._record:
            self._marker.write_text(NOTE, encoding="utf-8")

    def _refuse_foreign(self, name: str) -> None:
        if name in self._foreign:
            got, fix = "is there, and Argus did not write it", "Move it, or give another --out."
            raise self._refused(got, fix=fix, name=name)

    @cached_property
    def _foreign(self) -> frozenset[str]:
        """Names of files that lay there before this job without a record.

        Results without any record are a copy that left hidden files behind: nothing is foreign.
        """
        entries = self.path.iterdir() if self.path.is_dir() else ()
        there = {entry.name for entry in entries if not entry.is_dir()}
        if not self._record and there >= {SUMMARY, MANIFEST}:
            return frozenset()
        return frozenset(there - self.recorded() - {MARKER})

    def read_json(self, name: str) -> dict[str, Any]:
        """Return the sections of a JSON file, none where there is no file."""
        path = self.path / name
        if not path.is_file():
            return {}
        expected, fix = "the file as Argus wrote it", "Remove it, or run again with --fresh."
        with reading(path, "broken JSON", expected=expected, fix=fix):
            return {**parse_json(read_own(path))}

    def write_json(self, name: str, value: Any) -> Path:
        """Write `value` as indented JSON, without secrets. Raises ValueError for NaN."""

        def plain(value: Any) -> Any:
            if hasattr(value, "tolist"):  # of numpy
                return value.tolist()
            if isinstance(value, Path):
                return str(value)
            raise TypeError(f"{type(value).__name__} cannot be written as JSON")

        path = self.own(name)
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=plain)
        write_whole(path, without_known(text, LEAST_IN_FILES) + "\n")
        return path

    def write_section(self, name: str, section: str, value: Any) -> Path:
        """Set one section of a JSON file and keep the others, whoever else writes one."""
        with self._locked():
            return self.write_json(name, {**self.read_json(name), section: value})

    def write_results(self, job: str, summary: Any, manifest: Any) -> None:
        """Write a job's summary and, last, its section of the manifest with the hashes of both.

        A table belongs to the job that wrote it last.
        """
        self.write_section(SUMMARY, job, summary)
        digest = _section_hash(self.read_json(SUMMARY)[job])
        parts: dict[str, object] = {SUMMARY: digest, **self._tables}
        with self._locked():
            sections = read_manifest(self.path)
            for section in sections.values():
                section[PARTS] = {n: h for n, h in section[PARTS].items() if n not in self._tables}
            sections.pop(job, None)  # they stand in the order in which they were written
            section = {**manifest, "invocation": invocation_of(self.path), PARTS: parts}
            self.write_json(MANIFEST, {**sections, job: section})
        self._tables = {}  # the next job that writes through this object has its own

    @contextmanager
    def _locked(self) -> Iterator[None]:
        check_plain(self._marker)
        self._begin_record()
        with waiting_for(self._marker, busy=self._busy):
            yield

    def write_table(self, name: str, table: pa.Table, *, csv: bool = False) -> Path:
        """Write `name.parquet` and, with `csv`, `name.csv` without cells that are formulas."""
        import pyarrow.csv

        from argus.data.tables import harmless_table, write_table

        path = self.own(f"{name}.parquet")
        with replacing(path) as temporary:
            write_table(table, temporary)
            self._tables[path.name] = file_hash(temporary)
        if csv:
            with replacing(self.own(f"{name}.csv")) as temporary:
                pyarrow.csv.write_csv(harmless_table(table), temporary)
        return path


def read_manifest(folder: Path) -> dict[str, ManifestSection]:
    """Return the sections of manifest.json by job, none where there is no file.

    Raises InputError for a section that is not as a job writes it. Times are ISO 8601 in UTC.

    argus: version.
    started, finished: times.
    config: all settings by name.
    inputs: name, size and hash of each file that the job read.
    encoder: fingerprint and the like of the encoder whose vectors the job measured, or `what` in
        its place, such as "index".
    engine: as `Engine.describe` returns it, where the job ran on one.
    counts: figures of the job.
    timings_s: seconds by step.
    peak_memory_bytes: of this process.
    environment: versions and hardware.
    invocation: how the job was started, as `argus.commands.invocation_of` returns it.
    parts: SHA-256 of the summary and of each table of the job, by name of the file.
    """
    sections: dict[str, ManifestSection] = ArtifactFolder(folder).read_json(MANIFEST)
    for job, section in sections.items():
        where = Location(folder / MANIFEST, field=job)
        with reading(where, "is damaged", expected="the file as Argus wrote it", fix=WRITTEN):
            for name in ("config", "inputs", "encoder", PARTS):
                section[name] = {**section[name]}
    return sections


def corpora_in(folder: Path) -> dict[str, tuple[str, str, Mapping[str, Any]]]:
    """Return, for each job in a folder that read a corpus file, its name, hash and the config."""
    corpora = {}
    for job, section in read_manifest(folder).items():
        if corpus := section["inputs"].get("corpus"):
            corpora[job] = corpus["file"], corpus["sha256"], section["config"]
    return corpora


def torn_jobs(folder: Path) -> dict[str, Path]:
    """Return the jobs that have a file of another run, with that file.

    A run that was stopped while it wrote leaves some of its files beside those of the run before.
    """
    files = ArtifactFolder(folder)
    summary = files.read_json(SUMMARY)
    torn: dict[str, Path] = {}
    for job, section in read_manifest(folder).items():
        for name, digest in section[PARTS].items():
            path = folder / Path(name).name
            if name == SUMMARY:
                found = _section_hash(summary.get(job))
            elif path.is_file():
                found = file_hash(path)
            else:
                continue  # a table that was removed since
            if found != digest:
                torn.setdefault(job, path)
    return torn


def check_one_run(folder: Path, *jobs: str) -> None:
    """Raise InputError where one of these jobs is torn (`torn_jobs`). Any, where none is named."""
    for job, path in torn_jobs(folder).items():
        if not jobs or job in jobs:
            got = f"is not of the run of {job} that {MANIFEST} tells of"
            fix = f"Run {job} again with the same --out: a run was stopped, or files of two mixed."
            raise InputError(got, expected="the results of one run", fix=fix, where=path)


def is_current(folder: Path, job: str) -> bool:
    """Return whether a folder has whole results of a job, made of its inputs as they are now.

    The inputs are files: for another input, such as a store, the answer is False.
    """
    manifest = read_manifest(folder)
    if job not in manifest or job in torn_jobs(folder):
        return False
    read = manifest[job]["inputs"]
    return bool(describe_inputs(**{n: Path(of["file"]) for n, of in read.items()}) == read)


def kb_file(path: Path) -> Path | None:
    """Return the `kb.json` of a folder. None for a folder without one.

    `path` may be that file itself. Raises InputError for a folder in which a build was not
    finished.
    """
    file = path if path.name == KB_FILE else path / KB_FILE
    folder = file.parent
    if file.is_file():
        return file
    is_build = (folder / MARKER).is_file() and (folder / "work").is_dir()
    if is_build or any((folder / name / "part-00000.parquet").is_file() for name in KB_TABLES):
        fix = "Run the same kb build again: it goes on where it was."
        expected = f"a whole knowledge base ({KB_FILE})"
        raise InputError("was not finished", expected=expected, fix=fix, where=folder)
    return None


def _section_hash(section: object) -> str:
    return hashlib.sha256(json.dumps(section, sort_keys=True).encode()).hexdigest()
