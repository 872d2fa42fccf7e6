"""`argus index build|add|delete`: indexes on disk, one view per document to begin with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from argus.cli import options as o
from argus.cli.config_options import job, with_blocks
from argus.cli.groups import Group, example
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.settings import Doc, Option

app = Group("Build and change indexes.")

Folder = Annotated[Path, Doc("Index folder."), Option(("--index",)), o.INDEX, o.OUTPUT]
Vectors = Annotated[
    Path | None,
    Doc(
        "Your own vectors (.npy, one row per document in corpus order) instead of embedding; "
        "--encoder names what queries are embedded with."
    ),
    Option(("--vectors",)),
]
Ann = Annotated[
    bool,
    Doc(
        "Also build the approximate index: takes minutes, needs about half the memory to "
        "search, may miss a result. Faster for single questions over hundreds of thousands of "
        "views; not over tens of thousands, nor for many questions at once."
    ),
    Option(("--ann",)),
]


def _search(_result: Any, given: Mapping[str, Any]) -> str:
    return o.command("explain", "WORDS", "--index", given["out"])


@app.command()
@job("argus.indexes.job:build_index", "argus index build --corpus docs.jsonl --out index/", _search)
def build(
    *,
    corpus: o.Corpus,
    out: o.IndexOut,
    vectors: Vectors = None,
    ann: Ann = False,
    encoder: EncoderConfig,
    engine: EngineConfig | None,
    store: o.Store = None,
    fields: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
) -> None:
    """Index every document of a corpus through its own text.

    Writes the index, summary.json and manifest.json. A build that was stopped goes on where it was.
    """


@app.command()
@job("argus.indexes.job:add_documents", "argus index add --index index/ --corpus more.jsonl")
def add(
    *,
    index: Folder,
    corpus: o.Corpus,
    vectors: Vectors = None,
    encoder: o.IndexEncoder = None,
    ann: Ann = False,
    engine: EngineConfig | None,
    fields: FieldNames,
    limit: o.Limit = None,
) -> None:
    """Add the documents of a corpus to an index: all of them, or none when one is there already."""


@app.command()
@example("argus index delete d3 d4 --index index/")
@with_blocks
def delete(
    index: Folder,
    ids: Annotated[list[str] | None, typer.Argument(help="Document ids.")] = None,
    ids_file: Annotated[Path | None, Doc("File with one document id per line.")] = None,
    json: o.AsJson = False,
) -> None:
    """Delete documents with all their views: all of them, or none when an id is unknown."""
    from argus.data.reading import read_ids
    from argus.indexes.job import delete_documents

    doc_ids = list(ids or []) + [id_ for _, id_ in (read_ids(ids_file) if ids_file else ())]
    o.show(delete_documents(index, doc_ids), as_json=json)


@app.command()
@example("argus index compact --index index/")
@with_blocks
def compact(
    index: Folder,
    now: Annotated[bool, Doc("Keep nothing for those who have it open: nobody reads it.")] = False,
    json: o.AsJson = False,
) -> None:
    """Free the space of what was deleted or rolled back. Every state that there is stays.

    Deleted text stays on the disk until then (a few deleted documents among many: until more are).
    Whoever has had the index open for more than an hour, through a change, has to open it again.
    """
    from datetime import timedelta

    from argus.indexes.job import compact_index
    from argus.indexes.table import KEPT

    summary = compact_index(index, kept=timedelta(0) if now else KEPT)
    if json:
        o.print_json(summary)
    else:
        freed = (summary["bytes_before"] - summary["bytes"]) / 1e6
        typer.echo(f"index: {summary['index']} ({summary['views']:,} views), {freed:,.1f} MB freed")
