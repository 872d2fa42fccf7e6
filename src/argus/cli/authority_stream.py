"""`argus authority stream`: which cached answers changes of the records make stale."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.authority.jobs.config import AuthoritySource
from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.settings import Doc


@example(
    "argus authority stream changes.jsonl --run run.trec --records records.jsonl --rules rules.yaml"
)
@with_blocks
def stream(
    *,
    changes: Annotated[
        Path,
        typer.Argument(help="Rows of records to insert; `op`: delete or correct changes others."),
    ],
    source: AuthoritySource,
    run: Annotated[Path, Doc("The cached answers: TREC run file (.gz too) or JSON.")],
    k: o.K = 10,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Make CHANGES in their order, and name the cached answers that no longer hold.

    An answer is stale when a change supersedes, deletes or corrects what it rests on; it is named
    once. At the end stands what controls each of them now.
    """
    from argus.authority.jobs.stream import stream_authority

    summary = stream_authority(changes, source, run, k=k)
    if json:
        o.print_json(summary)
        return
    for change in summary["changes"]:
        effects = [
            f"{what}: {', '.join(ids)}"
            for what, ids in (
                ("superseded", change["superseded"]),
                ("in force again", change["reactivated"]),
                ("stale answers", change["stale"]),
            )
            if ids
        ]
        o.say(f"{change['op']} {change['record']}: {'; '.join(effects) or 'nothing changes'}")
    for answer in summary["stale"]:
        o.say(f"  {answer['query_id']}: now {', '.join(answer['controlling']) or 'nothing'}")
    n = len(summary["stale"])
    typer.echo(f"{n:,} of {summary['cached']:,} cached answers went stale")
