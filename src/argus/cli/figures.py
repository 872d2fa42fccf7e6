"""`argus figures`: the audits of several retrievers, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.retrievability.figures.config import FigureConfig


@example("argus figures MiniLM=report/ --out figures/")
@with_blocks
def figures(
    audits: Annotated[
        list[str],
        typer.Argument(help="Folders that argus audit wrote, one per retriever: [NAME=]FOLDER."),
    ],
    *,
    measure: FigureConfig,
    out: o.Out = Path("argus-figures"),
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Draw the figures of ARGUS of the audits of several retrievers: overlays and projections.

    Mean RPS (Figure 1), LDA projections over N (2: lowest and highest, 6: all), share of entities
    above 0.5 over N (3) and over k (5). Nothing is embedded: the audits' ranks and vectors are
    read. Writes panels.parquet, curves.parquet and .csv, figures/figure-N.json (plotly),
    summary.json, manifest.json and report.html.
    """
    from argus.retrievability.figures.job import audit_figures

    o.show(audit_figures(audits, out=out, config=measure, fresh=fresh), as_json=json)
