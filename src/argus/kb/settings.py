"""What a knowledge base is made of, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from argus.data.storage import absolute
from argus.errors import InputError
from argus.knowledge.dumps.splits import SPLIT_SIZE

Links = Literal["lead", "page", "none"]
MEMORY_BYTES = 2 << 30
_LANGUAGE = re.compile(r"[a-z]{2,}(-[a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class KbConfig:
    """How a knowledge base is made (docs/knowledge.md).

    language: of labels and of the Wikipedia, as in its address ("en", "zh-min-nan"). links: which
    hyperlinks of articles relate: those before the first heading ("lead"), of the whole page, none.
    min_words: of a first paragraph. sample: entities to draw; None for all. limit: only the first
    so many pages and items, or entities of other sources. mentions: also relate an entity to those
    that its paragraph names. words: also make the BM25 index. split_bytes: of a compressed dump
    that a worker reads at once, and that a kill may cost per worker. memory_bytes: of the joins.
    """

    language: str = "en"
    links: Links = "lead"
    min_words: int = 5
    sample: int | None = None
    seed: int = 0
    limit: int | None = None
    mentions: bool = False
    words: bool = True
    split_bytes: int = SPLIT_SIZE
    memory_bytes: int = MEMORY_BYTES

    def __post_init__(self) -> None:
        if not _LANGUAGE.fullmatch(self.language):
            raise InputError(
                f"{self.language!r}",
                expected="a language as in the address of its Wikipedia: en, de, zh-min-nan",
                fix="Leave it out for en.",
                where="--lang",
            )
        if self.links not in get_args(Links):
            raise InputError(
                f"{self.links!r}",
                expected=f"one of {', '.join(get_args(Links))}",
                fix="Leave it out for lead.",
                where="--links",
            )
        least = {
            "--min-words": (self.min_words, 1),
            "--sample": (self.sample, 1),
            "--limit": (self.limit, 1),
            "--split-mib": (self.split_bytes, 1),
            "--memory-mib": (self.memory_bytes, 256 << 20),
        }
        for name, (value, at_least) in least.items():
            if value is not None and value < at_least:
                raise InputError(
                    f"{value}", expected=f"{at_least} or more", fix="Leave it out.", where=name
                )

    @property
    def site(self) -> str:
        """The database name of the language's Wikipedia, as in "enwiki"."""
        return self.language.replace("-", "_") + "wiki"


@dataclass(frozen=True, kw_only=True)
class Dumps:
    """A dump of Wikipedia, of Wikidata, or of both; paths or addresses (s3://, gs://).

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
                where="argus kb build",
            )
        for name in ("wikipedia", "wikidata"):
            if value := getattr(self, name):
                object.__setattr__(self, name, absolute(value))

    def inputs(self) -> dict[str, Path]:
        """Return the dumps, named for a manifest."""
        dumps = {"wikipedia": self.wikipedia, "wikidata": self.wikidata}
        return {name: Path(value) for name, value in dumps.items() if value}
