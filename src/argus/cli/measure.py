"""`argus evaluate`, `gate`, `history` and `report`: measure a system, and hold it to bounds."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import job, with_blocks
from argus.cli.groups import example
from argus.corpora import NamedCorpus
from argus.data.fields import FieldNames
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.gate import GateBounds
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.settings import Doc, Option


@job(
    "argus.evaluation.job:evaluate",
    "argus evaluate --queries queries.jsonl --qrels qrels.tsv --index index/ --out judged/",
)
def evaluate(
    *,
    queries: o.Queries,
    qrels: o.Qrels,
    out: o.Out = o.OUT,
    indexes: Annotated[
        list[str] | None,
        Doc("PATH, PATH@original or PATH@REMEDY; once or twice."),
        Option(("--index",)),
        o.INDEX,
    ] = None,
    runs: Annotated[
        list[Path] | None,
        Doc("TREC run file (.gz too) or JSON; counts after --index."),
        Option(("--run",)),
    ] = None,
    retrievers: Annotated[
        list[str] | None,
        Doc(f"{NAMES}; counts after --index, before --run."),
        Option(("--retriever",), panel=RETRIEVER),
    ] = None,
    asking: AskingConfig,
    corpus: Annotated[
        NamedCorpus | None,
        Doc("Where titles and texts come from; runs need it for both."),
        o.CORPUS,
    ] = None,
    fields: FieldNames,
    excluded: o.Excluded = None,
    diagnosis: Annotated[
        Path | None,
        Doc("Folder with diagnosis.parquet, for ARGUS Table 4."),
    ] = None,
    encoder: Annotated[
        str | None,
        Doc("For an index that does not name its own, and for the queries of a store."),
    ] = None,
    hybrid: o.Hybrid = None,
    weights: o.Weights = None,
    exact: Annotated[
        bool | None,
        Doc("Default: as the index is served, approximately where it was built with --ann."),
        Option(("--exact/--approximate",), default=""),
    ] = None,
    config: EvaluateConfig,
    fresh: o.Fresh = False,
) -> None:
    """Measure an index or a run on judged queries; with two, the second against the first.

    Writes per_query.parquet and .csv, summary.json, manifest.json and report.html. With two
    systems: paired randomisation test, bootstrap intervals, and the queries that were harmed.
    """


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
) -> None:
    """Check results against bounds: exit 0 pass, 1 fail, 2 could not measure.

    A check passes only on a measurement: what failed counts as its worst value. A failed check
    decides (1); else one that could not be measured does (2). No check at all is 2.
    --against compares every figure with an earlier run by a paired test over the same documents
    and questions, corrected for their number.
    """
    from argus.data.writing import write_whole
    from argus.evaluation.gate import gate as run

    result = run(folders, bounds, baseline=against)
    printed = str(markdown) == "-"
    texts = {junit: result.junit, None if printed else markdown: result.markdown}
    for path, text in texts.items():
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text())
    if json:
        outcomes = [asdict(outcome) for outcome in result.outcomes]
        o.print_json({"verdict": result.verdict, "outcomes": outcomes})
    elif printed:
        typer.echo(result.markdown(), nl=False)
    else:
        o.print_lines(result.headline())
    raise typer.Exit(result.exit_code)


@job("argus.evaluation.history:history", "argus history report/")
def history(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of results, or of runs (OUT/history).")
    ],
    job: Annotated[str | None, Doc("Runs of this job alone, such as exposure.")] = None,
    before: Annotated[
        int | None, Doc("Number of the run to compare; default: last but one.")
    ] = None,
    after: Annotated[int | None, Doc("Number of the run that it is compared with.")] = None,
) -> None:
    """List the runs of a folder, and say what changed between two of each job.

    Every job records its run in OUT/history: a value per document, entity or question. A change is
    told by a paired test over the items that both runs have, and by name where it is greatest.
    """


@example("argus report report/")
@with_blocks
def report(
    folder: Annotated[
        Path, typer.Argument(help="Folder that audit, exposure or demo wrote."), o.OUTPUT
    ],
) -> None:
    """Write FOLDER/report.html from the results in FOLDER."""
    from argus.data.folders import check_one_run
    from argus.reports import write_report

    typer.echo(f"report: {write_report(folder)}")
    check_one_run(folder)  # the page is without a job that is not whole: that is no success
