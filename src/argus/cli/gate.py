"""`argus gate`: pass, fail or not measured, for a pipeline."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.evaluation.gate.config import GateBounds
from argus.settings import Doc


@example("argus gate report/ --max-low-rps-share 0.5")
@with_blocks
def gate(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Folders that audit, diagnose, exposure, evaluate or reach wrote."),
    ],
    bounds: GateBounds,
    markdown: Annotated[bool, Doc("Print a summary for a pull request.")] = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Check results against bounds: exit 0 pass, 1 fail, 2 could not measure.

    A check passes only on a measurement: what failed counts as its worst value. A failed check
    decides (1); else one that could not be measured does (2). No check at all is 2.
    """
    from argus.evaluation.gate.job import gate as run

    result = run(folders, bounds)
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
        o.print_lines(result.headline())
    raise typer.Exit(result.exit_code)
