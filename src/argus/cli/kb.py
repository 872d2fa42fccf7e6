"""`argus research kb build`: a knowledge base of dumps, triples, rows or pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import output
from argus.cli.groups import Group, example
from argus.cli.signatures import with_blocks
from argus.commands import command
from argus.data.fields import FieldNames
from argus.engine import EngineConfig
from argus.errors import InputError
from argus.jobs import options as o
from argus.kb.config import DUMP, KbConfig
from argus.settings import (
    OUTPUT,
    Option,
    Without,
)

if TYPE_CHECKING:
    from argus.kb.config import Dumps, Source


OTHER = "Other sources"
COMMAND = "argus research kb build"


@dataclass(frozen=True, kw_only=True)
class Sources:
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

    def source(self, config: KbConfig, columns: FieldNames, out: Path) -> Dumps | Source:
        """Return the one source that was given.

        Raises InputError for none or several, for pages that `out` lies among, and for an option
        that the source has no use for.
        """
        from argus.kb.config import Dumps
        from argus.knowledge import pages, triples

        self._check_one()
        self._check_used(columns, config)
        if self.triples:
            return triples.TripleFiles(
                triples=self.triples, labels=self.labels, abstracts=self.abstracts,
                language=config.language, memory_bytes=config.memory_bytes,
            )  # fmt: skip
        if self.entities:
            return triples.EntityRows(self.entities, fields=columns)
        if self.pages:
            _check_apart(self.pages, out)
            return pages.PageFolder(self.pages)
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


def _check_apart(pages: Path, out: Path) -> None:
    if out.resolve().is_relative_to(pages.resolve()):
        raise InputError(
            "it is inside the folder of pages",
            expected="another place: what is written would be read as pages the next time",
            fix="Give an --out outside of --pages.",
            where=out,
        )


app = Group("Make knowledge bases: entities, first paragraphs, relations, aliases.")


@app.command()
@example("argus research kb build --pages docs/ --out kb/")
@with_blocks
def build(
    *,
    out: Annotated[Path, OUTPUT],
    sources: Sources,
    settings: KbConfig,
    columns: Annotated[FieldNames, Without("template")],
    engine: o.Engine = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Make a knowledge base that every command takes as --corpus or --kb.

    Writes entities, relations, aliases and redirects as Parquet, a BM25 index, summary.json,
    manifest.json and report.html. A build that was stopped goes on where it was. A dump that breaks
    off gives what precedes the damage; the exit code is then 2.

    Args:
        out: Folder for the knowledge base.
    """
    from argus.kb.build import build_kb

    result = build_kb(
        sources.source(settings, columns, out), out=out, config=settings,
        engine=engine or EngineConfig(), fresh=fresh,
    )  # fmt: skip
    audit = command("research", "audit", "--corpus", out, "--out", "report/")
    output.show(result, as_json=json, then=f"Next: {audit}")
    if result.damage:
        raise typer.Exit(2)
