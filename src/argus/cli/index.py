"""`argus index build|add|delete`: indexes on disk, one view per document to begin with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from argus.cli import output
from argus.cli.groups import Entry, Group, example
from argus.cli.signatures import with_blocks
from argus.commands import command
from argus.jobs import options as o
from argus.settings import (
    INDEX,
    OUTPUT,
    Doc,
    Option,
)


def _search(_result: Any, given: Mapping[str, Any]) -> str:
    return command("explain", "WORDS", "--index", given["out"])


app = Group(
    "Build and change indexes.",
    entries=(
        Entry(
            "build", "argus.indexes.job:build_index", "Index every document of a corpus.",
            example="argus index build --corpus docs.jsonl --out index/", then=_search,
        ),
        Entry(
            "add", "argus.indexes.job:add_documents", "Add the documents of a corpus.",
            example="argus index add --index index/ --corpus more.jsonl",
        ),
        Entry("delete", "index:delete", "Delete documents with all their views."),
        Entry("compact", "index:compact", "Free the space of what was deleted."),
    ),
)  # fmt: skip
Folder = Annotated[Path, Doc("Index folder."), Option(("--index",)), INDEX, OUTPUT]


@example("argus index delete d3 d4 --index index/")
@with_blocks
def delete(
    index: Folder,
    ids: Annotated[list[str] | None, typer.Argument(help="Document ids.")] = None,
    ids_file: Path | None = None,
    json: o.AsJson = False,
) -> None:
    """Delete documents with all their views: all of them, or none when an id is unknown.

    Args:
        ids_file: File with one document id per line.
    """
    from argus.data.reading import read_ids
    from argus.indexes.job import delete_documents

    doc_ids = list(ids or []) + [id_ for _, id_ in (read_ids(ids_file) if ids_file else ())]
    output.show(delete_documents(index, doc_ids), as_json=json)


@example("argus index compact --index index/")
@with_blocks
def compact(
    index: Folder,
    now: bool = False,
    json: o.AsJson = False,
) -> None:
    """Free the space of what was deleted or rolled back. Every state that there is stays.

    Deleted text stays on the disk until then (a few deleted documents among many: until more are).
    Whoever has had the index open for more than an hour, through a change, has to open it again.

    Args:
        now: Keep nothing for those who have it open: nobody reads it.
    """
    from datetime import timedelta

    from argus.indexes.job import compact_index
    from argus.indexes.views import KEPT

    summary = compact_index(index, kept=timedelta(0) if now else KEPT)
    if json:
        output.print_json(summary)
    else:
        freed = (summary["bytes_before"] - summary["bytes"]) / 1e6
        typer.echo(f"index: {summary['index']} ({summary['views']:,} views), {freed:,.1f} MB freed")
