"""`argus traffic`: a log of real questions, their results, and how often these fail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import output
from argus.cli.groups import Group, example
from argus.cli.model_options import AnyModel
from argus.cli.signatures import with_blocks
from argus.corpora import NamedCorpus
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.jobs import options as o
from argus.retrievers.config import AskingConfig, NamedRetriever
from argus.settings import (
    CORPUS,
    Option,
    Without,
)
from argus.traffic.config import JudgingConfig, LogConfig, TrafficConfig

app = Group("What people really ask, and how often it fails.", first="audit")


@app.command()
@example("argus traffic audit log.jsonl --corpus docs.jsonl --out traffic/")
@with_blocks
def audit(
    *,
    log: Annotated[
        Path,
        typer.Argument(
            help="Log, or folder of logs: JSONL, CSV, spans (OpenInference, OpenTelemetry), "
            "OpenSearch UBI, Ragas, DeepEval."
        ),
    ],
    out: o.Out = o.OUT,
    measure: TrafficConfig,
    reading: LogConfig,
    retriever: NamedRetriever = None,
    asking: AskingConfig,
    corpus: Annotated[NamedCorpus | None, CORPUS] = None,
    encoder: EncoderConfig,
    columns: FieldNames,
    limit: o.Limit = None,
    dry_run: Annotated[bool, Option(("--dry-run",))] = False,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Tell what people really ask, what came for it, and what nobody meets; no judgements needed.

    It shows first how it reads three questions of the log, field by field. What came is taken from
    the log, or from --retriever; without one nothing is asked.
    Mails, numbers of telephones, cards and accounts, and tokens are replaced before anything is
    kept. Writes questions.parquet, documents, unmet and over_time (.parquet and .csv), with --by
    traffic_slices, summary.json, manifest.json and report.html.

    Args:
        corpus: Tells who serves nobody, and what it has for questions that nobody meets.
        dry_run: Show how the first questions are read, and stop.
    """
    from argus.traffic.job import audit_traffic
    from argus.traffic.reading import read_traffic

    read = read_traffic(log, reading).preview()
    if dry_run:
        return output.print_lines(read)
    for line in read:
        output.say(line, to_stderr=True)
    result = audit_traffic(
        log, out=out, config=measure, reading=reading, corpus=corpus, fields=columns, limit=limit,
        retriever=retriever, asking=asking, encoder=encoder, fresh=fresh,
    )  # fmt: skip
    output.show(result, as_json=json)


@app.command()
@example("argus traffic judge queries.jsonl --run run.trec --corpus docs.jsonl --out judged/")
@with_blocks
def judge(
    *,
    traffic: Annotated[
        Path,
        typer.Argument(help="Folder of argus traffic, or a table of questions and what came back."),
    ],
    corpus: o.Corpus,
    out: o.Out = o.OUT,
    run: Path | None = None,
    config: JudgingConfig,
    answers: Annotated[list[Path] | None, Option()] = None,
    model: Annotated[AnyModel, Without("budget")],
    fields: FieldNames,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Estimate failure rate, hits@k and nDCG@k of a log from few judgements, with intervals.

    The first run draws questions at random and writes OUT/to_judge.tsv. Fill in its grades
    and run the same command again; or name a --model, which grades what people left open, in
    columns of its own (model_grade, model_name). A larger --budget goes on. From 30 judged
    questions on, the order by risk becomes a probability of each question. Writes judging.parquet
    and .csv, summary.json, manifest.json and report.html.

    Args:
        run: What came back, where the table does not say: TREC or JSON.
        answers: Filled copies of the table, one per person; default: OUT/to_judge.tsv.
    """
    from argus.traffic.judging import judge_traffic

    result = judge_traffic(
        traffic, corpus=corpus, out=out, run=run, config=config, answers=answers or (),
        model=model, fields=fields, fresh=fresh,
    )  # fmt: skip
    output.show(result, as_json=json)
