"""`argus gate`: check folders of results against bounds, or list their runs.

It prints the outcome of `argus.evaluation.gate` (or `history`), writes it as JUnit or Markdown, and
ends with exit code 0 (pass), 1 (fail) or 2 (not measured).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import output
from argus.cli.signatures import with_blocks
from argus.evaluation.gate import GateBounds
from argus.jobs import options as o
from argus.settings import Writes


@with_blocks
def gate(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Folders that audit, diagnose, exposure, evaluate or reach wrote."),
    ],
    bounds: GateBounds,
    against: Path | None = None,
    junit: Annotated[Path | None, Writes(marks=("<testsuite",))] = None,
    markdown: Annotated[Path | None, Writes(marks=("**Argus gate: ",))] = None,
    history: bool = False,
    json: o.AsJson = False,
) -> None:
    """Check results against bounds: exit 0 pass, 1 fail, 2 could not measure.

    A check passes only on a measurement: what failed counts as its worst value. A failed check
    decides (1); else one that could not be measured does (2). No check at all is 2.
    --against compares every figure with an earlier run by a paired test over the same documents
    and questions, corrected for their number. --history says what changed from run to run: every
    job records its run in OUT/history.

    Args:
        against: Baseline: a folder of results or a run of its history; fails on what is worse.
        junit: Write a JUnit report here.
        markdown: Write a summary here, for a step or a pull request; - prints it.
        history: List the runs of the folders, and what changed last; check nothing.
    """
    if history:
        from argus.evaluation.history import history as list_runs

        return output.show(list_runs(folders), as_json=json)
    from argus.data.writing import write_whole
    from argus.evaluation.gate import gate as run

    result = run(folders, bounds, baseline=against)
    printed = str(markdown) == "-"
    texts = {junit: result.junit, None if printed else markdown: result.markdown}
    for path, text in texts.items():
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text())
    if printed and not json:
        typer.echo(result.markdown(), nl=False)
    else:
        output.show(result, as_json=json)
    raise typer.Exit(result.exit_code)
