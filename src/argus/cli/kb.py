"""`argus kb build`: a knowledge base of dumps, triples, rows or pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from argus.cli import blocks
from argus.cli import options as o
from argus.errors import InputError

if TYPE_CHECKING:
    from argus.workflows.kb.raw import Source
    from argus.workflows.kb.settings import Dumps, KbConfig, Links

app = typer.Typer(
    help="Make knowledge bases: entities, first paragraphs, relations, aliases.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DUMP, OTHER, SHAPE = "Dumps", "Other sources", "What is kept"


@app.command()
@blocks.with_blocks
def build(
    *,
    out: Annotated[Path, typer.Option("--out", help="Folder for the knowledge base.")],
    wikipedia: Annotated[
        str | None,
        typer.Option(
            "--wikipedia", help="pages-articles.xml[.bz2|.gz]; s3://, gs://.", rich_help_panel=DUMP
        ),
    ] = None,
    wikidata: Annotated[
        str | None,
        typer.Option(
            "--wikidata", help="latest-all.json[.bz2|.gz]; s3://, gs://.", rich_help_panel=DUMP
        ),
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang",
            help="Language of labels and pages, or of the texts of triples. Default: en.",
            rich_help_panel=DUMP,
        ),
    ] = None,
    links: Annotated[
        str | None,
        typer.Option(
            "--links",
            help="Hyperlinks of the lead, of the whole page, or none. Default: lead.",
            rich_help_panel=DUMP,
        ),
    ] = None,
    triples: Annotated[
        Path | None,
        typer.Option("--triples", help="TSV or N-Triples (.nt).", rich_help_panel=OTHER),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", help="id<TAB>label, or .nt.", rich_help_panel=OTHER),
    ] = None,
    abstracts: Annotated[
        Path | None,
        typer.Option("--abstracts", help="id<TAB>text, or .nt.", rich_help_panel=OTHER),
    ] = None,
    entities: Annotated[
        Path | None,
        typer.Option(
            "--entities",
            help="JSONL, CSV, TSV or Parquet of id, label, paragraph; aliases, relations.",
            rich_help_panel=OTHER,
        ),
    ] = None,
    pages: Annotated[
        Path | None,
        typer.Option(
            "--pages", help="Folder of HTML or Markdown files with links.", rich_help_panel=OTHER
        ),
    ] = None,
    mentions: Annotated[
        bool,
        typer.Option(
            "--mentions",
            help="Also relate an entity to those that its paragraph names.",
            rich_help_panel=SHAPE,
        ),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            help="Draw so many entities; related ones come along.",
            min=1,
            rich_help_panel=SHAPE,
        ),
    ] = None,
    min_words: Annotated[
        int,
        typer.Option(
            "--min-words", help="Words that a first paragraph has.", min=1, rich_help_panel=SHAPE
        ),
    ] = 5,
    words: Annotated[
        bool,
        typer.Option(
            "--words/--no-words",
            help="BM25 over the paragraphs, beside shards on this machine.",
            rich_help_panel=SHAPE,
        ),
    ] = True,
    shards: Annotated[
        str | None,
        typer.Option("--shards", help="Where shards go, if not OUT: a path, s3://, gs://."),
    ] = None,
    memory_mib: Annotated[
        int, typer.Option("--memory-mib", help="Bound of the joins.", min=256)
    ] = 2048,
    split_mib: Annotated[
        int,
        typer.Option("--split-mib", help="Of a dump that a worker reads at once.", min=1),
    ] = 16,
    columns: blocks.Columns,
    engine: blocks.Engine,
    seed: o.Seed = 0,
    limit: Annotated[
        int | None,
        typer.Option("--limit", help="Only the first so many pages and items, or entities.", min=1),
    ] = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Make a knowledge base that every command takes as --corpus or --kb.

    Writes entities, relations, aliases and redirects as Parquet, a BM25 index, summary.json,
    manifest.json and report.html. A build that was stopped goes on where it was. A dump that breaks
    off gives what precedes the damage; the exit code is then 2.
    """
    from argus.knowledge.sources import EntityRows, PageFolder
    from argus.workflows.kb.build import build_kb
    from argus.workflows.kb.settings import KbConfig

    chosen = KbConfig(
        language=lang or "en", links=cast("Links", links or "lead"), min_words=min_words,
        sample=sample, seed=seed, limit=limit, mentions=mentions, words=words,
        split_bytes=split_mib << 20, memory_bytes=memory_mib << 20,
    )  # fmt: skip
    source = _source(chosen, wikipedia, wikidata, triples, labels, abstracts, entities, pages)
    _refuse_unused(source, columns, lang=lang, links=links)
    if isinstance(source, EntityRows):
        source = replace(source, fields=columns.names())
    if isinstance(source, PageFolder) and out.resolve().is_relative_to(source.folder.resolve()):
        raise InputError(
            "it is inside the folder of pages",
            expected="another place: what is written would be read as pages the next time",
            fix="Give an --out outside of --pages.",
            where=out,
        )
    result = build_kb(
        source, out=out, config=chosen, shards=shards, engine=engine.config(), fresh=fresh
    )
    if result.unchanged and not json:
        typer.echo(f"unchanged: {out} was made of the same input by the same settings")
    o.show(result, print_kb, as_json=json)
    if result.damage:
        raise typer.Exit(2)


