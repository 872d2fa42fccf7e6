"""Build a knowledge base: read, align, finish, index the words, report."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from argus.data.folders import KB_FILE, KB_WORDS, SUMMARY, ArtifactFolder
from argus.data.kb import TABLES, KbWriter, KnowledgeFolder
from argus.data.provenance import content_hash, describe_large_inputs
from argus.data.writing import one_writer, take_lock
from argus.engine import Engine, EngineConfig
from argus.errors import InputError
from argus.indexes.lexical import LexicalIndex
from argus.jobs.on_engine import opened
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder
from argus.kb.config import Dumps, KbConfig, Source
from argus.kb.findings import findings, headline, outcomes, write_words
from argus.kb.reading import check_source, read_source
from argus.knowledge.alignment import AlignSettings, finish
from argus.reports.html import KNOWLEDGE, write_report
from argus.version import __version__

JOB = "kb"
WORK = "work"
REPORT = "report.html"
LOCK = ".lock"
"""One build at a time in a folder."""


@dataclass(frozen=True, repr=False)
class KbResult(Result):
    """A knowledge base, and the outcomes of all rows read. Also in summary.json.

    unchanged: it was there already, made of the same input by the same settings.

    Keys of the summary:
    read: rows of every input that was read, by outcome: of wikipedia (pages), wikidata (items),
    source (no dump) and mentions; aligned: counts of the alignment of pages and items.
    damage: place where a dump breaks off, by its name.
    counts: rows written, as `finish` counts them.
    outcomes: rows by outcome, per input or kind of row.
    related, properties, shown: figures of the shards, as `findings` returns them.
    key: of the finished build.
    words: file of the index of words. None without one.
    language: language of the pages.
    made_of: inputs by name.
    """

    folder: Path
    report: Path
    summary: dict[str, Any]
    unchanged: bool = False

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        if self.unchanged:
            yield f"unchanged: {self.folder} was made of the same input by the same settings"
        yield from headline(self.summary)

    @property
    def damage(self) -> dict[str, str]:
        """Dumps that break off, and the places."""
        return dict(self.summary["damage"])

    def open(self) -> KnowledgeFolder:
        """Return it for reading."""
        return KnowledgeFolder.open(self.folder)


@one_writer
def build_kb(
    source: Dumps | Source,
    *,
    out: Path | str,
    config: KbConfig | None = None,
    engine: EngineConfig | Engine | None = None,
    fresh: bool = False,
) -> KbResult:
    """Make a knowledge base (docs/knowledge.md) of dumps or of another source.

    out: folder of the shards, summary, manifest and report. What a killed build had read is used
    again. Raises InputError for input that is no dump, or one of another language, ArgusError when
    the disk is full or another build is at work in the folder. engine: what reads and grounds. None
    takes a process per core.
    """
    config = config or KbConfig()
    folder = ArtifactFolder(Path(out), fresh=fresh)
    words = folder.path.absolute() / KB_WORDS if config.words else None
    check_source(source, config)
    key, inputs = build_key(source, config), source.inputs()
    record = Record(JOB, asdict(config), dict(inputs))
    check_folder(folder, record)
    with alone(folder.path):
        if not fresh and (finished := _finished(folder, key, words)):
            shutil.rmtree(folder / WORK, ignore_errors=True)  # a kill left it behind the report
            return KbResult(folder.path, folder / REPORT, finished, unchanged=True)
        record.open(folder)
        for name in (WORK, REPORT, *TABLES, KB_FILE, KB_WORDS):
            folder.own(name)
        with opened(engine or EngineConfig()) as running:
            assert running is not None
            record.runs_on(running)
            settings = AlignSettings(
                language=config.language, sample=config.sample, seed=config.seed,
                min_words=1 if isinstance(source, Dumps) else config.min_words,
                memory_bytes=config.memory_bytes,
            )  # fmt: skip
            work = _work_folder(folder, reading_key(source, config))
            read, damage = read_source(source, config, settings, work, running, record)
            with record.timed("writing the shards"):
                (folder / REPORT).unlink(missing_ok=True)  # it and words are of older shards
                (folder / KB_WORDS).unlink(missing_ok=True)
                writer = KbWriter(folder.path)
                counts = finish(work, writer.write, running, settings)
                facts = {
                    "argus": __version__, "key": key, "language": config.language,
                    "sample": config.sample, "damage": damage,
                }  # fmt: skip
                writer.finish(counts["graph"], facts)
        kb = KnowledgeFolder.open(folder.path)
        figures = findings(kb)
        if words is not None:
            with record.timed("indexing the paragraphs"):
                write_words(kb, words, made_of=key)
        summary = {
            "read": read, "damage": damage, "counts": counts,
            "outcomes": outcomes(read, counts["dropped"]), **figures, "key": key,
            "words": None if words is None else str(words), "language": config.language,
            "made_of": {name: str(path) for name, path in inputs.items()},
        }  # fmt: skip
        names = ", ".join(path.name for path in inputs.values())
        record.encoder |= {"what": KNOWLEDGE, "fingerprint": names}
        # Inputs by size and time: hashing a dump takes a quarter of an hour.
        section = replace(record, inputs={}).manifest(dict(counts))
        section |= {"inputs": describe_large_inputs(**inputs)}
        folder.write_results(JOB, summary, section)
        report = write_report(folder.path)
        shutil.rmtree(folder / WORK, ignore_errors=True)
        return KbResult(folder.path, report, summary)


def build_key(source: Dumps | Source, config: KbConfig) -> str:
    """Return the key of a finished build: all settings that change its result."""
    same = replace(config, memory_mib=KbConfig.memory_mib, split_mib=KbConfig.split_mib)
    return content_hash(*_states_of(source), repr(same), size=8).hex()


def reading_key(source: Dumps | Source, config: KbConfig) -> str:
    """Return the key of the parts of a killed build: all settings of reading a dump.

    More memory or another sample cost no second reading.
    """
    read_by = (config.language, config.links, config.min_words, config.limit, config.split_bytes)
    return content_hash(*_states_of(source), repr(read_by), size=8).hex()


def _states_of(source: Dumps | Source) -> list[str]:
    """Return the sizes and times of change of all input: dumps of 100 GB are not hashed."""
    states = [__version__, repr(source)]
    for name, path in source.inputs().items():
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in filter(Path.exists, files):
            status = file.stat()
            states.append(f"{name}={file.resolve()}:{status.st_size}:{status.st_mtime_ns}")
    return states


def _finished(folder: ArtifactFolder, key: str, words: Path | None) -> dict[str, Any] | None:
    """Return the summary if all that a build writes is there, and is its own.

    The shards tell whose they are, and so do words. A report is the newest that there is: a build
    removes it before it writes shards.
    """
    summary = folder.read_json(SUMMARY).get(JOB)
    if not isinstance(summary, dict) or summary.get("key") != key:
        return None
    try:
        key_of_shards = KnowledgeFolder.open(folder.path).facts.get("key")
    except InputError:  # it is made again
        return None
    has_words = words is None or LexicalIndex.is_saved(words, made_of=key)
    if key_of_shards != key or not has_words or not (folder / REPORT).is_file():
        return None
    return summary


def _work_folder(folder: ArtifactFolder, key: str) -> Path:
    """Return where parts go. Those of another build are removed."""
    home = folder / WORK
    if home.is_dir():
        for other in home.iterdir():
            if other.is_dir() and other.name != key:
                shutil.rmtree(other)
    work = home / key
    work.mkdir(parents=True, exist_ok=True)
    return work


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other builds out of a folder, which is made.

    Raises ArgusError where one is at work there, InputError for a folder that cannot be written.
    """
    busy = f"{folder} is in use by another kb build; wait for it, or give another --out."
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = take_lock(folder / LOCK, busy=busy)
    except OSError as error:
        got, expected = f"cannot be written ({error.strerror})", "a folder that can be written"
        raise InputError(got, expected=expected, fix="Give another --out.", where=folder) from error
    with lock:
        yield
