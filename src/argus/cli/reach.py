"""`argus reach`: which stored records a vector store does not find by their own vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.reach import ReachConfig
from argus.settings import Doc
from argus.stores.spec import StoreConfig, Where, conditions


@example("argus reach sqlite-vec:docs.db/docs --out report/")
@with_blocks
def reach(
    *,
    store: Annotated[
        str, typer.Argument(help="KIND:PLACE/COLLECTION, such as qdrant:http://HOST:6333/docs.")
    ],
    out: o.Out = o.OUT,
    measure: ReachConfig,
    opening: StoreConfig,
    where: Where = (),
    queries: Annotated[
        Path | None, Doc("Queries whose recall is measured too (JSONL, CSV, TSV, Parquet).")
    ] = None,
    encoder: Annotated[str | None, Doc("What embeds --queries for this store.")] = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Ask a store for its own records by their own vectors; name those that do not come back.

    Writes unreached.parquet and .csv, summary.json, manifest.json and report.html.
    """
    from argus.reach import reach as run

    result = run(
        store, out=out, config=measure, opening=opening, matching=conditions(where) or None,
        queries=queries or (), encoder=encoder, fresh=fresh,
    )  # fmt: skip
    o.show(result, as_json=json)
