"""Name the source of a knowledge base, and read it into raw tables, in parts that resume.

The first step of `argus research kb build`. `KbSources` holds the options that name the source:
dumps of Wikipedia or Wikidata, triples, rows, or a folder of pages. Dumps are read block by block,
in several processes, into `work/TABLE/000012.parquet`. `argus.knowledge.blocks` cuts the blocks,
`argus.knowledge.dumps` parses them, and `argus.knowledge.alignment` reads the tables next. The
other sources write their own tables (`argus.knowledge.triples`, `argus.knowledge.pages`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.fields import FieldNames
from argus.data.reading import parse_json, read_own
from argus.data.writing import replacing, write_whole
from argus.engine import Engine, Work
from argus.errors import InputError
from argus.extras import MissingPackage
from argus.jobs.workspace import Record
from argus.knowledge.alignment import align
from argus.knowledge.blocks import SPLIT_SIZE, Block, RecordKind, blocks_of, head_of, records_of
from argus.knowledge.dumps import read_items, read_pages
from argus.knowledge.pages import PageFolder
from argus.knowledge.raw import RawWriter
from argus.knowledge.triples import EntityRows, TripleFiles
from argus.knowledge.wikitext import Site, read_site
from argus.progress import progress
from argus.settings import Ge, Gt, Option, Seed, check_settings


@dataclass(frozen=True, kw_only=True)
class Dumps:
    """A dump of Wikipedia, of Wikidata, or of both.

    Paths are made absolute: workers on other machines have other working folders.
    """

    wikipedia: str | None = None
    wikidata: str | None = None

    def __post_init__(self) -> None:
        if not (self.wikipedia or self.wikidata):
            raise InputError(
                "no dump",
                expected="--wikipedia, --wikidata or both; or another source: --triples, "
                "--entities, --pages",
                fix="Give one.",
                where="argus research kb build",
            )
        for name in ("wikipedia", "wikidata"):
            if value := getattr(self, name):
                object.__setattr__(self, name, str(Path(value).absolute()))

    def inputs(self) -> dict[str, Path]:
        """Return the dumps, named for a manifest."""
        dumps = {"wikipedia": self.wikipedia, "wikidata": self.wikidata}
        return {name: Path(value) for name, value in dumps.items() if value}


class Source(Protocol):
    """A source other than dumps: triples, rows, a folder of pages."""

    def write(self, into: RawWriter) -> dict[str, int]:
        """Write its entities and relations. Return counts of dropped rows, by reason."""

    def inputs(self) -> dict[str, Path]:
        """Return its files, named for a manifest."""


Links = Literal["lead", "page", "none"]
DUMP, _SHAPE = "Dumps", "What is kept"
_LANGUAGE = re.compile(r"[a-z]{2,}(-[a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class KbConfig:
    """Settings of building a knowledge base (docs/knowledge.md).

    language: as in the address of its Wikipedia ("en", "zh-min-nan"). links: those before the first
    heading ("lead"), of the whole page, none. sample, limit: None for all. split_mib: a kill may
    cost as much per worker.

    Attributes:
        language: Language of labels and pages, or of the texts of triples.
        links: Hyperlinks of the lead, of the whole page, or none.
        min_words: Words that a first paragraph has.
        sample: Draw so many entities; related ones come along.
        limit: Only the first so many pages and items, or entities.
        words: BM25 over the paragraphs, beside the shards.
        split_mib: MiB of a dump that a worker reads at once.
        memory_mib: MiB that the joins may take.
    """

    language: Annotated[str, Option(("--lang",), panel=DUMP)] = "en"
    links: Annotated[Links, Option(panel=DUMP)] = "lead"
    min_words: Annotated[int, Ge(1), Option(panel=_SHAPE)] = 5
    sample: Annotated[int | None, Ge(1), Option(panel=_SHAPE)] = None
    seed: Seed = 0
    limit: Annotated[int | None, Ge(1)] = None
    words: Annotated[bool, Option(("--words/--no-words",), panel=_SHAPE)] = True
    split_mib: Annotated[float, Gt(0), Option(panel=DUMP)] = SPLIT_SIZE >> 20
    memory_mib: Annotated[int, Ge(256)] = 2048

    def __post_init__(self) -> None:
        check_settings(self)
        if not _LANGUAGE.fullmatch(self.language):
            raise InputError(
                f"{self.language!r}",
                expected="a language as in the address of its Wikipedia: en, de, zh-min-nan",
                fix="Leave it out for en.",
                where="--lang",
            )

    @property
    def split_bytes(self) -> int:
        """Bytes of a dump that a worker reads at once."""
        return int(self.split_mib * 2**20)

    @property
    def memory_bytes(self) -> int:
        """Bound of the joins, in bytes."""
        return self.memory_mib << 20

    @property
    def site(self) -> str:
        """The database name of the language's Wikipedia, as in "enwiki"."""
        return self.language.replace("-", "_") + "wiki"


