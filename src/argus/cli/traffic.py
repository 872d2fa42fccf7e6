"""`argus traffic`: a log of real questions, their results, and how often these fail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import output
from argus.cli.groups import Entry, Group, example
from argus.cli.signatures import with_blocks
from argus.corpora import NamedCorpus
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.jobs import options as o
from argus.retrievers.config import AskingConfig, NamedRetriever
from argus.settings import (
    CORPUS,
    Option,
)
from argus.traffic.config import LogConfig, TrafficConfig

app = Group(
    "What people really ask, and how often it fails.",
    first="audit",
    entries=(
        Entry("audit", "traffic:audit", "What people ask, and what came for it."),
        Entry(
            "judge", "argus.traffic.judging:judge_traffic", "How often it fails, of few grades.",
            example="argus traffic judge queries.jsonl --run run.trec --corpus docs.jsonl "
            "--out judged/",
        ),
    ),
)  # fmt: skip


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