def _refuse_unused(
    source: Dumps | Source, columns: blocks.Columns, *, lang: str | None, links: str | None
) -> None:
    """Raise InputError for an option that was given and that the source does not know."""
    from argus.knowledge.sources import EntityRows, TripleFiles
    from argus.workflows.kb.settings import Dumps

    rows = isinstance(source, EntityRows)
    pages = isinstance(source, Dumps) and source.wikipedia is not None
    language = isinstance(source, (Dumps, TripleFiles))
    of_rows, of_pages = "columns of --entities", "the hyperlinks of a dump, --wikipedia"
    of_texts = "the language of --wikipedia, --wikidata and --triples"
    given = [
        ("--id-field", columns.id_field is not None, rows, of_rows),
        ("--title-field", columns.title_field is not None, rows, of_rows),
        ("--text-field", columns.text_field is not None, rows, of_rows),
        ("--coerce-ids", columns.coerce_ids, rows, "ids of --entities"),
        ("--links", links is not None, pages, of_pages),
        ("--lang", lang is not None, language, of_texts),
    ]
    for name, is_given, is_used, what in given:
        if is_given and not is_used:
            raise InputError(
                f"{name} with a source that has no use for it",
                expected=f"it with what it is for: {what}",
                fix=f"Leave out {name}, or give the source that it is for.",
                where="argus kb build",
            )


def _source(
    config: KbConfig,
    wikipedia: str | None,
    wikidata: str | None,
    triples: Path | None,
    labels: Path | None,
    abstracts: Path | None,
    entities: Path | None,
    pages: Path | None,
) -> Dumps | Source:
    """Return the one source that was given."""
    from argus.knowledge.sources import EntityRows, PageFolder, TripleFiles
    from argus.workflows.kb.settings import Dumps

    given = {
        "--wikipedia, --wikidata": wikipedia or wikidata,
        "--triples": triples,
        "--entities": entities,
        "--pages": pages,
    }
    named = [name for name, value in given.items() if value]
    if len(named) > 1:
        raise InputError(
            " and ".join(named),
            expected="one source; only --wikipedia and --wikidata go together",
            fix="Make one knowledge base of each; --kb may be given several times.",
            where="argus kb build",
        )
    if (labels or abstracts) and not triples:
        raise InputError(
            "--labels or --abstracts without --triples",
            expected="the triples that relate what they describe",
            fix="Give --triples, or id, label and paragraph in one file as --entities.",
            where="argus kb build",
        )
    if triples:
        return TripleFiles(
            triples=triples, labels=labels, abstracts=abstracts, language=config.language,
            memory_bytes=config.memory_bytes,
        )  # fmt: skip
    if entities:
        return EntityRows(entities)
    if pages:
        return PageFolder(pages)
    return Dumps(wikipedia=wikipedia, wikidata=wikidata)


def print_kb(summary: dict[str, Any]) -> None:
    """Print what became of the input."""
    counts = summary["counts"]
    relations = [f"{n:,} {source} relations" for source, n in counts["relations"].items()]
    typer.echo(
        f"{counts['entities']:,} entities ({counts['targets']:,} can be audited), "
        + (", ".join(relations) or "no relations")
        + f"; {counts['aliases']:,} aliases; {counts['redirects']:,} redirects"
    )
    for name, reasons in summary["outcomes"]:
        typer.echo(f"{name}: " + ", ".join(f"{n:,} {what}" for what, n in reasons.items()))
    for name, where in summary["damage"].items():
        typer.echo(f"warning: {name} breaks off: {where}")
    typer.echo(f"shards: {summary['shards']}")
