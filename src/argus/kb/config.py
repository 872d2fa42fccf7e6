"""Declare the sources and settings of `argus research kb build`, and open the one source given.

`KbSources` holds the options that name it: dumps of Wikipedia or Wikidata, triples, rows, or a
folder of pages. Dumps are read by `argus.kb.reading`. The others write their own tables
(`argus.knowledge.triples`, `argus.knowledge.pages`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Protocol

from argus.data.fields import FieldNames
from argus.errors import InputError
from argus.knowledge.blocks import SPLIT_SIZE
from argus.knowledge.pages import PageFolder
from argus.knowledge.raw import RawWriter
from argus.knowledge.triples import EntityRows, TripleFiles
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
