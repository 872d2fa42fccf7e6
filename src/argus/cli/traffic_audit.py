"""`argus traffic audit`: a log of real questions, what came for them, and what nobody meets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.retrievers.config import AskingConfig
from argus.settings import Doc, Option
from argus.traffic.config import LogConfig, TrafficConfig


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
    out: o.Out = Path("argus-out"),
    measure: TrafficConfig,
    reading: LogConfig,
    retriever: o.Retriever = None,
    asking: AskingConfig,
    corpus: o.MaybeCorpus = None,
    encoder: EncoderConfig,
    columns: FieldNames,
    limit: o.Limit = None,
    dry_run: Annotated[
        bool, Doc("Show how the first questions are read, and stop."), Option(("--dry-run",))
    ] = False,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Tell what people really ask, what came for it, and what nobody meets; no judgements needed.

    It shows first how it reads three questions of the log, field by field. What came is taken from
    the log, or from --retriever; without one nothing is asked.
    Mails, numbers of telephones, cards and accounts, and tokens are replaced before anything is
    kept. Writes questions.parquet, documents, unmet, over_time and served_by_part (.parquet and
    .csv), with --by traffic_slices, summary.json, manifest.json and report.html.
    """
    from argus.traffic.job import audit_traffic
    from argus.traffic.reading import read_traffic

    read = read_traffic(log, reading).preview()
    if dry_run:
        return o.print_lines(read)
    for line in read:
        o.say(line, to_stderr=True)
    result = audit_traffic(
        log, out=out, config=measure, reading=reading, corpus=corpus, fields=columns, limit=limit,
        retriever=retriever, asking=asking, encoder=encoder, fresh=fresh,
    )  # fmt: skip
    o.show(result, as_json=json)
