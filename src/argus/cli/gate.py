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
    against: Annotated[
        Path | None,
        Doc("Baseline: a folder of results or a run of its history; fails on what is worse."),
    ] = None,
    junit: Annotated[
        Path | None, Doc("Write a JUnit report here."), o.Output(marks=("<testsuite",))
    ] = None,
    markdown: Annotated[
        Path | None,
        Doc("Write a summary here, for a step or a pull request; - prints it."),
        o.Output(marks=("**Argus gate: ",)),
    ] = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Check results against bounds: exit 0 pass, 1 fail, 2 could not measure.

    A check passes only on a measurement: what failed counts as its worst value. A failed check
    decides (1); else one that could not be measured does (2). No check at all is 2.
    --against compares every figure with an earlier run by a paired test over the same documents
    and questions, corrected for their number.
    """
    from argus.evaluation.gate.job import gate as run

    result = run(folders, bounds, baseline=against)
    if junit is not None:
        _write(junit, result.junit())
    printed = markdown is not None and str(markdown) == "-"
    if markdown is not None and not printed:
        _write(markdown, result.markdown())
    if json:
        o.print_json(
            {
                "verdict": result.verdict,
                "outcomes": [asdict(outcome) for outcome in result.outcomes],
            }
        )
    elif printed:
        typer.echo(result.markdown(), nl=False)
    else:
        o.print_lines(result.headline())
    raise typer.Exit(result.exit_code)


def _write(path: Path, text: str) -> None:
    from argus.data.artifacts import write_whole

    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
