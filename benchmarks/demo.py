"""The whole demo, and whether what the results say of it still holds.

`make test` runs the demo on its first 150 entities; this one runs all of it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from argus.demo.job import full_demo


def run() -> dict[str, Any]:
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        result = full_demo(out=Path(folder) / "argus-demo")
        lines = [line.replace(f"{folder}/", "") for line in result.headline()]
    claims = _claims(result.summary)
    return {
        "processor_s": round(time.process_time() - start, 1),
        "headline": lines,
        "claims": claims,
        "failed": [claim for claim, holds in claims.items() if not holds],
    }


def _claims(sections: Mapping[str, Any]) -> dict[str, bool]:
    titles = sections["exposure"]["title"]
    entities, superseded = sections["audit"]["entities"], sections["authority"]["documents"]
    implicitness = sections["evaluation"]["implicitness"]
    groups = {g["name"]: g["measures"][0]["nDCG@10"] for g in implicitness["groups"]}
    receipt, change = sections["remedy"], sections["evaluation"]["comparison"]["nDCG@10"]
    claims = {
        "at least 3,000 entities, none failed": entities["measured"] >= 3000
        and entities["failed"] == 0,
        "titles find nine documents in ten": (titles["success_at_k"] or 0) > 0.9,
        "questions that share no word fare worse": groups["implicit"] < groups["sharing"],
        "superseded documents are measured": superseded["superseded"] >= 8
        and superseded["failed"] == 0,
        "the probe predicts held-out entities": sections["probe"]["table"][-1]["test"]["pearson"]
        > 0.3,
        "more entities are recovered than lost": receipt["of_repaired"]["recovered"]
        > receipt["of_repaired"]["lost"],
        "the repair helps judged questions": change["low"] > 0
        and change["improved"] > change["harmed"],
    }
    return claims | _scenario_claims(sections["ablation"])


def _scenario_claims(ablation: Any) -> dict[str, bool]:
    rows = {(row["system"], row.get("lambda")): row for row in ablation["whole"]["rows"]}
    usual, placebo = rows["scenarios", 0.7]["comparison"], rows["placebo", 0.7]["comparison"]
    helps = usual["low"] > 0 and usual["relative"] > 0.06
    return {
        "scenarios help by more than 6%": helps,
        "those of another document do harm": placebo["high"] < 0,
    }
