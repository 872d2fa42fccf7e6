"""`argus authority lint`: whether a run serves what has been superseded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.authority.jobs.config import AuthoritySource, LintBounds
from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.settings import TOP_K, Doc, Ge, Option


@example(
    "argus authority lint run.trec --records records.jsonl --rules rules.yaml --max-violations 0.9"
)
@with_blocks
def lint(
    *,
    run: Annotated[
        Path | None, typer.Argument(help="TREC run file (.gz too) or JSON; or --retriever.")
    ] = None,
    source: AuthoritySource,
    k: Annotated[int, Ge(1), Doc("Results per query that are checked.")] = TOP_K,
    queries: Annotated[
        Path | None,
        Doc("Rows of _id and anchor: what each query is about; with --retriever, its text."),
    ] = None,
    retriever: Annotated[
        str | None,
        Doc(f"What is asked the --queries, in place of a run: {NAMES}."),
        Option(panel=RETRIEVER),
    ] = None,
    asking: AskingConfig,
    encoder: Annotated[str | None, Doc("For the queries of a store.")] = None,
    before: Annotated[
        Path | None,
        Doc("The run before superseded documents were removed."),
    ] = None,
    bounds: LintBounds,
    out: Annotated[
        Path | None, Doc("Folder for table and report; default: none."), o.OUTPUT
    ] = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Check RUN, or a retriever's answers, for superseded documents and missing controlling ones.

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
        retriever=retriever,
        asking=asking,
        encoder=encoder,
    )
    o.show(result, as_json=json)
    raise typer.Exit(result.exit_code)
