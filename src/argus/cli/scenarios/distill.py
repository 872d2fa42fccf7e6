"""`argus scenarios distill`: train a small model to write scenarios as a large one does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.scenarios.distill.settings import DistillConfig
from argus.settings import Doc


@example(
    "argus scenarios distill --corpus docs.jsonl --profiles profiles/ --base student/ --epochs 3"
)
@with_blocks
def distill(
    *,
    corpus: o.Corpus,
    profiles: Annotated[
        Path,
        Doc("Teacher's profiles: a file, or a folder that holds them."),
    ],
    out: o.Out = Path("argus-out"),
    training: DistillConfig,
    device: o.Device = None,
    columns: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Fine-tune a small language model with LoRA on the scenarios that a large one wrote.

    Writes OUT/adapter (with --merge, OUT/merged, too), losses.parquet, summary.json and
    manifest.json. The adapter generates with --model local:BASE --adapter OUT/adapter; a merged
    model with --model local:OUT/merged, or from any endpoint that serves it.
    """
    from argus.scenarios.distill.job import distill as run

    result = run(
        corpus, profiles=profiles, config=training, out=out, fields=columns, limit=limit,
        device=device, fresh=fresh,
    )  # fmt: skip
    o.show(result, as_json=json)
