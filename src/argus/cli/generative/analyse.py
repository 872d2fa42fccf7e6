"""`argus generative analyse`: why the passages that were wanted did not come first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.cli.model_options import LanguageModel
from argus.cli.remedy import print_estimate
from argus.data.fields import FieldNames
from argus.errors import ArgusError, InputError
from argus.generative.failures.jobs.settings import FailureConfig, Workers
from argus.settings import Doc, Option

if TYPE_CHECKING:
    from argus.generative.failures.summary import FailureSummary, SystemSummary
    from argus.generative.failures.tables.records import Value

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
    corpus: Annotated[Path | None, Doc("Texts of the passages of a run.")] = None,
    measure: Annotated[FailureConfig, Without("workers")],
    threshold: Annotated[
        list[str] | None,
        Doc("Of a mode, ID=VALUE (docs/failures.md lists them); may be repeated."),
    ] = None,
    device: Annotated[
        str | None,
        Doc("cpu, cuda, ...; default: a GPU when there is one."),
        Option(panel="Replay"),
    ] = None,
    judge: Judge,
    estimate: Annotated[
        bool,
        Doc("Only say what --llm would be asked and what it would cost."),
        Option(panel="Language model"),
    ] = False,
    columns: FieldNames,
    workers: Workers = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Say of every question why its passage did not come first.

    Writes failures.parquet (one row of figures per question), failure_diagnosis.parquet (the modes
    of failure that hold for it, with evidence), failure_tables/ (CSV), summary.json, manifest.json
    and report.html. What every figure is: docs/failures.md. A file that breaks off is analysed up
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
    o.show(result, print_summary, as_json=json)
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


def print_summary(summary: FailureSummary) -> None:
    """Print how each system fared, and the modes that tell its failures apart."""
    for system in summary["systems"]:
        _print_system(system, summary["k"])
    compared = summary["comparison"]
    if compared:
        names = [system["name"] for system in summary["systems"]]
        typer.echo(f"{names[1]} against {names[0]}, on {compared['questions']:,} questions of both")
        for row in compared["rows"]:
            told = dict(zip(compared["columns"], row, strict=True))
            if told["figure"] in HITS:
                typer.echo(f"  {_difference(told, summary['k'])}")
    if summary["judge"]:
        for name, counts in summary["judge"]["systems"].items():
            said = counts["questions"]
            typer.echo(
                f"verdicts on {name}: {said['YES']:,} YES, {said['PARTIAL']:,} PARTIAL, "
                f"{said['NO']:,} NO, {said['failed']:,} failed"
            )
    for need in summary["needs"]:
        typer.echo(need)


def _print_system(system: SystemSummary, k: int) -> None:
    asked = system["questions"]
    typer.echo(f"{system['name']}: {asked['total']:,} questions, {asked['judged']:,} judged")
    if asked["judged"]:
        hits = (asked["found"] + asked["late"]) / asked["judged"]
        typer.echo(
            f"  {asked['found']:,} found first, {asked['late']:,} more among the first {k} "
            f"(hits@{k} {hits:.1%}), {asked['failed']:,} failed"
        )
    shown = [mode for mode in system["modes"] if mode["among_failed"]][:SHOWN_MODES]
    for mode in shown:
        held = _share(mode["among_failed"], mode["measured_failed"], "failed")
        if mode["among_found"] is not None:
            held += f", {_share(mode['among_found'], mode['measured_found'], 'found')}"
        typer.echo(f"  {held:<36} {mode['name']}")
    for problem in system["problems"]:
        typer.echo(f"  {problem['count']:,} {problem['what']} ({problem['first']})")


def _share(share: float | None, of: int, what: str) -> str:
    return f"{round((share or 0.0) * of):,} of {of:,} {what}"


def _difference(told: dict[str, Value], k: int) -> str:
    between = "" if told["low"] is None else f" ({told['low']:+.3f} to {told['high']:+.3f})"
    name = {"hit_1": "hits@1", "hit_k": f"hits@{k}"}[str(told["figure"])]
    return f"{name} {told['first']:.3f}, {told['second']:.3f}: {told['difference']:+.3f}{between}"
