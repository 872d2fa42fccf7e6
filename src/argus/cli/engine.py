"""`argus engine`: where work can run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import Group
from argus.settings import Doc, Option

app = Group("Run heavy steps on more than one machine.")

Name = Annotated[
    str, Doc("local (this machine's cores) or ray (a cluster)."), Option(("--engine",))
]
Address = Annotated[
    str | None,
    Doc("Of a Ray cluster: host:port, ray://host:port, or auto; default: one is started here."),
    Option(("--address",)),
]


@app.callback()
def engine() -> None:
    """Run heavy steps on more than one machine."""


@app.command()
@with_blocks
def check(
    *,
    engine: Name = "ray",
    address: Address = None,
    workers: Annotated[int | None, Doc("Workers at once; default: one per core.")] = None,
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
    from argus.engine.config import EngineConfig
    from argus.engine.config import Name as EngineName
    from argus.engine.verdict import words_of

    found = check_engine(
        EngineConfig(name=cast(EngineName, engine), address=address, workers=workers), path
    )
    if json:
        o.print_json(found.summary)
    else:
        for node in found.nodes:
            typer.echo(words_of(node))
        typer.echo(found.verdict)
    if not found.good:
        raise typer.Exit(2)
