"""`argus gate`: pass, fail or not measured, for a pipeline."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.settings import Doc

_Bound = float | None


@with_blocks
def gate(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders that audit, diagnose, exposure or evaluate wrote.")
    ],
    max_low_rps_share: Annotated[_Bound, Doc("Entities with RPS below 0.33.")] = None,
    min_mean_rps: Annotated[_Bound, Doc("Mean RPS.")] = None,
    max_at_risk_share: Annotated[
        _Bound,
        Doc("Entities that argus diagnose flags."),
    ] = None,
    min_recall: Annotated[_Bound, Doc("Of the last system evaluated.")] = None,
    recall_measure: Annotated[str, Doc("What --min-recall reads.")] = "R@10",
    min_ndcg: Annotated[_Bound, Doc("Of the last system evaluated.")] = None,
    max_ndcg_drop: Annotated[_Bound, Doc("Mean loss from before to after.")] = None,
    max_harmed_share: Annotated[_Bound, Doc("Queries whose nDCG fell.")] = None,
    ndcg_measure: Annotated[str, Doc("What the nDCG checks read.")] = "nDCG@10",
    max_never_retrieved_share: Annotated[
        _Bound,
        Doc("Documents that no query brought back."),
    ] = None,
    min_self_retrieval: Annotated[
        _Bound,
        Doc("Titles and sentences that find their document."),
    ] = None,
    markdown: Annotated[bool, Doc("Print a summary for a pull request.")] = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Check results against bounds: exit 0 pass, 1 fail, 2 could not measure.

    A check passes only on a measurement: what failed counts as its worst value. A failed check
    decides (1); else one that could not be measured does (2). No check at all is 2.
    """
    from argus.evaluation.gate.job import Bounds
    from argus.evaluation.gate.job import gate as run

    result = run(
        folders,
        Bounds(
            max_low_rps_share=max_low_rps_share, min_mean_rps=min_mean_rps,
            max_at_risk_share=max_at_risk_share, min_recall=min_recall, min_ndcg=min_ndcg,
            max_ndcg_drop=max_ndcg_drop, max_harmed_share=max_harmed_share,
            max_never_retrieved_share=max_never_retrieved_share,
            min_self_retrieval=min_self_retrieval,
            recall_measure=recall_measure, ndcg_measure=ndcg_measure,
        ),
    )  # fmt: skip
    if json:
        o.print_json(
            {
                "verdict": result.verdict,
                "outcomes": [asdict(outcome) for outcome in result.outcomes],
            }
        )
    elif markdown:
        typer.echo(result.markdown(), nl=False)
    else:
        for outcome in result.outcomes:
            typer.echo(outcome.line)
    raise typer.Exit(result.exit_code)
