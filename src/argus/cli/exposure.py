"""`argus exposure`: which documents do not come back, with no graph and no questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.retrievability.exposure.config import ExposureConfig
from argus.settings import Doc


@example("argus exposure --corpus docs.jsonl --out report/")
@with_blocks
def exposure(
    *,
    corpus: o.Corpus,
    out: o.Out = Path("argus-out"),
    queries: Annotated[
        Path | None,
        Doc("Real queries to add to the sample (JSONL, CSV, TSV, Parquet)."),
    ] = None,
    measure: ExposureConfig,
    encoder: EncoderConfig,
    engine: EngineConfig | None,
    store: o.Store = None,
    columns: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Ask for every document by its title and by sentences taken out of it.

    Writes exposure.parquet and .csv, misses.parquet and .csv, summary.json, manifest.json and
    report.html. A run that was stopped goes on where it was.
    """
    from argus.retrievability.exposure.job import exposure as run

    result = run(
        corpus,
        out=out,
        encoder=encoder,
        config=measure,
        queries=queries or (),
        fields=columns,
        store=store,
        limit=limit,
        fresh=fresh,
        engine=engine,
    )
    o.show(result, as_json=json)
