"""Judged questions before and after `argus remedy expand`, six collections, MiniLM.

The default probe and τ=0.3 unless the row says otherwise; interval and test are paired over the
queries. Reference knowledge bases are the wiki2 corpus and the paragraphs of fb15k237, never the
collection itself, its queries or its gold. Settings were chosen on hotpot100 and wiki2.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.data.artifacts import ArtifactFolder
from argus.data.beir import write_jsonl
from argus.errors import ArgusError
from argus.remedies.diagnose import TAU
from argus.remedies.expand import PRESETS
from argus.workflows.expand import expand_index
from argus.workflows.index import build_index
from argus.workflows.reference import CAPITALS, GAZETTEER, ReferenceConfig
from argus.workflows.remedy import rollback
from benchmarks.shared import collection

EVERY = 1.0
"""τ of a repair that is not targeted: every entity that the probe can score."""
WIKI2, FB = "wiki2", "fb15k237"


@dataclass(frozen=True)
class Trial:
    """One collection, its knowledge bases and the finder of mentions."""

    name: str
    kb: tuple[str, ...] = (WIKI2, FB)
    mentions: str = GAZETTEER


TRIALS = (
    Trial("hotpot100"),
    Trial("wiki2", kb=(FB,)),
    Trial("theoremqa_theorems"),
    Trial("theoremqa_theorems", mentions=CAPITALS),
    Trial("cranfield"),
    Trial("cranfield", mentions=CAPITALS),
    Trial("impliret_wknow_multi"),
    Trial("impliret_wknow_multi", mentions=CAPITALS),
)
REPAIRS = (("robust", TAU), ("paper", TAU), ("robust", EVERY))


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home:
        indexes: dict[str, Path] = {}
        rows = []
        for trial in TRIALS:
            if trial.name not in indexes:
                indexes[trial.name] = Path(home) / trial.name
                build_index(collection(trial.name), out=indexes[trial.name])
            for preset, tau in REPAIRS:
                rows.append(_row(trial, indexes[trial.name], preset, tau, Path(home)))
                print(json.dumps(rows[-1]), flush=True)
    return {"rows": rows}


def _row(trial: Trial, index: Path, preset: str, tau: float, home: Path) -> dict[str, Any]:
    name = {"collection": trial.name, "kb": "+".join(trial.kb), "mentions": trial.mentions}
    name |= {"preset": preset, "tau": tau}
    kb = tuple(collection(n) if n == WIKI2 else fb_passages(home) for n in trial.kb)
    try:
        result = expand_index(
            index,
            reference=ReferenceConfig(kb=kb, mentions=trial.mentions),
            config=PRESETS[preset],
            tau=tau,
            queries=collection(trial.name),
            qrels=collection(trial.name) / "qrels" / "test.tsv",
            corpus=collection(trial.name),
        )
    except ArgusError as error:
        return name | {"refused": str(error)}
    rollback(index, result.remedy)
    found = ArtifactFolder(result.folder).read_json("summary.json")
    evaluation, repaired = found["evaluation"], result.summary["of_repaired"]
    difference = evaluation["comparison"]["nDCG@10"]
    chosen = ("mean_before", "mean_after", "mean_difference", "low", "high", "p_value")
    entities = found["diagnosis"]["entities"]
    return name | {
        "entities": entities["total"],
        "abstained": entities["not applicable"],
        "flagged": found["diagnosis"]["flagged"],
        **{n: result.summary["counts"][n] for n in ("documents_repaired", "documents", "views")},
        "queries": difference["queries"],
        "implicit": evaluation["implicitness"]["share"],
        **{n: difference[n] and round(difference[n], 4) for n in chosen},
        **{n: difference[n] for n in ("improved", "harmed")},
        "risk_queries": {n: repaired.get(n) for n in ("found_before", "found_after", "lost")},
        "neighbours_fallen": result.summary["neighbours_fallen"],
        "predicted_rps": result.summary["rps"],
    }


def fb_passages(home: Path) -> Path:
    """Write the paragraphs of fb15k237 as a knowledge base; return its path."""
    path = home / "fb15k237.jsonl"
    if not path.exists():
        with (collection(FB) / "entities.jsonl").open(encoding="utf-8") as lines:
            entities = [json.loads(line) for line in lines]
        passages = [
            {
                "id": e["id"],
                "title": e["label"],
                "text": e.get("paragraph_long") or e["paragraph"],
                "description": e.get("wikidata_description") or "",
            }
            for e in entities
            if e["paragraph"]
        ]
        write_jsonl(path, passages)
    return path
