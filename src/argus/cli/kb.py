"""`argus kb build`: a knowledge base of dumps, triples, rows or pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import Group
from argus.cli.kb_sources import Sources
from argus.data.fields import FieldNames
from argus.engine.config import EngineConfig
from argus.settings import Doc, Ge, Option

if TYPE_CHECKING:
    from argus.kb.settings import Links
    from argus.kb.summary import KbSummary

app = Group("Make knowledge bases: entities, first paragraphs, relations, aliases.")

SHAPE = "What is kept"


@app.command()
@with_blocks
def build(
    *,
    out: Annotated[Path, Doc("Folder for the knowledge base.")],
    sources: Sources,
    mentions: Annotated[
        bool,
        Doc("Also relate an entity to those that its paragraph names."),
        Option(panel=SHAPE),
    ] = False,
    sample: Annotated[
        int | None,
        Ge(1),
        Doc("Draw so many entities; related ones come along."),
        Option(panel=SHAPE),
    ] = None,
    min_words: Annotated[
        int,
        Ge(1),
        Doc("Words that a first paragraph has."),
        Option(panel=SHAPE),
    ] = 5,
    words: Annotated[
        bool,
        Doc("BM25 over the paragraphs, beside shards on this machine."),
        Option(("--words/--no-words",), panel=SHAPE),
    ] = True,
    shards: Annotated[
        str | None,
        Doc("Where shards go, if not OUT: a path, s3://, gs://."),
    ] = None,
    memory_mib: Annotated[int, Ge(256), Doc("Bound of the joins.")] = 2048,
    columns: FieldNames,
    engine: EngineConfig | None,
    seed: o.Seed = 0,
    limit: Annotated[
        int | None,
        Ge(1),
        Doc("Only the first so many pages and items, or entities."),
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
        source, out=out, config=chosen, shards=shards, engine=engine or EngineConfig(), fresh=fresh
    )
    if result.unchanged and not json:
        typer.echo(f"unchanged: {out} was made of the same input by the same settings")
    o.show(result, print_kb, as_json=json)
    if result.damage:
        raise typer.Exit(2)


def print_kb(summary: KbSummary) -> None:
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
