"""`argus generative stats`: what an n-gram index holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.generative.index.settings import LONGEST
from argus.settings import Doc, Ge


@example("argus generative stats ngrams/ --longest 3")
@with_blocks
def stats(
    index: Annotated[Path, typer.Argument(help="Folder that argus generative build wrote.")],
    longest: Annotated[int, Ge(1), Doc("Tokens of the longest n-grams counted.")] = LONGEST,
    out: Annotated[Path | None, Doc("Also write a report into this folder."), o.OUTPUT] = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Show how long, how frequent and how telling the identifiers of an index are.

    For n-grams of every length: how many there are, how often they occur, in how many passages.
    With --out: ngram_profile.parquet and .csv, summary.json, manifest.json and report.html.
    """
    from argus.generative.index.stats import ngram_stats

    result = ngram_stats(index, longest=longest, out=out, fresh=fresh)
    o.show(result, as_json=json)
