"""`argus generative analyse`: why the passages that were wanted did not come first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LanguageModel
from argus.cli.remedy import print_estimate
from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import FieldNames
from argus.errors import ArgusError, InputError
from argus.generative.failures.jobs.settings import FailureConfig, Workers
from argus.settings import Doc, Option

SHOWN_MODES = 5
HITS = ("hit_1", "hit_k")


class Judge(LanguageModel):
    """Options that say who judges unannotated passages."""

    MODEL = replace(
        LanguageModel.MODEL,
        text="Judges passages that hold an answer but are not annotated: a model of an "
        "OpenAI-compatible endpoint, or local:FOLDER.",
        option=Option(("--llm",), panel="Language model"),
    )


@example(
    "argus generative analyse run.trec --corpus docs.jsonl --queries queries.jsonl "
    "--qrels qrels.tsv"
)
@with_blocks
def analyse(
    outputs: Annotated[
        list[Path],
        typer.Argument(
            help="Of one or two systems: DPR JSON with keys, a folder of argus generative search, "
            "KILT JSONL, or a run (with --corpus and --queries).",
            metavar="OUTPUT [OUTPUT2]",
            show_default=False,
        ),
    ],
    *,
    out: o.Out = Path("argus-out"),
    qrels: Annotated[
        Path | None,
        Doc("Judgements, in place of positive_ctxs of the outputs."),
    ] = None,
    queries: Annotated[
        Path | None,
        Doc("Questions of a run; ids of questions without; answers, before outputs' own."),
    ] = None,
    corpus: Annotated[
        NamedCorpus | None, Doc("Texts of the passages of a run."), CorpusName()
    ] = None,
    measure: Annotated[FailureConfig, Without("workers")],
    threshold: Annotated[
        list[str] | None,
        Doc("Of a mode, ID=VALUE (docs/failures.md lists them); may be repeated."),
    ] = None,
    device: Annotated[o.Device, Option(panel="Replay")] = None,
    judge: Judge,
    estimate: Annotated[
        bool,
        Doc("Only say what --llm would be asked and what it would cost."),
        Option(panel="Language model"),
        o.ALONE,
    ] = False,
    columns: Annotated[FieldNames, Without("template")],
    workers: Workers = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Say of every question why its passage did not come first.

    Writes failures.parquet (one row of figures per question), failure_diagnosis.parquet (the modes
    of failure that hold for it, with evidence), failure_tables/ (CSV), summary.json, manifest.json
    and report.html. What every figure is: docs/autopsy.md. A file that breaks off is analysed up
    to there; the exit code is then 2.
    """
    from argus.generative.failures.jobs.analyse import analyse_failures, estimate_verdicts

    whole = replace(
        measure, llm=judge.config(), thresholds=_thresholds(threshold or []), workers=workers
    )
    if estimate:
        prompts = estimate_verdicts(
            outputs, config=whole, out=out, corpus=corpus, queries=queries, qrels=qrels,
            fields=columns,
        )  # fmt: skip
        print_estimate(prompts, json)
        return
    result = analyse_failures(
        outputs, config=whole, out=out, corpus=corpus, queries=queries, qrels=qrels,
        fields=columns, device=device, fresh=fresh,
    )  # fmt: skip
    o.show(result, as_json=json)
    if result.incomplete:
        raise ArgusError(
            f"the report lacks something: {'; '.join(result.incomplete)}. What could be had is "
            "analysed; mend that and run the same command again."
        )


def _thresholds(texts: list[str]) -> dict[str, float]:
    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            values[name.strip()] = float(value)
        except ValueError as error:
            raise InputError(
                f"{text!r}",
                expected="ID=VALUE, for example dominance=0.6",
                fix="The ids are in docs/failures.md and in the report.",
                where="--threshold",
            ) from error
    return values
