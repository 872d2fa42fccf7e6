"""`argus authority audit`: whether what controls a document can be reached from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.authority.jobs.config import AuthoritySource
from argus.cli import options as o
from argus.cli.authority_lint import print_relation
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.encoders.config import EncoderConfig
from argus.settings import Doc, Ge

if TYPE_CHECKING:
    from argus.authority.jobs.summary import AuthorityAuditSummary


@example("argus authority audit --records records.jsonl --rules rules.yaml --out authority/")
@with_blocks
def audit(
    source: AuthoritySource,
    encoder: EncoderConfig,
    out: o.Out = Path("argus-out"),
    k: Annotated[int, Ge(1), Doc("Results in which it must be.")] = 10,
    store: o.Store = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Ask with every superseded document's own title and text for what controls it now.

    No queries needed. Writes authority.parquet and .csv, summary.json, manifest.json, report.html.
    """
    from argus.authority.jobs.audit import audit_authority

    result = audit_authority(source, out=out, encoder=encoder, k=k, store=store, fresh=fresh)
    o.show(result, print_audit, as_json=json)


def print_audit(summary: AuthorityAuditSummary) -> None:
    """Print what can be reached, by proxy and by rule."""
    documents = summary["documents"]
    print_relation(summary["relation"])
    typer.echo(
        f"superseded: {documents['superseded']:,} of {documents['total']:,} documents; pairs with "
        f"what controls them: {documents['measured']:,} measured, {documents['failed']:,} failed, "
        f"{documents['not applicable']:,} not applicable"
    )
    for proxy, figures in summary["proxies"].items():
        if not figures["documents"]:
            typer.echo(f"asked with their {proxy}: none has one")
            continue
        typer.echo(
            f"asked with their {proxy}: {figures['reachable']:.1%} ({figures['low']:.1%} to "
            f"{figures['high']:.1%}) bring what controls them into the top {summary['k']}; "
            f"a median of {figures['median_outranking']:,.0f} documents outrank it (N+), "
            f"mean divergence {figures['mean_divergence']:.3f}"
        )
    if len(summary["by_rule"]) > 1:
        for group in summary["by_rule"]:
            shares = ", ".join(
                f"{proxy} {figures['reachable']:.1%} of {figures['documents']:,}"
                for proxy, figures in group["proxies"].items()
                if figures["documents"]
            )
            typer.echo(f"  {group['name']}: {shares}")
