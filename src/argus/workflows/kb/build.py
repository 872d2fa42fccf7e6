"""`argus kb build`, step by step: read, align, finish, index the words, say what became of it."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from argus import __version__
from argus.data.artifacts import ArtifactFolder
from argus.data.kb import KbWriter, KnowledgeFolder
from argus.data.provenance import content_hash
from argus.engine import Engine, EngineConfig
from argus.errors import ArgusError, InputError
from argus.knowledge.alignment import AlignSettings, finish
from argus.reports.html import KNOWLEDGE, write_report
from argus.workflows.kb.findings import findings, outcomes, write_words
from argus.workflows.kb.raw import RawInput, Source
from argus.workflows.kb.settings import (
    MEMORY_BYTES,
    SPLIT_BYTES,
    Dumps,
    KbConfig,
    state_of,
)
from argus.workflows.on_engine import opened
from argus.workflows.reference import WORDS
from argus.workflows.workspace import Record

JOB = "kb"
WORK = "work"


@dataclass(frozen=True)
class KbResult:
    """A knowledge base, and what became of everything that was read; also in summary.json.

    unchanged: it was there already, made of the same input by the same settings.
    """

    folder: Path
    report: Path
    summary: dict[str, Any]
    unchanged: bool = False

    @property
    def damage(self) -> dict[str, str]:
        """Which dumps break off, and where."""
        return dict(self.summary["damage"])

    def open(self) -> KnowledgeFolder:
        """Return it for reading."""
        return KnowledgeFolder.open(self.summary["shards"])


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
    for input that is no dump, or one of another language, ArgusError when the disk is full. engine:
    what reads and grounds; None takes a process per core.
    """
    config = config or KbConfig()
    folder = ArtifactFolder(Path(out), fresh=fresh)
    place = shards or str(folder.path)
    given = RawInput(source, config)
    key = _key(source, config, place)
    reading = _reading_key(source, config)
    if not fresh and (summary := _finished(folder, key)):
        return KbResult(folder.path, folder / "report.html", summary, unchanged=True)
    record = Record(JOB, asdict(config) | {"shards": place}, dict(source.inputs()))
    record.open(folder)
    with _alone(folder), opened(engine or EngineConfig()) as running:
        assert running is not None
        record.runs_on(running)
        summary = _build(given, config, _work_folder(folder, reading), place, running, record)
    summary |= {"key": key, "shards": place, "language": config.language}
    summary |= {"made_of": {name: str(path) for name, path in source.inputs().items()}}
    kb = KnowledgeFolder.open(place)
    summary |= findings(kb) | {"outcomes": outcomes(summary)}
    if config.words:
        with record.timed("indexing the paragraphs"):
            write_words(kb.documents(), folder / WORDS)
    names = ", ".join(path.name for path in source.inputs().values())
    record.encoder |= {"what": KNOWLEDGE, "fingerprint": names}
    folder.write_section("summary.json", JOB, summary)
    folder.write_section("manifest.json", JOB, record.manifest(summary["counts"]))
    shutil.rmtree(folder / WORK, ignore_errors=True)
    return KbResult(folder.path, write_report(folder.path), summary)


def _build(
    given: RawInput, config: KbConfig, work: Path, place: str, engine: Engine, record: Record
) -> dict[str, Any]:
    settings = AlignSettings(
        language=config.language, sample=config.sample, seed=config.seed,
        min_words=1 if given.is_of_dumps else config.min_words, memory_bytes=config.memory_bytes,
    )  # fmt: skip
    read = given.to_raw(work, settings, engine, record)
    with record.timed("writing the shards"):
        writer = KbWriter(place)
        counts = finish(work, writer, engine, settings)
        facts = {
            "argus": __version__,
            "language": config.language,
            "sample": config.sample,
            "damage": read.damage,
        }
        writer.finish(counts["graph"], facts)
    return {"read": read.counts, "damage": read.damage, "counts": counts}


def _key(source: Dumps | Source, config: KbConfig, place: str) -> str:
    """Return what a finished build is known by: all but what changes nothing in it."""
    same = replace(config, memory_bytes=MEMORY_BYTES, split_bytes=SPLIT_BYTES)
    return content_hash(*_states(source), repr(same), repr(source), place, size=8).hex()


def _reading_key(source: Dumps | Source, config: KbConfig) -> str:
    """Return what the parts of a killed build are known by: what reading a dump depends on.

    More memory, another sample or another place for the shards cost no second reading.
    """
    read_by = (config.language, config.links, config.min_words, config.limit, config.split_bytes)
    return content_hash(*_states(source), repr(read_by), repr(source), size=8).hex()


def _states(source: Dumps | Source) -> list[str]:
    return [f"{name}={state_of(path)}" for name, path in source.inputs().items()]


def _finished(folder: ArtifactFolder, key: str) -> dict[str, Any] | None:
    summary = folder.read_json("summary.json").get(JOB)
    if not isinstance(summary, dict) or summary.get("key") != key:
        return None
    try:
        KnowledgeFolder.open(summary["shards"])
    except InputError:  # it is made again
        return None
    return summary


@contextmanager
def _alone(folder: ArtifactFolder) -> Iterator[None]:
    """Keep a second build out of the folder."""
    home = folder / WORK
    home.mkdir(exist_ok=True)
    with (home / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ArgusError(
                f"{folder.path} is in use by another kb build; wait for it, or give another --out."
            ) from error
        yield


def _work_folder(folder: ArtifactFolder, key: str) -> Path:
    """Return where parts go; those of another build are removed."""
    home = folder / WORK
    if home.is_dir():
        for other in home.iterdir():
            if other.is_dir() and other.name != key:
                shutil.rmtree(other)
    work = home / key
    work.mkdir(parents=True, exist_ok=True)
    return work
