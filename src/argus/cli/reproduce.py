"""`argus reproduce`: a table of a paper, measured beside published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LanguageModel
from argus.settings import Doc
from argus.suite.recipes.config import ReproduceConfig


@example("argus reproduce car-9 --out reproduced/")
@with_blocks
def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="A recipe, such as car-9; without it all are listed.")
    ] = None,
    *,
    data: Annotated[
        Path | None, Doc("Folder of data sets; default: $ARGUS_SHARED/data, else shared/data.")
    ] = None,
    measure: ReproduceConfig,
    model: LanguageModel,
    out: o.Out = Path("argus-out"),
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Measure a published table as far as models and data are here, beside what was published.

    Recipes are the tables of four papers (ARGUS, SPIKE, the thesis on SEAL and MINDER, CAR), and
    the figures of ARGUS. A cell that cannot be measured here has its reason. Nothing is
    downloaded, and no language model is asked but the one of --model. Without a name all recipes
    are listed, with how many of their cells are measured here, of how many more only a run can
    tell, and how long their last run into --out took.
    """
    from argus.suite.recipes.job import recipes
    from argus.suite.recipes.job import reproduce as run
    from argus.suite.recipes.summary import listed_lines

    if name is not None:
        o.show(
            run(name, out=out, data=data, config=measure, model=model.config(), fresh=fresh),
            as_json=json,
        )
        return
    listed = recipes(data, out, model.config())
    if json:
        o.print_json(listed)
        return
    o.print_lines(listed_lines(listed))
