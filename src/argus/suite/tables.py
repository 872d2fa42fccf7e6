"""Lay out tables as Markdown: the results of a suite, and the documents that control them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from argus.data.folders import ArtifactFolder
from argus.data.texts import in_cell
from argus.data.writing import write_whole
from argus.suite.cells import DEPTHS, SERVED
from argus.suite.config import Suite

TABLES = "tables"
MARKS = {"better": "↑", "worse": "↓", "": ""}
BY_HOP = f"TCA@{SERVED}, "  # before a hop type, in the name of a measure
SIGNIFICANT = (
    "↑ better, ↓ worse than the original: paired randomisation test below 0.05, and a "
    "95% interval without zero. Harmed: questions, against improved ones."
)
CONTROLLED = (
    "TCA: the answer is right, or, of questions without one, all that controls is served; and no "
    "superseded document stands without a superseder (Definition 7). hit: a controlling document "
    "is among them, which the paper's Tables 5 and 6 call TCA."
)
Rows = Sequence[Mapping[str, Any]]
"""Rows of a suite, as `suite_rows` yields them."""


def write_table(
    folder: ArtifactFolder,
    name: str,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    texts: int,
    notes: Sequence[str] = (),
) -> None:
    """Write a table as Markdown, under `tables`. texts: columns before those of figures."""
    rules = ["---"] * texts + ["---:"] * (len(columns) - texts)
    cells = ([in_cell(cell) for cell in row] for row in (columns, rules, *rows))
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    text = "\n".join([f"**{title}**", "", *lines, "", *notes]).rstrip() + "\n"
    home = folder.own(TABLES)
    home.mkdir(exist_ok=True)
    write_whole(ArtifactFolder(home).own(f"{name}.md"), text)


def write_suite(folder: ArtifactFolder, suite: Suite, rows: Rows) -> Iterator[str]:
    """Write the tables of a suite, and yield their names: all measures, and what controls."""
    places = list(dict.fromkeys((row["scope"], row["name"]) for row in rows))
    places.sort(key=lambda place: place[0] != "task")  # the averages come last
    measures, body = suite.config.measures, []
    heads = [name if scope == "task" else f"average, {name}" for scope, name in places]
    columns = ["retriever", "remedy", *(f"{head} {m}" for head in heads for m in measures)]
    for retriever in suite.retrievers:
        for remedy in suite.remedies_of(retriever):
            own = {
                (row["scope"], row["name"]): row
                for row in rows
                if (row["retriever"], row["remedy"]) == (retriever.name, remedy.name)
            }
            tasks = (own["task", task.name]["comparison"] for task in suite.tasks)
            compared = [difference for difference in tasks if difference is not None]
            harmed, improved = (sum(d[key] for d in compared) for key in ("harmed", "improved"))
            headline = suite.config.headline
            figures = [_figure(own[place], m, headline) for place in places for m in measures]
            last = f"{harmed:,} : {improved:,}" if compared else ""
            body.append([retriever.name, remedy.name, *figures, last])
    columns.append("harmed : improved")
    title = "Retrieval under remedies"
    write_table(folder, "results", title, columns, body, texts=2, notes=[SIGNIFICANT])
    yield "results"
    if served := [row for row in rows if f"TCA@{SERVED}" in row["measures"]]:
        _write_controlling(folder, served, suite.config.k)
        yield "controlling"


def _figure(row: Mapping[str, Any], measure: str, headline: str) -> str:
    """Return a measure, marked if it differs from the original by more than chance."""
    value = row["measures"].get(measure)
    if value is None:
        return "failed" if row["state"] == "failed" else ""
    against = row["comparison"] if measure == headline else None
    return f"{value:.3f}{MARKS[against['verdict']] if against else ''}"


def _write_controlling(folder: ArtifactFolder, rows: Rows, k: int) -> None:
    """Write TCA by hop type, right answers, hits and ranks (CAR's Tables 2, 3, 5, 6, 8 and 9)."""
    hops = sorted({name for row in rows for name in row["measures"] if name.startswith(BY_HOP)})
    measures = [f"{name}@{SERVED}" for name in ("TCA", "Acc", "ProvRec")] + hops
    measures += [f"Success@{n}" for n in DEPTHS] + [f"TCA@{n}" for n in DEPTHS if n != SERVED]
    heads = [name.removeprefix(BY_HOP).replace("Success", "hit") for name in measures]
    columns = ["task", "retriever", "remedy", *heads, "mean rank", "median rank"]
    body = []
    for row in rows:
        values = [row["measures"].get(name) for name in measures]
        ranks = [row["mean_rank"], row["median_rank"]]
        body.append(
            [
                *(row[key] for key in ("name", "retriever", "remedy")),
                *("" if value is None else f"{value:.3f}" for value in values),
                *(f"beyond {k}" if rank is None else f"{rank:,.1f}" for rank in ranks),
            ]
        )
    title = "Controlling documents among the first"
    write_table(folder, "controlling", title, columns, body, texts=3, notes=[CONTROLLED])
