"""Settings and sources of a knowledge base."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from argus.errors import InputError
from argus.knowledge.dumps import SPLIT_SIZE
from argus.knowledge.sources import RawWriter
from argus.settings import Ge, Option, Seed, Setting, check_settings, settings_of


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
    """A source other than dumps: triples, rows, a folder of pages (argus.knowledge.sources)."""

    def write(self, into: RawWriter) -> dict[str, int]:
        """Write its entities and relations. Return counts of dropped rows, by reason."""

    def inputs(self) -> dict[str, Path]:
        """Return its files, named for a manifest."""


Links = Literal["lead", "page", "none"]
MEMORY_BYTES = 2 << 30
DUMP, _SHAPE = "Dumps", "What is kept"
OF_SOURCES = ("language", "links", "split_bytes")
"""Options of some sources only: the command has to know whether one was given."""
_LANGUAGE = re.compile(r"[a-z]{2,}(-[a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class KbConfig:
    """Settings of building a knowledge base (docs/knowledge.md).

    language: as in the address of its Wikipedia ("en", "zh-min-nan"). links: those before the first
    heading ("lead"), of the whole page, none. sample, limit: None for all. split_bytes: of a
    compressed dump. A kill may cost as much per worker. Options give bytes in MiB.

    Attributes:
        language: Language of labels and pages, or of the texts of triples. Default: en.
        links: Hyperlinks of the lead, of the whole page, or none. Default: lead.
        min_words: Words that a first paragraph has.
        sample: Draw so many entities; related ones come along.
        limit: Only the first so many pages and items, or entities.
        mentions: Also relate an entity to those that its paragraph names.
        words: BM25 over the paragraphs, beside the shards.
        split_bytes: Of a dump that a worker reads at once. Default: 16.
        memory_bytes: Bound of the joins.
    """

    language: Annotated[str, Option(("--lang",), panel=DUMP)] = "en"
    links: Annotated[Links, Option(panel=DUMP)] = "lead"
    min_words: Annotated[int, Ge(1), Option(panel=_SHAPE)] = 5
    sample: Annotated[int | None, Ge(1), Option(panel=_SHAPE)] = None
    seed: Seed = 0
    limit: Annotated[int | None, Ge(1)] = None
    mentions: Annotated[bool, Option(panel=_SHAPE)] = False
    words: Annotated[bool, Option(("--words/--no-words",), panel=_SHAPE)] = True
    split_bytes: Annotated[int, Ge(1), Option(("--split-mib",), panel=DUMP)] = SPLIT_SIZE
    memory_bytes: Annotated[int, Ge(256 << 20), Option(("--memory-mib",))] = MEMORY_BYTES

    def __post_init__(self) -> None:
        check_settings(self)
        if not _LANGUAGE.fullmatch(self.language):
            raise InputError(
                f"{self.language!r}",
                expected="a language as in the address of its Wikipedia: en, de, zh-min-nan",
                fix="Leave it out for en.",
                where="--lang",
            )

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return the settings as options give them: sizes in MiB."""
        return tuple(_in_mib(setting) for setting in settings_of(cls))

    @classmethod
    def from_options(cls, **values: Any) -> KbConfig:  # each as its field, or its option, says
        """Return the config of sizes in MiB."""
        sizes = ("split_bytes", "memory_bytes")
        return cls(**values | {name: values[name] << 20 for name in sizes if name in values})

    @property
    def site(self) -> str:
        """The database name of the language's Wikipedia, as in "enwiki"."""
        return self.language.replace("-", "_") + "wiki"


def unset_settings() -> tuple[Setting, ...]:
    """Return the settings of OF_SOURCES as options that are None where they are not given."""
    declared = {setting.name: setting for setting in KbConfig.declared_settings()}
    return tuple(replace(declared[name], default=None, optional=True) for name in OF_SOURCES)


def _in_mib(setting: Setting) -> Setting:
    if not setting.name.endswith("_bytes"):
        return setting
    assert isinstance(setting.default, int) and setting.least is not None
    least = max(1, int(setting.least) >> 20)
    return replace(setting, default=setting.default >> 20, least=least)
