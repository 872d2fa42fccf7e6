"""Build a knowledge base from dumps, triples, rows or pages (`argus research kb build`).

Out comes a folder of entities and relations that every command takes as --corpus or --kb
(docs/knowledge.md). The steps: read the source into raw tables (`argus.kb.reading`), align pages
with items and write entities and relations (`argus.knowledge.alignment`), index the words of all
paragraphs by BM25, and write the report.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from argus.data.fields import FieldNames
from argus.data.folders import KB_FILE, KB_WORDS, SUMMARY, ArtifactFolder
from argus.data.kb import TABLES, KbWriter, KnowledgeFolder
from argus.data.provenance import content_hash, describe_large_inputs
from argus.data.types import Document
from argus.data.writing import one_writer, take_lock
from argus.engine import EngineConfig, open_given
from argus.errors import InputError
from argus.indexes.lexical import BATCH, LexicalIndex
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder
from argus.kb.reading import Dumps, KbConfig, KbSources, Source, check_source, read_source
from argus.knowledge.alignment import finish
from argus.reports.figures import BAND_COLOURS, framed
from argus.reports.html import KNOWLEDGE, write_report
from argus.reports.section import Section, naming, table
from argus.settings import OUTPUT, Options, Without
from argus.version import __version__

JOB = "kb"
WORK = "work"
REPORT = "report.html"
# One build at a time in a folder.
LOCK = ".lock"


@dataclass(frozen=True, repr=False)
class KbResult(Result):
    """A knowledge base, and the outcomes of all rows read. Also in summary.json.

    unchanged: it was there already, made of the same input by the same settings.

    Keys of the summary:
    read: rows of every input that was read, by outcome: of wikipedia (pages), wikidata (items),
    source (no dump); aligned: counts of the alignment of pages and items.
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
    def exit_code(self) -> int:
        """2 where a dump breaks off."""
        return 2 if self.damage else 0

    @property
    def damage(self) -> dict[str, str]:
        """Dumps that break off, and the places."""
        return dict(self.summary["damage"])

    def open(self) -> KnowledgeFolder:
        """Return it for reading."""
        return KnowledgeFolder.open(self.folder)


@one_writer
def build_kb(
    source: Annotated[Dumps | Source | KbSources, Options(KbSources)],
    *,
    out: Annotated[Path | str, OUTPUT],
    config: KbConfig | None = None,
    fields: Annotated[FieldNames | None, Without("template")] = None,
    engine: o.Engine = None,
    fresh: o.Fresh = False,
) -> KbResult:
    """Make a knowledge base that every command takes as --corpus or --kb (docs/knowledge.md).

    Writes entities, relations, aliases and redirects as Parquet, a BM25 index, summary.json,
    manifest.json and report.html. A build that was stopped goes on where it was. A dump that breaks
    off gives what precedes the damage; the exit code is then 2.

    source: dumps or another source. Raises InputError for input that is no dump, or one of another
    language, ArgusError when the disk is full or another build is at work in the folder. engine:
    what reads and grounds. None takes a process per core.

    Args:
        out: Folder for the knowledge base.
    """
    config = config or KbConfig()
    if isinstance(source, KbSources):
        source = source.open(config, fields or FieldNames(), Path(out))
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
        with open_given(engine or EngineConfig()) as running:
            assert running is not None
            record.runs_on(running)
            work = folder / WORK / reading_key(source, config)
            for other in work.parent.iterdir() if work.parent.is_dir() else ():
                if other != work:  # of another build
                    shutil.rmtree(other)
            work.mkdir(parents=True, exist_ok=True)
            read, damage = read_source(source, config, work, running, record)
            with record.timed("writing the shards"):
                (folder / REPORT).unlink(missing_ok=True)  # it and words are of older shards
                (folder / KB_WORDS).unlink(missing_ok=True)
                writer = KbWriter(folder.path)
                counts = finish(
                    work, writer.write, memory_bytes=config.memory_bytes,
                    sample=config.sample, seed=config.seed,
                    min_words=1 if isinstance(source, Dumps) else config.min_words,
                )  # fmt: skip
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


