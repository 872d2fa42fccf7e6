"""Dumps read into parts, split by split, by the workers of an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from math import inf
from typing import Generic, TypeVar

import pyarrow as pa

from argus.engine.protocol import Engine, Work
from argus.errors import InputError
from argus.kb.config import KbConfig
from argus.kb.parts import DumpParts, Part
from argus.knowledge.dumps.endings import cut_short
from argus.knowledge.dumps.item_rows import ItemSetup, read_items
from argus.knowledge.dumps.page_rows import PageSetup, read_pages
from argus.knowledge.dumps.site import Site, read_site
from argus.knowledge.dumps.splits import (
    Chunk,
    DamagedDump,
    RecordKind,
    Split,
    blocks_of,
    head_of,
    records_of,
)
from argus.progress import progress

Block = Split | Chunk
Tables = tuple[dict[str, pa.Table], dict[str, int]]
S = TypeVar("S")

FIRST_BYTES = 1 << 20
"""Of a split where only the first records are wanted."""

_NO_RECORD = b"[], \t\r\n"
"""What lines of a JSON array consist of that hold no entity."""


@dataclass(frozen=True)
class DumpCounts:
    """What a dump came to: counts per reason, and where it breaks off, if it does."""

    counts: Counter[str]
    damage: str | None


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


def check_items(location: str) -> None:
    """Raise InputError for what is not a JSON dump of Wikidata: an array or lines of objects."""
    head = head_of(location).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith((b"[", b"{")):
        raise InputError(
            f"begins with {head[:40].decode('utf-8', 'replace')!r}",
            expected="a JSON dump: [, then one entity per line (latest-all.json.bz2 or .gz)",
            fix="Take the JSON dump of Wikidata; an RDF one (.nt) goes to --triples.",
            where=location,
        )


@dataclass(frozen=True)
class _Dump(Generic[S]):
    """A dump, and what makes tables of its records."""

    location: str
    kind: RecordKind
    tables: Callable[[Iterable[bytes], S], Tables]
    setup: S
    what: str


def read_wikipedia(
    location: str, site: Site, parts: DumpParts, config: KbConfig, engine: Engine
) -> DumpCounts:
    """Read what is not yet in `parts` of a dump of pages."""
    setup = PageSetup(site=site, links=config.links, min_words=config.min_words)
    return _read(_Dump(location, RecordKind.PAGE, _pages, setup, "pages"), parts, config, engine)


def read_wikidata(location: str, parts: DumpParts, config: KbConfig, engine: Engine) -> DumpCounts:
    """Read what is not yet in `parts` of a dump of items."""
    setup = ItemSetup(language=config.language)
    return _read(_Dump(location, RecordKind.LINE, _items, setup, "items"), parts, config, engine)


def _pages(records: Iterable[bytes], setup: PageSetup) -> Tables:
    part = read_pages(records, setup)
    return {"pages": part.pages, "links": part.links}, part.counts


def _items(records: Iterable[bytes], setup: ItemSetup) -> Tables:
    part = read_items(records, setup)
    return {"items": part.items, "statements": part.statements}, part.counts


def _read(dump: _Dump[S], parts: DumpParts, config: KbConfig, engine: Engine) -> DumpCounts:
    if config.limit is not None:
        _read_first(dump, config.limit, parts)
    else:
        _read_splits(dump, config.split_bytes, parts, engine)
    read = DumpCounts(*parts.settle())
    if read.damage is None and config.limit is None:
        cut = cut_short(dump.location, dump.kind)
        return DumpCounts(read.counts, None if cut is None else str(cut))
    return read


def _read_splits(dump: _Dump[S], size: int, parts: DumpParts, engine: Engine) -> None:
    done, end = parts.numbers(), parts.end()
    if end < inf and done.issuperset(range(int(end))):
        return

    def feed() -> Iterator[Block]:
        for block in blocks_of(dump.location, dump.kind, size=size, skip=done):
            if block.number > end:  # nothing behind damage is taken
                return
            yield block

    work = Work(setup=open_reader, shared=dump, what=f"reading {dump.what}")
    with progress(f"reading {dump.what}", None) as advance:
        for _, part in engine.run(work, feed()):
            parts.add(part)
            end = end if part.damage is None else min(end, part.number)
            advance(sum(part.counts.values()))


def _read_first(dump: _Dump[S], limit: int, parts: DumpParts) -> None:
    """Read the first records in this process, into one part."""
    if parts.numbers():
        return
    blocks = blocks_of(dump.location, dump.kind, size=FIRST_BYTES)
    records = chain.from_iterable(records_of(block, dump.kind) for block in blocks)
    whole = (record for record in records if record.strip(_NO_RECORD))
    parts.add(_part(dump, 0, islice(whole, limit)))


def open_reader(dump: _Dump[S]) -> Callable[[Block], Part]:
    """Return what reads a block of a dump; called in every worker."""
    return lambda block: _part(dump, block.number, records_of(block, dump.kind))


def _part(dump: _Dump[S], number: int, records: Iterator[bytes]) -> Part:
    damage: list[str] = []

    def until_damage() -> Iterator[bytes]:
        try:
            yield from records
        except DamagedDump as broken:
            damage.append(str(broken.damage))

    tables, counts = dump.tables(until_damage(), dump.setup)
    return Part(number, tables, counts, damage[0] if damage else None)
