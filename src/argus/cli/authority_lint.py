"""`argus authority lint`: whether a run serves what has been superseded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.authority.jobs.config import AuthoritySource, LintBounds
from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.settings import Doc, Ge

if TYPE_CHECKING:
    from argus.authority.jobs.summary import LintSummary, RelationSummary


@example(
    "argus authority lint run.trec --records records.jsonl --rules rules.yaml --max-violations 0.9"
)
@with_blocks
def lint(
    *,
    run: Annotated[Path, typer.Argument(help="TREC run file (.gz too) or JSON.")],
    source: AuthoritySource,
    k: Annotated[int, Ge(1), Doc("Results per query that are checked.")] = 10,
    queries: Annotated[
        Path | None,
        Doc("Rows of _id and anchor: what each query is about."),
    ] = None,
    before: Annotated[
        Path | None,
        Doc("The run before superseded documents were removed."),
    ] = None,
    bounds: LintBounds,
    out: Annotated[Path | None, Doc("Folder for table and report; default: none.")] = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Check RUN, of any retriever, for superseded documents and missing controlling ones.

    A superseded document may stand beside one of its superseders (Theorem 4); --max-stale-hits 0
    forbids that, too. Exit code 0 within the bounds, 1 outside, 2 when nothing could be measured.
    """
    from argus.authority.jobs.lint import lint as run_lint

    result = run_lint(
        run,
        source,
        k=k,
        queries=queries,
        before=before,
        bounds=bounds,
        out=out,
        fresh=fresh,
    )
    if json:
        o.print_json(result.summary)
    else:
        print_lint(result.summary)
        if result.report is not None:
            typer.echo(f"report: {result.report}")
    raise typer.Exit(result.exit_code)


def print_lint(summary: LintSummary) -> None:
    """Print rates with intervals, the first violations, and the verdict."""
    from argus.authority.jobs.lint_section import RATES

    counts = summary["queries"]
    typer.echo(
        f"queries: {counts['measured']:,} measured, {counts['not applicable']:,} not applicable"
        f" (nothing retrieved, or nothing with a record); top {summary['k']}"
    )
    if counts.get("without_anchor"):
        typer.echo(f"{counts['without_anchor']:,} queries of the run have no anchor in --queries")
    if counts.get("not_in_the_run"):
        typer.echo(f"WARNING: {counts['not_in_the_run']:,} queries of --queries are not in the run")
    print_relation(summary["relation"])
    unknown = summary["documents"]["without_record"]
    if unknown:
        typer.echo(f"{unknown:,} retrieved documents have no record: taken as not superseded")
    for row in summary["violations"][:8]:
        typer.echo(f"  {row['query_id']}: {row['kind']}: {row['chain'] or row['document']}")
    more = summary["violations_total"] - min(8, len(summary["violations"]))
    if more > 0:
        typer.echo(f"  and {more:,} more")
    for name, rate in summary["rates"].items():
        if rate is None:
            typer.echo(f"{RATES[name]}: not measured (needs --before)")
            continue
        typer.echo(f"{rate['share']:.1%} ({rate['low']:.1%} to {rate['high']:.1%}) {RATES[name]}")
    if summary["verdict"] == "not measured" and counts["measured"]:
        typer.echo(
            "nothing is superseded in these records: rules that do not fit, or swapped edges?"
        )
    typer.echo(f"verdict: {summary['verdict']}")


def print_relation(relation: RelationSummary) -> None:
    """Print what the rules found in the records, doubts included."""
    typer.echo(f"records: {relation['records']:,}; explicit edges: {relation['given_edges']:,}")
    if relation["as_of"] or relation["known_by"]:
        when = [f"as of {relation['as_of']}"] if relation["as_of"] else []
        when += [f"known by {relation['known_by']}"] if relation["known_by"] else []
        typer.echo(f"{', '.join(when)}; what rules find below is of all records, whatever the date")
    if relation["below_theta"]:
        typer.echo(f"{relation['below_theta']:,} rules and edges are less sure than --theta")
    if relation["edges_against_time"]:
        typer.echo(f"WARNING: {relation['edges_against_time']:,} edges go backwards in time")
    if relation["undated"]:
        typer.echo(f"{relation['undated']:,} records have no time: taken to be in force")
    for rule in relation["rules"]:
        typer.echo(
            f"rule {rule['rule']}: {rule['retired']:,} of {rule['superseded']:,} superseded"
            + _doubt(rule["undecided"], "undecided (times overlap)")
            + _doubt(rule["no_scope"], "records lack its scope key")
            + _doubt(rule["no_time"], "records lack its time")
            + (f"; no record is of type {', '.join(rule['absent'])}" if rule["absent"] else "")
        )


def _doubt(n: int, what: str) -> str:
    return f"; {n:,} {what}" if n else ""
