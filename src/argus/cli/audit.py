"""`argus audit`: the Retrieval Probability Score of every entity."""

from __future__ import annotations

from pathlib import Path

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.knowledge.source import KnowledgeSource
from argus.retrievability.audit.config import AuditConfig


@example("argus audit --corpus docs.jsonl --out report/")
@with_blocks
def audit(
    *,
    corpus: o.Corpus,
    out: o.Out = Path("argus-out"),
    source: KnowledgeSource,
    measure: AuditConfig,
    encoder: EncoderConfig,
    engine: EngineConfig | None,
    store: o.Store = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Measure how reachable entities are: RPS, which tells nothing of real questions.

    Writes retrievability.parquet and .csv, pair_ranks.parquet, summary.json, manifest.json and
    report.html. A run that was stopped goes on where it was.
    """
    from argus.retrievability.audit.job import audit as run

    result = run(
        corpus,
        out=out,
        source=source,
        encoder=encoder,
        config=measure,
        store=store,
        limit=limit,
        fresh=fresh,
        engine=engine,
    )
    o.show(result, as_json=json)
