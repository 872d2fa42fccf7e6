"""`argus scenarios needs`: which documents are not brought back by what they are for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.scenarios.needs.config import NeedsConfig
from argus.settings import Doc

if TYPE_CHECKING:
    from argus.scenarios.needs.summary import NeedsSummary


@example("argus scenarios needs --corpus docs.jsonl --profiles profiles/ --out needs/")
@with_blocks
def needs(
    *,
    corpus: o.Corpus,
    profiles: Annotated[Path, Doc("Profiles of its documents, or a folder with them.")],
    out: o.Out = Path("argus-out"),
    measure: NeedsConfig,
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
    needs.parquet and .csv, summary.json, manifest.json and report.html.
    """
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
    o.show(result, print_needs, as_json=json)


def print_needs(summary: NeedsSummary) -> None:
    """Print the headline of a need audit."""
    from argus.scenarios.needs.section import brief

    documents, rps, wanted = summary["documents"], summary["rps"], summary["wanted"]
    alone, fused = summary["alone"], summary["fused"]
    if rps != wanted:
        typer.echo(
            f"only {documents['indexed']:,} documents: RPS at k={rps['k']}, N={rps['pool']:,} "
            f"instead of k={wanted['k']}, N={wanted['pool']:,}"
        )
    typer.echo(brief(summary))
    places: dict[Literal["found_at_1", "found_at_k"], str]
    places = {"found_at_1": "first", "found_at_k": f"in the top {summary['k']}"}
    for name, where in places.items():
        change = fused[name]["difference"]
        interval = "no interval: fewer than 6 documents changed"
        if change["low"] is not None:
            interval = f"95% interval {change['low']:+.3f} to {change['high']:+.3f}"
        typer.echo(
            f"found {where} of {documents['indexed']:,}: {alone[name]['mean']:.1%} of a "
            f"document's needs, {fused[name]['mean']:.1%} with scenarios "
            f"({change['mean']:+.3f}; {interval})"
        )
    if documents["reasons"]:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in documents["reasons"].items())
        typer.echo(f"not measured: {reasons}")
    if summary["profiles_elsewhere"]:
        typer.echo(
            f"{summary['profiles_elsewhere']:,} profiles are of documents that the corpus lacks"
        )
