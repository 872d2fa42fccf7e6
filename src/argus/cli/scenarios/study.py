"""`argus scenarios study` and `preferences`: what people prefer, with and without scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import CoerceIds
from argus.scenarios.study.config import PreferenceConfig, StudyConfig
from argus.settings import Doc, Option


@example("argus scenarios study --index index/ --queries queries.jsonl --out study/")
@with_blocks
def study(
    *,
    index: o.IndexState,
    queries: o.Queries,
    out: o.Out = Path("argus-out"),
    measure: StudyConfig,
    coerce_ids: Annotated[CoerceIds, Option()] = False,
    encoder: o.IndexEncoder = None,
    device: o.Device = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Write sheets on which people compare results with scenarios and without (SPIKE §4.3).

    Each person gets OUT/sheets/sheet-N: a page for a browser, and the same as a table. Neither says
    which side has what; OUT/key.jsonl does, and stays with you. Four criteria: specificity,
    comprehensibility, usefulness, overall. argus scenarios preferences reads what comes back.
    """
    from argus.scenarios.study.job import make_study

    result = make_study(
        index, queries, out=out, config=measure, encoder=encoder, device=device,
        coerce_ids=coerce_ids, fresh=fresh,
    )  # fmt: skip
    then = o.command("scenarios", "preferences", "--study", out, "--answers", "FILLED")
    o.show(result, as_json=json, then=f"Next: {then}")


@example("argus scenarios preferences --study study/ --answers filled/")
@with_blocks
def preferences(
    *,
    study: Annotated[Path, Doc("Folder of argus scenarios study, with its key.")],
    answers: Annotated[
        list[Path], Doc("Filled sheets, or a folder of them; may be given again."), Option()
    ],
    out: Annotated[
        Path | None,
        Doc("Folder for the results; default STUDY/preferences."),
        o.Output(lambda options: Path(options["study"]) / "preferences"),
    ] = None,
    measure: PreferenceConfig,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Tell what the people of a study prefer, and how far they agree.

    Per comparison and criterion: the share that prefers scenarios with its interval, and Fleiss',
    Cohen's and Krippendorff's measures of agreement. Writes preferences and preference_answers
    (.parquet and .csv), summary.json, manifest.json and report.html.
    """
    from argus.scenarios.study.reading import read_preferences

    result = read_preferences(study, answers, out=out, config=measure, fresh=fresh)
    o.show(result, as_json=json)
