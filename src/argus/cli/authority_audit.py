"""`argus authority audit`: whether what controls a document can be reached from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.authority.jobs.config import AuthoritySource
from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.encoders.config import EncoderConfig
from argus.retrievers.config import AskingConfig
from argus.settings import TOP_K, Doc, Ge


@example("argus authority audit --records records.jsonl --rules rules.yaml --out authority/")
@with_blocks
def audit(
    *,
    source: AuthoritySource,
    retriever: o.Retriever = None,
    asking: AskingConfig,
    encoder: EncoderConfig,
    out: o.Out = Path("argus-out"),
    k: Annotated[int, Ge(1), Doc("Results in which it must be.")] = TOP_K,
    store: o.Store = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Ask with every superseded document's own title and text for what controls it now.

    No queries needed. Writes authority.parquet and .csv, summary.json, manifest.json, report.html.
    """
    from argus.authority.jobs.audit import audit_authority

    result = audit_authority(
        source, out=out, encoder=encoder, k=k, store=store, fresh=fresh, retriever=retriever,
        asking=asking,
    )  # fmt: skip
    o.show(result, as_json=json)
