"""`argus kb build`: a knowledge base of dumps, triples, rows or pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import Group, example
from argus.cli.kb_sources import Sources
from argus.data.fields import FieldNames
from argus.engine.config import EngineConfig
from argus.kb.config import OF_SOURCES, KbConfig
from argus.settings import Doc

app = Group("Make knowledge bases: entities, first paragraphs, relations, aliases.")


@app.command()
@example("argus kb build --pages docs/ --out kb/")
@with_blocks
def build(
    *,
    out: Annotated[Path, Doc("Folder for the knowledge base."), o.OUTPUT],
    sources: Sources,
    shards: Annotated[
        str | None,
        Doc("Where shards go, if not OUT: a path, s3://, gs://."),
    ] = None,
    settings: Annotated[KbConfig, Without(*OF_SOURCES)],
    columns: Annotated[FieldNames, Without("template")],
    engine: EngineConfig | None,
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

    settings = sources.settle(settings)
    result = build_kb(
        sources.source(settings, columns, out), out=out, config=settings, shards=shards,
        engine=engine or EngineConfig(), fresh=fresh,
    )  # fmt: skip
    audit = o.command("audit", "--corpus", out, "--out", "report/")
    o.show(result, as_json=json, then=f"Next: {audit}")
    if result.damage:
        raise typer.Exit(2)
