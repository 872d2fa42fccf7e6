"""What a knowledge base is made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from argus.data.storage import absolute
from argus.errors import InputError
from argus.knowledge.sources import RawWriter


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


class Source(Protocol):
    """What is not a dump: triples, rows, a folder of pages (argus.knowledge.sources)."""

    def write(self, into: RawWriter) -> dict[str, int]:
        """Write its entities and relations; return what was left out, by reason."""

    def inputs(self) -> dict[str, Path]:
        """Return its files, named for a manifest."""
