"""`argus generative stats`: what an n-gram index holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.settings import Doc, Ge

if TYPE_CHECKING:
    from argus.generative.index.summary import Spread, StatsSummary, TitleCounts


@example("argus generative stats ngrams/ --longest 3")
@with_blocks
def stats(
    index: Annotated[Path, typer.Argument(help="Folder that argus generative build wrote.")],
    longest: Annotated[int, Ge(1), Doc("Tokens of the longest n-grams counted.")] = 10,
    out: Annotated[Path | None, Doc("Also write a report into this folder.")] = None,
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
    if json:
        o.print_json(result.summary)
        return
    for line in describe(result.summary):
        typer.echo(line)
    if result.report:
        typer.echo(f"report: {result.report}")


def describe(summary: StatsSummary) -> list[str]:
    """Return the headline of an index' figures, as lines."""
    passages, tokens = summary["passages"], summary["tokens"]
    lines = [
        f"{passages['total']:,} passages of {_spread(passages['tokens'])} tokens; "
        f"{tokens['total']:,} tokens, {tokens['types']:,} of {tokens['vocabulary']:,} types",
        f"{summary['bytes']['total']:,} bytes, {summary['bytes_per_token']:.2f} per token",
        *_titles(summary["titles"]),
    ]
    asked = summary["pseudo_queries"]
    if asked:
        lines.append(
            f"{asked['queries']:,} pseudo-queries in {asked['passages']:,} passages, "
            f"{_spread(asked['per_passage'])} per passage"
        )
    lines += ["", f"{'n-gram':>6} {'distinct':>12} {'once':>7} {'in one passage':>15}"]
    for row in summary["ngrams"]:
        distinct = row["distinct"]
        once, one = (
            f"{n / distinct:.1%}" if distinct else "-"
            for n in (row["singletons"], row["in_one_passage"])
        )
        lines.append(f"{row['length']:>6} {distinct:>12,} {once:>7} {one:>15}")
    return lines


def _titles(titles: TitleCounts | None) -> list[str]:
    if titles is None:
        return ["passages have no titles"]
    lines = []
    if titles["tokens"]:
        lines.append(f"{titles['distinct']:,} titles of {_spread(titles['tokens'])} tokens")
    if titles["without"]:
        lines.append(f"{titles['without']:,} passages without title")
    if titles["repeated"]:
        most = titles["most_repeated"][0]
        lines.append(
            f"{titles['repeated']:,} titles are borne by several passages (most by "
            f"{most['passages']:,}: {most['title']})"
        )
    if titles["inside_others"]:
        first = titles["inside_examples"][0]
        lines.append(
            f"{titles['inside_others']:,} titles stand within others ({first['title']} in "
            f"{first['inside']})"
        )
    return lines


def _spread(values: Spread | None) -> str:
    if values is None:
        return "no"
    return f"{values['min']:,}-{values['max']:,} (median {values['median']:,})"
