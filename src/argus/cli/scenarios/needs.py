"""`argus scenarios needs`: which documents are not brought back by what they are for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.retrievers.config import AskingConfig
from argus.scenarios.needs.config import NeedsConfig
from argus.settings import Doc


@example("argus scenarios needs --corpus docs.jsonl --profiles profiles/ --out needs/")
@with_blocks
def needs(
    *,
    corpus: o.Corpus,
    profiles: Annotated[Path, Doc("Profiles of its documents, or a folder with them.")],
    out: o.Out = Path("argus-out"),
    measure: NeedsConfig,
    retriever: o.Retriever = None,
    asking: AskingConfig,
    encoder: EncoderConfig,
    store: o.Store = None,
    columns: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Ask for every document by its own information needs.

    Twice: in an index of documents alone, and in one with scenarios, where each need is held out:
    it searches without the scenario that it comes from. Writes need_audit.parquet and .csv,
    needs.parquet and .csv, summary.json, manifest.json and report.html. A retriever is asked once,
    as it is, and of the figures --k alone counts: needs_served and needs_served_queries.
    """
    if retriever is not None:
        from argus.scenarios.needs.served_job import ask_needs

        served = ask_needs(
            corpus,
            profiles,
            retriever,
            out=out,
            config=measure,
            asking=asking,
            encoder=encoder,
            fields=columns,
            limit=limit,
            fresh=fresh,
        )
        o.show(served, as_json=json)
        return
    from argus.scenarios.needs.job import audit_needs

    result = audit_needs(
        corpus,
        profiles,
        out=out,
        encoder=encoder,
        config=measure,
        fields=columns,
        store=store,
        limit=limit,
        fresh=fresh,
    )
    o.show(result, as_json=json)
