"""`argus engine`: where work can run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import Group, example
from argus.engine.config import CheckedEngine
from argus.settings import Doc

app = Group("Run heavy steps on more than one machine.")


@app.callback()
def engine() -> None:
    """Run heavy steps on more than one machine."""


@app.command()
@example("argus engine check --engine local")
@with_blocks
def check(
    *,
    engine: CheckedEngine,
    path: Annotated[
        Path | None,
        Doc("A file or folder that every machine has to see."),
    ] = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Try every machine of a cluster: versions, memory, a path, a block there and back.

    Exit code 2 where one of them cannot work.
    """
    from argus.engine.check import check_engine
    from argus.engine.verdict import words_of

    result = check_engine(engine, path)
    if json:
        o.print_json(result.summary)
    else:
        for node in result.nodes:
            typer.echo(words_of(node))
        typer.echo(result.verdict)
    if not result.good:
        raise typer.Exit(2)
