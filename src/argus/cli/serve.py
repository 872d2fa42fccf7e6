"""`argus serve`: start the local web page, or an MCP server, over folders of results and indexes.

It opens the folders with `argus.service.workplace` and hands them to `argus.service`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli.signatures import with_blocks
from argus.evaluation.config import ChunkedCorpus
from argus.retrievers.config import AskingConfig, NamedRetriever
from argus.service.config import RecordsOptions, Searched, ServeConfig, bound_compiled_code


@with_blocks
def serve(
    *,
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of results or indexes: all that it may touch.")
    ],
    serving: ServeConfig,
    searched: Searched,
    retriever: NamedRetriever = None,
    asking: AskingConfig,
    records: RecordsOptions,
    mcp: bool = False,
    config: Path | None = None,
) -> None:
    """Open a page and a service over FOLDERS: see the verdict, ask why not, repair, undo.

    Without --records, those count that a folder was audited with, where they lie in FOLDERS.

    Args:
        mcp: Serve tools for agents on standard input and output in place of the page.
    """
    bound_compiled_code()  # before PyTorch is loaded
    from argus.service.workplace import open_workplace

    place = open_workplace(
        folders, index=searched.index, retriever=retriever, store=searched.store,
        encoder=searched.encoder, asking=asking,
        chunks=ChunkedCorpus(
            corpus=searched.corpus, fields=searched.fields, parent_field=searched.parent_field
        ), authority=records.source, config=config,
    )  # fmt: skip
    place = records.over(place)
    if mcp:
        from argus.service.mcp import run_mcp

        return run_mcp(place, serving)
    from argus.cli.startable import ArgusCommands
    from argus.service.app import run_service

    run_service(place, serving, typer.echo, ArgusCommands())
