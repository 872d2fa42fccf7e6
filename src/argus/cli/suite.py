"""`argus suite`: retrievers x remedies x tasks in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.engine.config import EngineConfig


@example("argus suite suite.toml --out suite/")
@with_blocks
def suite(
    file: Annotated[Path, typer.Argument(help="TOML of retrievers, remedies, tasks and k.")],
    *,
    out: o.Out = Path("argus-out"),
    store: o.Store = None,
    engine: EngineConfig | None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Ask every retriever under every remedy the questions of every task, and write the tables.

    Each cell is kept as it is finished: the same command goes on where it was stopped, and runs
    again what changed or failed. A text is embedded once per encoder. Tables are in OUT/tables, as
    Markdown, LaTeX and Parquet.
    """
    from argus.suite.job import run_suite

    o.show(run_suite(file, out=out, store=store, engine=engine, fresh=fresh), as_json=json)
