"""From a source to raw tables: entities, relations, aliases and redirects as they were given."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from argus.engine.protocol import Engine
from argus.extras import MissingPackage
from argus.jobs.workspace import Record
from argus.kb.config import KbConfig
from argus.kb.parts import DumpParts
from argus.kb.reading import DumpCounts, check_items, read_wikidata, read_wikipedia, site_of
from argus.kb.source import Dumps, Source
from argus.kb.summary import ReadCounts
from argus.knowledge.alignment import AlignSettings, align
from argus.knowledge.dumps.site import Site
from argus.knowledge.sources import RawWriter, mention_rows

LIBRARIES = ("duckdb", "markdown_it", "mwparserfromhell", "orjson", "selectolax")


@dataclass
class Readout:
    """What was read, by what it came to, for every input; and which of them break off, where."""

    counts: ReadCounts = field(default_factory=ReadCounts)
    damage: dict[str, str] = field(default_factory=dict)

    def note(self, name: Literal["wikipedia", "wikidata"], dump: DumpCounts) -> None:
        """Take over what became of one dump."""
        self.counts[name] = dict(dump.counts)
        if dump.damage is not None:
            self.damage[name] = dump.damage


def _check_installed() -> None:
    """Raise MissingPackage where a library lacks: before hours of work, not after them."""
    for name in LIBRARIES:
        if find_spec(name) is None:
            raise MissingPackage(name)


class RawInput:
    """A source, checked when this is made, so that bad input has touched nothing."""

    def __init__(self, source: Dumps | Source, config: KbConfig) -> None:
        _check_installed()
        self._source, self._config = source, config
        self._site: Site | None = None
        if isinstance(source, Dumps):
            if source.wikipedia:
                self._site = site_of(source.wikipedia, config)
            if source.wikidata:
                check_items(source.wikidata)

    @property
    def is_of_dumps(self) -> bool:
        """Whether pages were judged when they were read."""
        return isinstance(self._source, Dumps)

    def to_raw(
        self, work: Path, settings: AlignSettings, engine: Engine, record: Record
    ) -> Readout:
        """Write the raw tables under `work`; what is there of dumps is not read again."""
        readout = Readout()
        if isinstance(self._source, Dumps):
            self._read_dumps(self._source, work, engine, record, readout)
            with record.timed("aligning"):
                readout.counts["aligned"] = align(work, settings)
        else:
            with record.timed("reading"), RawWriter(work, limit=self._config.limit) as raw:
                counts = self._source.write(raw)
                if raw.beyond:
                    counts |= {"entities beyond --limit": raw.beyond}
                readout.counts["source"] = counts
        if self._config.mentions:
            with record.timed("relating by mention"), RawWriter(work) as raw:
                readout.counts["mentions"] = mention_rows(work, raw)
        return readout

    def _read_dumps(
        self, dumps: Dumps, work: Path, engine: Engine, record: Record, readout: Readout
    ) -> None:
        if dumps.wikipedia and self._site:
            with record.timed("reading Wikipedia"):
                parts = DumpParts(work, "wikipedia")
                read = read_wikipedia(dumps.wikipedia, self._site, parts, self._config, engine)
                readout.note("wikipedia", read)
        if dumps.wikidata:
            with record.timed("reading Wikidata"):
                parts = DumpParts(work, "wikidata")
                readout.note("wikidata", read_wikidata(dumps.wikidata, parts, self._config, engine))