OTHER = "Other sources"
COMMAND = "argus research kb build"


@dataclass(frozen=True, kw_only=True)
class KbSources:
    """Options that name the one source.

    Attributes:
        wikipedia: pages-articles.xml[.bz2|.gz].
        wikidata: latest-all.json[.bz2|.gz].
        triples: TSV or N-Triples (.nt).
        labels: id<TAB>label, or .nt.
        abstracts: id<TAB>text, or .nt.
        entities: JSONL, CSV, TSV or Parquet of id, label, paragraph; aliases, relations.
        pages: Folder of HTML or Markdown files with links.
    """

    wikipedia: Annotated[str | None, Option(panel=DUMP)] = None
    wikidata: Annotated[str | None, Option(panel=DUMP)] = None
    triples: Annotated[Path | None, Option(panel=OTHER)] = None
    labels: Annotated[Path | None, Option(panel=OTHER)] = None
    abstracts: Annotated[Path | None, Option(panel=OTHER)] = None
    entities: Annotated[Path | None, Option(panel=OTHER)] = None
    pages: Annotated[Path | None, Option(panel=OTHER)] = None

    def open(self, config: KbConfig, columns: FieldNames, out: Path) -> Dumps | Source:
        """Return the one source that was given.

        Raises InputError for none or several, for pages that `out` lies among, and for an option
        that the source has no use for.
        """
        self._check_one()
        self._check_used(columns, config)
        if self.triples:
            return TripleFiles(
                triples=self.triples, labels=self.labels, abstracts=self.abstracts,
                language=config.language, memory_bytes=config.memory_bytes,
            )  # fmt: skip
        if self.entities:
            return EntityRows(self.entities, fields=columns)
        if self.pages:
            if out.resolve().is_relative_to(self.pages.resolve()):
                raise InputError(
                    "it is inside the folder of pages",
                    expected="another place: it would be read as pages the next time",
                    fix="Give an --out outside of --pages.",
                    where=out,
                )
            return PageFolder(self.pages)
        return Dumps(wikipedia=self.wikipedia, wikidata=self.wikidata)

    def _check_one(self) -> None:
        sources = {
            "--wikipedia, --wikidata": self.wikipedia or self.wikidata,
            "--triples": self.triples,
            "--entities": self.entities,
            "--pages": self.pages,
        }
        named = [name for name, value in sources.items() if value]
        if len(named) > 1:
            raise InputError(
                " and ".join(named),
                expected="one source; only --wikipedia and --wikidata go together",
                fix="Make one knowledge base of each; --kb may be given several times.",
                where=COMMAND,
            )
        if (self.labels or self.abstracts) and not self.triples:
            raise InputError(
                "--labels or --abstracts without --triples",
                expected="the triples that relate what they describe",
                fix="Give --triples, or id, label and paragraph in one file as --entities.",
                where=COMMAND,
            )

    def _check_used(self, columns: FieldNames, config: KbConfig) -> None:
        rows, dumps = bool(self.entities), bool(self.wikipedia or self.wikidata)
        of_rows = "columns of --entities"
        of_texts = "the language of --wikipedia, --wikidata and --triples"
        uses = [
            ("--id-field", columns.id, rows, of_rows),
            ("--title-field", columns.title, rows, of_rows),
            ("--text-field", columns.text, rows, of_rows),
            ("--coerce-ids", columns.coerce_ids, rows, "ids of --entities"),
            ("--links", config.links != KbConfig.links, bool(self.wikipedia), "of --wikipedia"),
            ("--lang", config.language != KbConfig.language, dumps or bool(self.triples), of_texts),
            ("--split-mib", config.split_mib != KbConfig.split_mib, dumps, "how dumps are read"),
        ]
        for name, is_given, is_used, what in uses:
            if is_given and not is_used:
                raise InputError(
                    f"{name} with a source that has no use for it",
                    expected=f"it with what it is for: {what}",
                    fix=f"Leave out {name}, or give the source that it is for.",
                    where=COMMAND,
                )


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
# Size of a block where only the first records are wanted.
FIRST_BYTES = 1 << 20
# Characters of the lines of a JSON array that hold no entity.
_NO_RECORD = b"[], \t\r\n"


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
