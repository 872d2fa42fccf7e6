"""`argus history`: what changed from run to run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.settings import Doc, Option


@example("argus history report/ --html trends.html")
@with_blocks
def history(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of results, or of runs (OUT/history).")
    ],
    job: Annotated[str | None, Doc("Runs of this job alone, such as exposure.")] = None,
    before: Annotated[
        int | None, Doc("Number of the run to compare; default: last but one.")
    ] = None,
    after: Annotated[int | None, Doc("Number of the run that it is compared with.")] = None,
    html: Annotated[
        Path | None,
        Doc("Write a page of trends here."),
        Option(("--html",)),
        o.Output(marks=("<title>Argus: runs</title>",)),
    ] = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """List the runs of a folder, and say what changed between two of each job.

    Every job records its run in OUT/history: a value per document, entity or question. A change is
    told by a paired test over the items that both runs have, and by name where it is greatest.
    """
    from argus.evaluation.history.job import history as run

    result = run(folders, job=job, before=before, after=after, page_at=html)
    o.show(result, as_json=json)
