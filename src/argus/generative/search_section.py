"""The section of a generative search: passages found for each question, and their n-grams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from argus.data.tables import read_table
from argus.reports.figures import BAND_COLOURS, Figure, framed
from argus.reports.section import MAX_ROWS, Section, naming, table

FILE = "generative_search.parquet"
VIEWS = {
    "title": "titles",
    "body": "n-grams of texts",
    "query": "pseudo-queries",
    "question": "words of the question",
    "unigram": "single tokens",
}


def section(folder: Path, summary: dict[str, Any]) -> Section:
    """Build it from generative_search.parquet."""
    rows = read_table(folder / FILE).slice(0, MAX_ROWS).to_pylist()
    columns = {
        "question": "text", "first passage": "text", "score": "share", "found by": "text",
        "n-grams": "count", "passages": "count",
    }  # fmt: skip
    cells = [
        [
            f"{row['question']} · {row['query_id']}",
            naming(row["title"], row["first"]) if row["first"] is not None else "nothing found",
            row["score"], row["keys"] or "", row["n_keys"], row["hits"],
        ]
        for row in rows
    ]  # fmt: skip
    questions, shares = summary["questions"], summary["view_shares"]
    total = questions["total"]
    plots = {"generative_views": _views(shares)} if shares else {}
    tables = {"generative_questions": table(columns, cells, total=total)}
    brief = f"{questions['answered']:,} of {total:,} questions answered by {summary['mode']}"
    return Section(plots, tables, brief)


def _views(shares: dict[str, float]) -> Figure:
    names = sorted(shares, key=lambda view: shares[view])
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [shares[name] for name in names],
        "y": [VIEWS.get(name, name) for name in names],
        "marker": {"color": BAND_COLOURS["high"]},
        "hovertemplate": "%{y}: %{x:.1%}<extra></extra>",
    }
    figure = framed([bars], "share of the scores of the first 10 passages", "", {})
    figure["layout"]["xaxis"] |= {"tickformat": ".0%", "rangemode": "tozero"}
    figure["layout"] |= {"height": 120 + 36 * len(names)}
    return figure
