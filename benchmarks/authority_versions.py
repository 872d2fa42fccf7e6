"""Proposals that supersede one another by their own headers: PEPs and KEPs, direct and two-stage.

40 and 11 superseded proposals, free-form and structured questions of each, the default encoder, the
edges of the headers. Told beside each system, as in `authority_quality`: controlling-hit@5, TCA@5
and anchor recall. Nothing was set on them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from argus.authority.benchmarks.job import ScoreConfig, score_systems
from argus.encoders import EncoderConfig
from benchmarks.authority_quality import K, rows_of
from benchmarks.shared import collection

ASKED = {"free-form": "queries.jsonl", "structured": "queries_structured.jsonl"}


def run() -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        for name in ("peps", "keps"):
            for kind, queries in ASKED.items():
                result = score_systems(
                    collection("authority") / name, out=home / f"{name}-{kind}", queries=queries,
                    encoder=EncoderConfig(), store=home / name, config=ScoreConfig(k=K),
                )  # fmt: skip
                rows += rows_of(f"{name} {kind}", result.summary)
    return {"k": K, "rows": rows}
