"""The section of an n-gram index: its size, its passages, and how telling its identifiers are."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Literal

from argus.generative.index.summary import Histogram, NgramCounts, StatsSummary
from argus.reports.figures import BAND_COLOURS, Figure, framed
from argus.reports.section import Section, Table, table

_GREY = "#8a93a0"


def section(folder: Path, summary: StatsSummary) -> Section:
    """Build it from summary.json."""
    ngrams = summary["ngrams"]
    plots = {
        "generative_lengths": _lengths(summary["passages"]["histogram"]),
        "generative_distinct": _distinct(ngrams),
        "generative_telling": _telling(ngrams),
        "generative_passages": _passages(ngrams),
    }
    tables = {"generative_ngrams": _ngrams(ngrams)}
    titles = summary["titles"]
    if titles and titles["most_repeated"]:
        rows = [[row["title"], row["passages"]] for row in titles["most_repeated"]]
        tables["generative_repeated"] = table({"title": "text", "passages": "count"}, rows)
    if titles and titles["inside_examples"]:
        rows = [[row["title"], row["inside"]] for row in titles["inside_examples"]]
        tables["generative_inside"] = table({"title": "text", "within": "text"}, rows)
    brief = (
        f"{summary['passages']['total']:,} passages, {summary['tokens']['total']:,} tokens, "
        f"{summary['bytes_per_token']:.2f} bytes per token"
    )
    return Section(plots, tables, brief)


def _lengths(histogram: Histogram) -> Figure:
    edges, counts = histogram["edges"], histogram["counts"]
    bars = {
        "type": "bar",
        "x": [(low + high - 1) / 2 for low, high in pairwise(edges)],
        "y": counts,
        "customdata": [
            f"{low:,}" if high - low == 1 else f"{low:,} to {high - 1:,}"
            for low, high in pairwise(edges)
        ],
        "marker": {"color": BAND_COLOURS["high"]},
        "hovertemplate": "%{customdata} tokens: %{y:,} passages<extra></extra>",
    }
    return framed([bars], "tokens of a passage", "passages", {"bargap": 0.04})


def _distinct(ngrams: list[NgramCounts]) -> Figure:
    lengths = [row["length"] for row in ngrams]
    bars = [
        {
            "type": "bar",
            "name": name,
            "x": lengths,
            "y": values,
            "marker": {"color": colour},
            "hovertemplate": "%{x} tokens: %{y:,}<extra>" + name + "</extra>",
        }
        for name, values, colour in (
            ("occur once", [row["singletons"] for row in ngrams], BAND_COLOURS["high"]),
            ("repeat", [row["distinct"] - row["singletons"] for row in ngrams], _GREY),
        )
    ]
    figure = framed(bars, "tokens of an n-gram", "different n-grams", {"barmode": "stack"})
    figure["layout"]["xaxis"] |= {"dtick": 1}
    return figure


def _telling(ngrams: list[NgramCounts]) -> Figure:
    shares: tuple[tuple[str, Literal["in_one_passage", "singletons"], str], ...] = (
        ("are in one passage alone", "in_one_passage", BAND_COLOURS["high"]),
        ("occur once", "singletons", BAND_COLOURS["low"]),
    )
    lines = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": [row["length"] for row in ngrams if row["distinct"]],
            "y": [round(row[field] / row["distinct"], 5) for row in ngrams if row["distinct"]],
            "line": {"color": colour, "width": 2.5},
            "hovertemplate": "%{x} tokens: %{y:.1%}<extra>" + name + "</extra>",
        }
        for name, field, colour in shares
    ]
    figure = framed(lines, "tokens of an n-gram", "share of n-grams", {}, yrange=[0, 1.02])
    figure["layout"]["xaxis"] |= {"dtick": 1}
    figure["layout"]["yaxis"] |= {"tickformat": ".0%"}
    return figure


def _passages(ngrams: list[NgramCounts]) -> Figure:
    colours = iter([BAND_COLOURS["high"], BAND_COLOURS["mid"], BAND_COLOURS["low"], _GREY])
    names = list(ngrams[0]["passages_quantiles"])[-4:]
    lines = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": [row["length"] for row in ngrams if row["distinct"]],
            "y": [row["passages_quantiles"][name] for row in ngrams if row["distinct"]],
            "line": {"color": next(colours), "width": 2.5},
            "hovertemplate": "%{x} tokens: %{y:,} passages<extra>" + name + "</extra>",
        }
        for name in names
    ]
    figure = framed(lines, "tokens of an n-gram", "passages that hold it", {})
    figure["layout"]["xaxis"] |= {"dtick": 1}
    figure["layout"]["yaxis"] |= {"type": "log"}
    return figure


def _ngrams(ngrams: list[NgramCounts]) -> Table:
    frequencies = list(ngrams[0]["frequency_quantiles"])
    passages = list(ngrams[0]["passages_quantiles"])
    columns = {
        "tokens": "count",
        "different n-grams": "count",
        "occurrences": "count",
        "occur once": "count",
        "in one passage": "count",
        **{f"occurrences, {name}": "count" for name in frequencies},
        **{f"passages, {name}": "count" for name in passages},
    }
    rows = [
        [
            row["length"],
            row["distinct"],
            row["occurrences"],
            row["singletons"],
            row["in_one_passage"],
            *(row["frequency_quantiles"][name] for name in frequencies),
            *(row["passages_quantiles"][name] for name in passages),
        ]
        for row in ngrams
    ]
    return table(columns, rows)
