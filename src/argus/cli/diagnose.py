"""`argus diagnose`: predicted RPS of the entities of documents, before indexing."""

from __future__ import annotations

from pathlib import Path

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.remedies.diagnosis.config import TAU
from argus.remedies.repair.config import ReferenceConfig


@example("argus diagnose --corpus docs.jsonl --kb kb.jsonl --out diagnosis/")
@with_blocks
def diagnose(
    *,
    corpus: o.Corpus,
    out: o.Out = Path("argus-out"),
    reference: ReferenceConfig,
    probe: o.ProbeFolder = None,
    tau: o.Tau = TAU,
    encoder: EncoderConfig,
    engine: EngineConfig | None,
    store: o.Store = None,
    columns: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Find the entities of every document and predict how reachable they are (RPS).

    RPS measures reachability, and cannot tell which real questions fail (AUC 0.50, where 0.50 is
    chance). Needs no query and no index. Writes diagnosis.parquet, summary.json, manifest.json and
    report.html.
    """
    from argus.remedies.diagnosis.job import diagnose as run

    result = run(
        corpus,
        out=out,
        reference=reference,
        fields=columns,
        probe=probe,
        encoder=encoder,
        tau=tau,
        store=store,
        limit=limit,
        fresh=fresh,
        engine=engine,
    )  # fmt: skip
    o.show(result, as_json=json)
