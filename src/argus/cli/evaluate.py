"""`argus evaluate`: one system on judged queries, or a change, before and after."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.evaluation.config import EvaluateConfig
from argus.settings import Doc, Option

if TYPE_CHECKING:
    from argus.evaluation.summary import EvaluationSummary
    from argus.measures.significance import DifferenceFigures


@example("argus evaluate --queries queries.jsonl --qrels qrels.tsv --index index/ --out judged/")
@with_blocks
def evaluate(
    *,
    queries: Annotated[Path, Doc("Queries (JSONL, CSV, TSV, Parquet, BEIR folder).")],
    qrels: Annotated[
        Path,
        Doc("Judgements (BEIR: query-id, corpus-id, score; or TREC)."),
    ],
    out: o.Out = Path("argus-out"),
    index: Annotated[
        list[str] | None,
        Doc("PATH, PATH@original or PATH@REMEDY; once or twice."),
        o.INDEX,
    ] = None,
    run: Annotated[
        list[Path] | None,
        Doc("TREC run file (.gz too) or JSON; counts after --index."),
    ] = None,
    corpus: Annotated[
        Path | None,
        Doc("Where titles and texts come from; runs need it for both."),
        o.CORPUS,
    ] = None,
    diagnosis: Annotated[
        Path | None,
        Doc("Folder with diagnosis.parquet, for ARGUS Table 4."),
    ] = None,
    encoder: Annotated[
        str | None,
        Doc("For an index that does not name its own."),
    ] = None,
    hybrid: o.Hybrid = None,
    weights: o.Weights = None,
    exact: Annotated[
        bool | None,
        Doc("Default: as the index is served, approximately where it was built with --ann."),
        Option(("--exact/--approximate",), default=""),
    ] = None,
    measure: EvaluateConfig,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Measure an index or a run on judged queries; with two, the second against the first.

    Writes per_query.parquet and .csv, summary.json, manifest.json and report.html. With two
    systems: paired randomisation test, bootstrap intervals, and the queries that were harmed.
    """
    from argus.evaluation.job import evaluate as judge

    result = judge(
        queries,
        qrels,
        out=out,
        indexes=index or (),
        runs=run or (),
        corpus=corpus,
        diagnosis=diagnosis,
        encoder=encoder,
        hybrid=hybrid or (),
        exact=exact,
        weights=weights or (),
        config=measure,
        fresh=fresh,
    )  # fmt: skip
    o.show(result, print_evaluation, as_json=json)


def print_evaluation(summary: EvaluationSummary) -> None:
    """Print the headline of an evaluation, and what makes it doubtful."""
    counts, systems = summary["queries"], summary["systems"]
    typer.echo(
        f"queries: {counts['measured']:,} measured, {counts['failed']:,} failed, "
        f"{counts['not applicable']:,} not applicable"
    )
    for name in systems[0]["measures"]:
        values = " -> ".join(f"{system['measures'][name]:.4f}" for system in systems)
        typer.echo(f"{name}: {values}{_difference(summary, name)}")
    for line in _doubts(summary):
        typer.echo(line)
    if summary["comparison"]:
        found = summary["comparison"][summary["headline"]]
        typer.echo(f"by {summary['headline']}: {_improved_and_harmed(found)}")
    share = summary["implicitness"]["share"]
    if share is not None:
        typer.echo(f"{share:.1%} of the queries share no word with a relevant title")


def _doubts(summary: EvaluationSummary) -> Iterator[str]:
    """Yield what a reader of the figures must know of the queries and systems."""
    measured = summary["queries"]["measured"]
    for row in summary["failed"][:5]:
        yield f"failed: query {row['query_id']}: {row['reason']}"
    for system in summary["systems"]:
        name, empty = system["name"], system["queries_without_results"]
        if empty:
            loud = "WARNING: " if empty * 10 >= measured else ""
            yield (
                f"{loud}{name}: {empty:,} of {measured:,} queries have no result; they count as 0"
            )
        if system["beyond_its_lists"]:
            yield (
                f"{name}: no list is longer than {system['longest_list']:,}, so "
                f"{', '.join(system['beyond_its_lists'])} cannot tell what stood further down"
            )
        missing = system["missing_judged_documents"]
        if missing and missing["documents"]:
            yield (
                f"{name}: {missing['documents']:,} relevant documents are not in it "
                f"({missing['queries']:,} queries); no retriever could bring them back"
            )
        if system["warning"]:
            yield f"WARNING: {system['warning']}"
    if summary["association_left_out"]:
        ks = ", ".join(map(str, summary["association_left_out"]))
        yield f"Table 4 is not told for k = {ks}: the runs are not that deep"


def print_change(summary: EvaluationSummary) -> None:
    """Print what a change did to judged questions, in one line: before and after were measured."""
    name = summary["headline"]
    difference = (summary["comparison"] or {})[name]
    typer.echo(
        f"{difference['queries']:,} judged questions, {name}: {difference['mean_before']:.3f} → "
        f"{difference['mean_after']:.3f}{_difference(summary, name)}; "
        f"{_improved_and_harmed(difference)}"
    )


def _improved_and_harmed(difference: DifferenceFigures) -> str:
    return (
        f"{difference['improved']:,} queries improved, {difference['harmed']:,} harmed, "
        f"{difference['unchanged']:,} unchanged"
    )


def _difference(summary: EvaluationSummary, name: str) -> str:
    if not summary["comparison"]:
        return ""
    found = summary["comparison"][name]
    interval = (
        f"no interval: {found['no_interval']}"
        if found["low"] is None
        else f"95% {found['low']:+.4f} to {found['high']:+.4f}"
    )
    return f" ({found['mean_difference']:+.4f}, {interval}, p={found['p_value']:.3g})"
