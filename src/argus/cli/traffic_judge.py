"""`argus traffic judge`: how often a log fails, from few judgements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LanguageModel
from argus.data.fields import FieldNames
from argus.settings import Doc, Option
from argus.traffic.judging.config import JudgingConfig


@example("argus traffic judge queries.jsonl --run run.trec --corpus docs.jsonl --out judged/")
@with_blocks
def judge(
    *,
    traffic: Annotated[
        Path,
        typer.Argument(help="Folder of argus traffic, or a table of questions and what came back."),
    ],
    corpus: o.Corpus,
    out: o.Out = Path("argus-out"),
    run: Annotated[
        Path | None, Doc("What came back, where the table does not say: TREC or JSON.")
    ] = None,
    measure: JudgingConfig,
    answers: Annotated[
        list[Path] | None,
        Doc("Filled copies of the table, one per person; default: OUT/to_judge.tsv."),
        Option(),
    ] = None,
    model: Annotated[LanguageModel, Without("budget")],
    columns: FieldNames,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Estimate failure rate, hits@k and nDCG@k of a log from few judgements, with intervals.

    The first run draws questions at random and writes OUT/to_judge.tsv. Fill in its grades
    and run the same command again; or name a --model, which grades what people left open, in
    columns of its own (model_grade, model_name). A larger --budget goes on. From 30 judged
    questions on, the order by risk becomes a probability of each question. Writes judging.parquet
    and .csv, summary.json, manifest.json and report.html.
    """
    from argus.traffic.judging.job import judge_traffic

    result = judge_traffic(
        traffic, corpus=corpus, out=out, run=run, config=measure, answers=answers or (),
        model=model.config(), fields=columns, fresh=fresh,
    )  # fmt: skip
    o.show(result, as_json=json)
