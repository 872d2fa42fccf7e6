"""`argus audit`: the Retrieval Probability Score of every entity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

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
    """Measure which entities a retriever will not bring back.

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
    o.show(result, print_audit, as_json=json)


def print_audit(summary: dict[str, Any]) -> None:
    """Print the headline of an audit."""
    counts = summary["entities"]
    if summary["mean_rps"] is None:
        typer.echo("no entity could be scored; the reasons are in the report")
        return
    typer.echo(
        f"RPS at k={summary['k']}, N={summary['pool']}: mean {summary['mean_rps']:.3f}; "
        f"{summary['share_below_0.33']:.1%} of entities below 0.33 (blind spots), "
        f"{summary['share_above_0.5']:.1%} above 0.5"
    )
    typer.echo(
        f"entities: {counts['measured']:,} measured, {counts['failed']:,} failed, "
        f"{counts['not applicable']:,} not applicable; pairs: {summary['pairs']['measured']:,}"
    )
    for setting in summary["settings"][1:]:
        if setting["mean_rps"] is not None:
            typer.echo(f"  k={setting['k']}, N={setting['pool']}: mean {setting['mean_rps']:.3f}")
