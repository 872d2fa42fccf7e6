"""Read the source of a knowledge base into raw tables, in parts from which a killed build resumes.

The first step of `argus research kb build`. Dumps are read block by block, in several processes,
into `work/TABLE/000012.parquet`. `argus.knowledge.blocks` cuts the blocks, `argus.knowledge.dumps`
parses them, and `argus.knowledge.alignment` reads the tables next.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.reading import parse_json, read_own
from argus.data.writing import replacing, write_whole
from argus.engine import Engine, Work
from argus.errors import InputError
from argus.extras import MissingPackage
from argus.jobs.workspace import Record
from argus.kb.config import Dumps, KbConfig, Source
from argus.knowledge.alignment import align
from argus.knowledge.blocks import Block, RecordKind, blocks_of, head_of, records_of
from argus.knowledge.dumps import read_items, read_pages
from argus.knowledge.raw import RawWriter
from argus.knowledge.site import Site, read_site
from argus.progress import progress


@dataclass(frozen=True)
class Part:
    """One block of a dump, read. damage: where and why the dump breaks off behind it."""

    number: int
    tables: Mapping[str, pa.Table]
    counts: Mapping[str, int]
    damage: str | None = None


class DumpParts:
    """The parts of one dump under `work`: `TABLE/000012.parquet`, and a note of its contents.

    A part's note is written last: a part without one is not whole, and is read again.
    """

    def __init__(self, work: Path, dump: str) -> None:
        self._work, self._notes = work, work / f"{dump}-parts"
        self._notes.mkdir(parents=True, exist_ok=True)

    def numbers(self) -> set[int]:
        """Return which blocks are there."""
        return {int(path.stem) for path in self._notes.glob("*.json")}

    def end(self) -> float:
        """Return the number of the part in which the dump breaks off. Infinity if in none."""
        return min((n for n in self.numbers() if self._note(n)["damage"] is not None), default=inf)

    def add(self, part: Part) -> None:
        """Write a part."""
        for name, table in part.tables.items():
            home = self._work / name
            home.mkdir(exist_ok=True)
            with replacing(home / f"{part.number:06d}.parquet") as temporary:
                pq.write_table(table, temporary, compression="zstd")
        counts, tables = dict(part.counts), list(part.tables)
        note = {"tables": tables, "counts": counts, "damage": part.damage}
        write_whole(self._notes / f"{part.number:06d}.json", json.dumps(note))

    def settle(self) -> tuple[Counter[str], str | None]:
        """Return the counts over all parts, and the damage. Parts behind it are taken away."""
        counts: Counter[str] = Counter()
        damage: str | None = None
        for path in sorted(self._notes.glob("*.json")):
            note = self._note(int(path.stem))
            if damage is not None:
                for name in note["tables"]:
                    (self._work / name / f"{path.stem}.parquet").unlink(missing_ok=True)
                path.unlink()
                continue
            counts.update(note["counts"])
            damage = note["damage"]
        return counts, damage

    def _note(self, number: int) -> Any:
        return parse_json(read_own(self._notes / f"{number:06d}.json"))


LIBRARIES = ("duckdb", "markdown_it", "mwparserfromhell", "orjson", "rapidgzip", "selectolax")
FIRST_BYTES = 1 << 20
"""Size of a block where only the first records are wanted."""
_NO_RECORD = b"[], \t\r\n"
"""Characters of the lines of a JSON array that hold no entity."""


def check_source(source: Dumps | Source, config: KbConfig) -> None:
    """Check a source before anything is touched.

    Raises MissingPackage where a library lacks, before hours of work, and InputError for bad dumps.
    """
    for name in LIBRARIES:
        if find_spec(name) is None:
            raise MissingPackage(name)
    if isinstance(source, Dumps):
        if source.wikipedia:
            site_of(source.wikipedia, config)
        head = head_of(source.wikidata).lstrip(b"\xef\xbb\xbf \t\r\n") if source.wikidata else b"["
        if not head.startswith((b"[", b"{")):
            raise InputError(
                f"begins with {head[:40].decode('utf-8', 'replace')!r}",
                expected="a JSON dump: [, then one entity per line (latest-all.json.bz2 or .gz)",
                fix="Take the JSON dump of Wikidata; an RDF one (.nt) goes to --triples.",
                where=source.wikidata,
            )


def read_source(
    source: Dumps | Source,
    config: KbConfig,
    work: Path,
    engine: Engine,
    record: Record,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Write the raw tables under `work`. Parts of dumps that are there are not read again.

    Returns the rows of every input by outcome (see `KbResult`), and where dumps break off.
    """
    counts: dict[str, Any] = {}
    damage: dict[str, str] = {}
    if isinstance(source, Dumps):
        for name, location in (("wikipedia", source.wikipedia), ("wikidata", source.wikidata)):
            if not location:
                continue
            with record.timed(f"reading {name.capitalize()}"):
                parts = DumpParts(work, name)
                if name == "wikipedia":
                    read, broken = read_wikipedia(location, parts, config, engine)
                else:
                    read, broken = read_wikidata(location, parts, config, engine)
            counts[name] = dict(read)
            if broken is not None:
                damage[name] = broken
        with record.timed("aligning"):
            counts["aligned"] = align(work, memory_bytes=config.memory_bytes)
    else:
        with record.timed("reading"), RawWriter(work, limit=config.limit) as raw:
            counts["source"] = source.write(raw)
            if raw.beyond:
                counts["source"] |= {"entities beyond --limit": raw.beyond}
    return counts, damage


