"""`argus authority harm`: what stale context does to a language model's answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.authority.benchmarks.config import NamedBenchmark, OtherQueries
from argus.authority.harm.config import HarmSettings
from argus.cli import options as o
from argus.cli.authority_score import NONE
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LanguageModel
from argus.cli.scenarios.qa import Judge
from argus.encoders.config import DEFAULT_MODEL
from argus.errors import InputError
from argus.settings import Doc
from argus.tasks.released import benchmark_of


@example(
    "argus authority harm --benchmark cvepatchqa --model NAME --base-url http://127.0.0.1:8000/v1 "
    "--first 4"
)
@with_blocks
def harm(
    *,
    benchmark: NamedBenchmark,
    model: LanguageModel,
    judge: Judge,
    measure: HarmSettings,
    queries: OtherQueries = None,
    encoder: Annotated[str | None, Doc("Of dense systems; default: all-MiniLM-L6-v2.")] = None,
    out: o.Out = Path("argus-out"),
    store: o.Store = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Answer questions from superseded and from controlling documents, and judge the answers.

    Each answer is correct, confidently wrong or uncertain (CAR, Table 12). --system also answers
    from what a system of argus authority score serves. Answers are kept in OUT/answers.sqlite: a
    run that was stopped goes on, and nothing is paid for twice. Writes authority_harm.parquet and
    .csv, summary.json, manifest.json and report.html.
    """
    from argus.authority.harm.job import measure_harm

    answering = model.config()
    if answering is None:
        raise InputError(
            "no --model",
            expected="the model that answers",
            fix="Name one of an OpenAI-compatible endpoint, or local:FOLDER.",
            where="--model",
        )
    result = measure_harm(
        benchmark_of(benchmark),
        config=measure.by(answering, judge.config(model)),
        out=out,
        queries=queries,
        encoder=None if encoder == NONE else encoder or DEFAULT_MODEL,
        store=store,
        fresh=fresh,
    )
    o.show(result, as_json=json)
