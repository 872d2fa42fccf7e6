"""`argus report`: render the HTML report of a folder of results again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.cli.outputs import OUTPUT


@example("argus report report/")
@with_blocks
def report(
    folder: Annotated[
        Path, typer.Argument(help="Folder that audit, exposure or demo wrote."), OUTPUT
    ],
) -> None:
    """Write FOLDER/report.html from the results in FOLDER."""
    from argus.data.manifest import check_one_run
    from argus.reports import write_report

    typer.echo(f"report: {write_report(folder)}")
    check_one_run(folder)  # the page is without a job that is not whole: that is no success