def site_of(location: str, config: KbConfig) -> Site:
    """Return whose dump it is. Raises InputError for another language's, or for no dump."""
    site = read_site(head_of(location), where=location)
    if site.dbname != config.site:
        code = site.dbname.removesuffix("wiki").replace("_", "-") or "CODE"
        raise InputError(
            f"a dump of {site.dbname} (language {site.language or 'not given'})",
            expected=f"one of {config.site}, as --lang {config.language} says",
            fix=f"Give --lang {code}, or the dump of {config.site}.",
            where=location,
        )
    return site


ReadRecords = Callable[[Iterator[bytes]], tuple[dict[str, pa.Table], dict[str, int]]]
"""Makes tables of the records of a dump, and counts them by reason."""


def read_wikipedia(
    location: str, parts: DumpParts, config: KbConfig, engine: Engine
) -> tuple[Counter[str], str | None]:
    """Read the blocks of a dump of pages that are not yet in `parts`.

    Returns counts per reason, and where the dump breaks off, if it does.
    """
    site, links, min_words = site_of(location, config), config.links, config.min_words
    read = partial(read_pages, site=site, links=links, min_words=min_words)
    return _read(location, "page", read, parts, config, engine)


def read_wikidata(
    location: str, parts: DumpParts, config: KbConfig, engine: Engine
) -> tuple[Counter[str], str | None]:
    """Read the blocks of a dump of items, as `read_wikipedia` does."""
    read = partial(read_items, language=config.language)
    return _read(location, "line", read, parts, config, engine)


def _read(
    location: str,
    kind: RecordKind,
    read: ReadRecords,
    parts: DumpParts,
    config: KbConfig,
    engine: Engine,
) -> tuple[Counter[str], str | None]:
    done, end = parts.numbers(), parts.end()

    def feed() -> Iterator[Block]:
        for block in blocks_of(location, kind, size=config.split_bytes, skip=done):
            if block.number > end:  # nothing behind damage is taken
                return
            yield block

    def first() -> Iterator[bytes]:
        for block in blocks_of(location, kind, size=FIRST_BYTES):
            yield from (one for one in records_of(block, kind) if one.strip(_NO_RECORD))
            damage.append(block.damage)

    if config.limit is not None and not done:  # in this process, into one part
        damage: list[str | None] = []
        tables, counts = read(islice(first(), config.limit))
        parts.add(Part(0, tables, counts, next(filter(None, damage), None)))
    elif config.limit is None and not (end < inf and done.issuperset(range(int(end)))):
        what = f"reading {'pages' if kind == 'page' else 'items'}"
        work = Work(setup=open_reader, shared=(kind, read), what=what)
        with progress(what, None) as advance:
            for _, part in engine.run(work, feed()):
                parts.add(part)
                end = end if part.damage is None else min(end, part.number)
                advance(sum(part.counts.values()))
    return parts.settle()


def open_reader(shared: tuple[RecordKind, ReadRecords]) -> Callable[[Block], Part]:
    """Return a reader of a block of a dump. Called in every worker."""
    kind, read = shared
    return lambda block: Part(block.number, *read(records_of(block, kind)), block.damage)
