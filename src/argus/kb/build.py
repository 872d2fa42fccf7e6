"""Build a knowledge base: read, align, finish, index the words, report."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from argus.data.folders import SUMMARY, ArtifactFolder
from argus.data.kb import TABLES, KbWriter, KnowledgeFolder
from argus.data.kb_file import WORDS
from argus.data.provenance import content_hash, describe_large_inputs
from argus.data.reading import read_record
from argus.data.storage import KB_FILE, absolute, is_remote, local_path, state_of_file
from argus.data.writing import one_writer, take_lock
from argus.engine import Engine, EngineConfig
from argus.errors import InputError
from argus.indexes.lexical import LexicalIndex
from argus.jobs.on_engine import opened
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder
from argus.kb.config import MEMORY_BYTES, Dumps, KbConfig, Source
from argus.kb.findings import BuildCounts, KbSummary, findings, headline, outcomes, write_words
from argus.kb.reading import RawInput
from argus.knowledge.alignment import AlignSettings, finish
from argus.knowledge.dumps import SPLIT_SIZE
from argus.reports.html import KNOWLEDGE, write_report
from argus.version import __version__


def build_key(source: Dumps | Source, config: KbConfig, place: str | None) -> str:
    """Return the key of a finished build: all settings that change its result.

    place: of the shards, if they are not in the folder of the build.
    """
    same = replace(config, memory_bytes=MEMORY_BYTES, split_bytes=SPLIT_SIZE)
    return content_hash(*_states_of(source), repr(same), place or "", size=8).hex()


def reading_key(source: Dumps | Source, config: KbConfig) -> str:
    """Return the key of the parts of a killed build: all settings of reading a dump.

    More memory, another sample or another place for the shards cost no second reading.
    """
    read_by = (config.language, config.links, config.min_words, config.limit, config.split_bytes)
    return content_hash(*_states_of(source), repr(read_by), size=8).hex()


def state_of(location: Path | str) -> str:
    """Return the state of a file, or of the files in a folder: sizes and times of change.

    Dumps of 100 GB are not hashed before each start. Objects in stores are asked for theirs.
    """
    if not is_remote(location):
        path = local_path(location)
        if path.is_dir():
            files = sorted(p for p in path.rglob("*") if p.is_file())
            return content_hash(*(_stat(p) for p in files)).hex()
        return _stat(path) if path.exists() else str(path)
    state = state_of_file(location)
    return f"{location}:{state[0]}:{state[1]}" if state else str(location)


def _stat(path: Path) -> str:
    status = path.stat()
    return f"{path.resolve()}:{status.st_size}:{status.st_mtime_ns}"


def _states_of(source: Dumps | Source) -> list[str]:
    states = [f"{name}={state_of(path)}" for name, path in source.inputs().items()]
    return [__version__, *states, repr(source)]


JOB = "kb"
WORK = "work"
REPORT = "report.html"
LOCK = ".lock"
"""One build at a time in a folder."""


@dataclass(frozen=True, repr=False)
class KbResult(Result):
    """A knowledge base, and the outcomes of all rows read. Also in summary.json.

    unchanged: it was there already, made of the same input by the same settings.
    """

    folder: Path
    report: Path
    summary: KbSummary
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
        return KnowledgeFolder.open(self.summary["shards"])


@one_writer
def build_kb(
    source: Dumps | Source,
    *,
    out: Path | str,
    config: KbConfig | None = None,
    shards: str | None = None,
    engine: EngineConfig | Engine | None = None,
    fresh: bool = False,
) -> KbResult:
    """Make a knowledge base (docs/knowledge.md) of dumps or of another source.

    out: folder of summary, manifest, report and, unless `shards` names another place (a path, or
    s3:// or gs://), of the shards. What a killed build had read is used again. Raises InputError
    for input that is no dump, or one of another language, ArgusError when the disk is full or
    another build is at work in the folder. engine: what reads and grounds. None takes a process per
    core.
    """
    config = config or KbConfig()
    folder = ArtifactFolder(Path(out), fresh=fresh)
    place = absolute(shards or folder.path)
    raw = RawInput(source, config)
    build = _Build(source, config, folder, place, build_key(source, config, shards and place))
    record = Record(JOB, asdict(config) | {"shards": place}, dict(source.inputs()))
    check_folder(folder, record)
    with alone(folder.path, *filter(None, [build.shards_here])):
        if not fresh and (summary := build.finished()):
            build.clear()  # parts that a kill left behind the report
            return KbResult(folder.path, folder / REPORT, summary, unchanged=True)
        record.open(folder)
        build.own()
        with opened(engine or EngineConfig()) as running:
            assert running is not None
            record.runs_on(running)
            counts = build.shards(raw, running, record)
        summary = build.tell(counts, record)
        return KbResult(folder.path, build.report(record, summary), summary)


@dataclass(frozen=True)
class _Build:
    """A build that may write. place: of the shards. key: of the finished build."""

    source: Dumps | Source
    config: KbConfig
    folder: ArtifactFolder
    place: str
    key: str

    @property
    def shards_here(self) -> Path | None:
        """The folder of the shards. None in an object store."""
        return None if is_remote(self.place) else local_path(self.place)

    @property
    def words(self) -> Path | None:
        """Folder of the index of words, beside the shards. None without an index."""
        here = self.shards_here
        return here / WORDS if here is not None and self.config.words else None

    def own(self) -> None:
        """Record in the folder the files that are written there beside summary and manifest."""
        names, here = [WORK, REPORT], self.shards_here
        if here is not None and here.resolve() == self.folder.path.resolve():
            names += [*TABLES, KB_FILE, WORDS]
        for name in names:
            self.folder.own(name)

    def finished(self) -> KbSummary | None:
        """Return the summary if all that this build writes is there, and is its own.

        The shards tell whose they are, and so do words: two folders may share a place for them. A
        report is the newest that there is: a build removes it before it writes shards.
        """
        content = self.folder.read_json(SUMMARY).get(JOB)
        if not isinstance(content, dict) or content.get("key") != self.key:
            return None
        try:
            summary = read_record(KbSummary, content, where=self.folder / SUMMARY, section=JOB)
            theirs = KnowledgeFolder.open(self.place).facts.get("key")
        except InputError:  # it is made again
            return None
        if theirs != self.key or not (self.folder / REPORT).is_file():
            return None
        if self.words is not None and not LexicalIndex.is_saved(self.words, made_of=self.key):
            return None
        return {**summary, "shards": self.place}

    def shards(self, raw: RawInput, engine: Engine, record: Record) -> BuildCounts:
        """Read the source and write the shards. Return the counts."""
        config = self.config
        settings = AlignSettings(
            language=config.language, sample=config.sample, seed=config.seed,
            min_words=1 if raw.is_of_dumps else config.min_words,
            memory_bytes=config.memory_bytes,
        )  # fmt: skip
        work = _work_folder(self.folder, reading_key(self.source, config))
        read = raw.to_raw(work, settings, engine, record)
        with record.timed("writing the shards"):
            self._remove_older()
            writer = KbWriter(self.place)
            counts = finish(work, writer, engine, settings)
            facts = {
                "argus": __version__,
                "key": self.key,
                "language": config.language,
                "sample": config.sample,
                "damage": read.damage,
            }
            writer.finish(counts["graph"], facts)
        return {
            "read": read.counts,
            "damage": read.damage,
            "counts": counts,
            "outcomes": outcomes(read.counts, counts["dropped"]),
        }

    def tell(self, counts: BuildCounts, record: Record) -> KbSummary:
        """Index the words of the shards. Return the values of the summary."""
        kb = KnowledgeFolder.open(self.place)
        shards = findings(kb)
        if self.words is not None:
            with record.timed("indexing the paragraphs"):
                write_words(kb, self.words, made_of=self.key)
        return {
            **counts,
            **shards,
            "key": self.key,
            "shards": self.place,
            "words": None if self.words is None else str(self.words),
            "language": self.config.language,
            "made_of": {name: str(path) for name, path in self.source.inputs().items()},
        }

    def report(self, record: Record, summary: KbSummary) -> Path:
        """Write summary, manifest and, last, the report. Return it.

        Inputs are in the manifest by size and time: hashing a dump takes a quarter of an hour.
        """
        inputs = self.source.inputs()
        names = ", ".join(path.name for path in inputs.values())
        record.encoder |= {"what": KNOWLEDGE, "fingerprint": names}
        section = replace(record, inputs={}).manifest(dict(summary["counts"]))
        section |= {"inputs": describe_large_inputs(**inputs)}
        self.folder.write_results(JOB, summary, section)
        report = write_report(self.folder.path)
        self.clear()
        return report

    def clear(self) -> None:
        """Remove the parts that shards were made of."""
        shutil.rmtree(self.folder / WORK, ignore_errors=True)

    def _remove_older(self) -> None:
        """Remove files made of older shards. They would be taken for files made of these."""
        (self.folder / REPORT).unlink(missing_ok=True)
        for home in filter(None, (self.folder.path, self.shards_here)):
            LexicalIndex.remove(home / WORDS)


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
def alone(*folders: Path) -> Iterator[None]:
    """Keep other builds out of folders, which are made.

    Raises ArgusError where one is at work there, InputError for a folder that cannot be written.
    """
    with ExitStack() as locks:
        for folder in dict.fromkeys(path.resolve() for path in folders):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                busy = (
                    f"{folder} is in use by another kb build; wait for it, or give another --out "
                    "(and --shards)."
                )
                locks.enter_context(take_lock(folder / LOCK, busy=busy))
            except OSError as error:
                raise InputError(
                    f"cannot be written ({error.strerror})",
                    expected="a folder that can be written",
                    fix="Give another --out (and --shards).",
                    where=folder,
                ) from error
        yield
