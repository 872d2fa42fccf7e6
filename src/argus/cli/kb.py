"""`argus kb build`: a knowledge base of dumps, triples, rows or pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from argus.cli import blocks
from argus.cli import options as o
from argus.cli.kb_sources import Sources

if TYPE_CHECKING:
    from argus.kb.settings import Links

app = typer.Typer(
    help="Make knowledge bases: entities, first paragraphs, relations, aliases.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SHAPE = "What is kept"


@app.command()
@blocks.with_blocks
def build(
    *,
    out: Annotated[Path, typer.Option("--out", help="Folder for the knowledge base.")],
    sources: Sources,
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
    from argus.kb.build import build_kb
    from argus.kb.settings import KbConfig
    from argus.knowledge.dumps.splits import SPLIT_SIZE

    split = SPLIT_SIZE if sources.split_mib is None else sources.split_mib << 20
    chosen = KbConfig(
        language=sources.lang or "en", links=cast("Links", sources.links or "lead"),
        min_words=min_words, sample=sample, seed=seed, limit=limit, mentions=mentions, words=words,
        split_bytes=split, memory_bytes=memory_mib << 20,
    )  # fmt: skip
    source = sources.chosen(chosen, columns, out)
    result = build_kb(
        source, out=out, config=chosen, shards=shards, engine=engine.config(), fresh=fresh
    )
    if result.unchanged and not json:
        typer.echo(f"unchanged: {out} was made of the same input by the same settings")
    o.show(result, print_kb, as_json=json)
    if result.damage:
        raise typer.Exit(2)


def print_kb(summary: dict[str, Any]) -> None:
    """Print what became of the input."""
    counts = summary["counts"]
    relations = [f"{n:,} by {source}" for source, n in counts["relations"].items()]
    typer.echo(
        f"entities: {counts['entities']:,}, of which {counts['targets']:,} can be audited; "
        f"relations: {', '.join(relations) or 'none'}; "
        f"aliases: {counts['aliases']:,}; redirects: {counts['redirects']:,}"
    )
    for name, reasons in summary["outcomes"]:
        typer.echo(f"{name}: " + ", ".join(f"{n:,} {what}" for what, n in reasons.items()))
    for name, where in summary["damage"].items():
        typer.echo(f"warning: {name} breaks off: {where}")
    typer.echo(f"shards: {summary['shards']}")