MAX_SHOWN, MAX_PROPERTIES = 30, 20
"""Entities that the report shows, to be read, and its most frequent properties."""
# Counts of reading that the alignment counts, too.
_ALIGNED_LATER = frozenset(
    (
        *("articles", "redirects", "entities", "deprecated"),
        *("disambiguation", "no text", "no first paragraph", "paragraph too short"),
    )
)


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures of a knowledge base, and the outcomes of its input."""
    counts = summary["counts"]
    relations = [f"{n:,} by {source}" for source, n in counts["relations"].items()]
    yield (
        f"entities: {counts['entities']:,}, of which {counts['targets']:,} can be audited; "
        f"relations: {', '.join(relations) or 'none'}; "
        f"aliases: {counts['aliases']:,}; redirects: {counts['redirects']:,}"
    )
    for name, reasons in summary["outcomes"]:
        yield f"{name}: " + ", ".join(f"{n:,} {reason}" for reason, n in reasons.items())
    for name, where in summary["damage"].items():
        yield f"warning: {name} breaks off: {where}"


def findings(kb: KnowledgeFolder) -> dict[str, Any]:
    """Return the report's figures of the shards.

    related: per number of related entities, from and to (both included), the entities.
    properties: the most frequent ones: property, source of its relations, their number.
    shown: entities to be read: id, label, number of related ones, paragraph.
    """
    kb.entities(["id"], limit=1)  # raises where there is none
    related = (part["related"].to_numpy() for part in kb.batches("entities", ["related"]))
    counts: Counter[tuple[str, str]] = Counter()
    for part in kb.batches("relations", ["property", "source"]):
        groups = part.group_by(["property", "source"]).aggregate([([], "count_all")]).to_pylist()
        for group in groups:
            counts[group["property"], group["source"]] += group["count_all"]
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_PROPERTIES]
    rows = np.unique(np.linspace(0, kb.rows("entities") - 1, MAX_SHOWN).astype(np.int64))
    return {
        "related": related_histogram(related),
        "properties": [{"property": p, "source": s, "relations": n} for (p, s), n in top],
        "shown": kb.take("entities", rows, ["id", "label", "related", "paragraph"]).to_pylist(),
    }


def related_histogram(parts: Iterable[np.ndarray]) -> list[dict[str, int]]:
    """Count entities by number of related ones: 0, 1, 2–3, 4–7, ..."""
    counts = np.zeros(64, np.int64)
    for related in parts:
        bucket = np.where(related > 0, np.floor(np.log2(np.maximum(related, 1))) + 1, 0)
        counts += np.bincount(bucket.astype(int), minlength=len(counts))
    counts = np.trim_zeros(counts, "b")
    return [
        {"from": 2 ** (b - 1) if b else 0, "to": 2**b - 1 if b else 0, "entities": int(n)}
        for b, n in enumerate(counts)
    ]


def outcomes(read: Mapping[str, Any], dropped: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the rows by outcome, for every input and every kind of row.

    Every page and every item of a dump is in it once: as an entity, or under its reason. read:
    rows of every input, as `KbResult` describes them.
    """
    aligned = read.get("aligned", {})
    groups = []
    for name, kind in (("wikipedia", "pages"), ("wikidata", "items")):
        reasons = read.get(name, {})
        if kind in aligned:  # reasons for dropping rows when they were read come last
            lost = aligned[kind]["dropped"]
            entities = aligned[kind]["read"] - sum(lost.values())
            when_read = {reason: n for reason, n in reasons.items() if reason not in _ALIGNED_LATER}
            reasons = {"entities": entities, **lost, **when_read}
        groups.append((name, reasons))
    groups += [("source", read.get("source", {})), ("entities left out", dropped["entities"])]
    relations = {source: dict(reasons) for source, reasons in dropped["relations"].items()}
    if deprecated := read.get("wikidata", {}).get("deprecated"):
        relations.setdefault("wikidata", {})["deprecated"] = deprecated
    groups += [(f"{source} relations left out", n) for source, n in relations.items()]
    return [(name, reasons) for name, reasons in groups if reasons]


def write_words(kb: KnowledgeFolder, folder: Path, *, made_of: str) -> None:
    """Write the BM25 index of label and paragraph of every entity. They are streamed."""

    def contents() -> Iterator[tuple[list[str], list[str]]]:
        names = ["id", "label", "paragraph"]
        for part in kb.batches("entities", names):
            for batch in part.select(names).to_batches(max_chunksize=BATCH):
                ids, labels, paragraphs = (column.to_pylist() for column in batch.columns)
                rows = zip(ids, paragraphs, labels, strict=True)
                texts = [Document(i, text or "", label or "").content for i, text, label in rows]
                yield ids, texts

    LexicalIndex.from_batches(contents(), made_of=made_of).save(folder)


def section(folder: Path, kb: Mapping[str, Any]) -> Section:
    """Build it from summary.json."""
    counts = kb["counts"]
    tables = {
        "kb_read": table(
            {"input": "text", "came to": "text", "number": "count"},
            [[name, what, n] for name, rows in kb["outcomes"] for what, n in rows.items()],
        ),
        "kb_shown": table(
            {"entity": "text", "related": "count", "first paragraph": "text"},
            [[naming(e["label"], e["id"]), e["related"], e["paragraph"]] for e in kb["shown"]],
        ),
    }
    if kb["properties"]:
        rows = [[p["property"], p["source"], p["relations"]] for p in kb["properties"]]
        columns = {"property": "text", "source": "text", "relations": "count"}
        tables["kb_properties"] = table(columns, rows)
    brief = (
        f"{counts['entities']:,} entities, {sum(counts['relations'].values()):,} relations; "
        f"{counts['targets']:,} entities can be audited"
    )
    histogram = kb["related"]
    bars = {
        "type": "bar",
        "x": [
            f"{bar['from']:,}" if bar["to"] == bar["from"] else f"{bar['from']:,}–{bar['to']:,}"
            for bar in histogram
        ],
        "y": [bar["entities"] for bar in histogram],
        "marker": {"color": BAND_COLOURS["high"]},
        "hovertemplate": "%{x} related: %{y:,} entities<extra></extra>",
    }
    figure = framed([bars], "related entities", "entities", {"bargap": 0.04})
    figure["layout"]["xaxis"] |= {"type": "category"}
    return Section({"kb_related": figure}, tables, brief)
