"""`argus serve`: the service and the page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.service.config import ServeConfig
from argus.settings import Doc


@with_blocks
def serve(
    *,
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of results or indexes: all that it may touch.")
    ],
    serving: ServeConfig,
    index: Annotated[str | None, Doc("Index to search: PATH or PATH@STATE.")] = None,
    retriever: o.Retriever = None,
    store: Annotated[str | None, Doc("Store to search in place: KIND:PLACE/COLLECTION.")] = None,
    config: o.Config = None,
) -> None:
    """Open a page and a service over FOLDERS: see the verdict, ask why not, repair, undo."""
    from argus.cli.startable import ArgusCommands
    from argus.service.running import run_service
    from argus.service.workplace import open_workplace

    run_service(
        open_workplace(folders, index=index, retriever=retriever, store=store),
        serving,
        ArgusCommands(),
    )
