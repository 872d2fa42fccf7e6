"""Judged questions before and after repair, five collections and the demo's questions, MiniLM.

The default probe and τ=0.3 unless the row says otherwise; interval and test are paired over the
queries. Reference knowledge bases are the wiki2 corpus and the paragraphs of fb15k237, never the
collection itself, its queries or its gold. The demo's is the rest of the docstrings of which its
corpus holds the beginning; its probe is fitted on its own audit. Settings were chosen on
hotpot100, the cap of one view also on wiki2.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.data.folders import ArtifactFolder
from argus.data.writing import write_jsonl
from argus.demo.job import full_demo
from argus.errors import ArgusError
from argus.indexes.job import build_index
from argus.remedies.config import TAU, ExpandConfig, ReferenceConfig
from argus.remedies.expansion import expand_index
from argus.remedies.synthesis import synthesize_index
from argus.remedies.undo import rollback
from argus.retrievability.probes.fit import HOME as PROBE
from argus.retrievability.rps import HIGH
from benchmarks.shared import collection

# τ of a repair that is not targeted: every entity that the probe can score.
EVERY = 1.0
WIKI2, FB = "wiki2", "fb15k237"


@dataclass(frozen=True)
class Trial:
    """One collection and its knowledge bases, whose names are also what is looked for."""

    name: str
    kb: tuple[str, ...] = (WIKI2, FB)


TRIALS = (
    Trial("hotpot100"),
    Trial("wiki2", kb=(FB,)),
    Trial("theoremqa_theorems"),
    Trial("cranfield"),
    Trial("impliret_wknow_multi"),
)
DESCRIPTIONS = "descriptions"
REPAIRS = (("robust", TAU), ("paper", TAU), (DESCRIPTIONS, TAU), ("robust", EVERY))
CHOSEN_ON = {"hotpot100"}
DEMO_TAUS = (TAU, 0.5, HIGH, EVERY)


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home:
        rows = [*_demo(Path(home) / "demo")]
        indexes: dict[str, Path] = {}
        for trial in TRIALS:
            if trial.name not in indexes:
                indexes[trial.name] = Path(home) / trial.name
                build_index(collection(trial.name), out=indexes[trial.name])
            kb = tuple(collection(n) if n == WIKI2 else fb_passages(Path(home)) for n in trial.kb)
            reference = ReferenceConfig(kb=kb)
            name = {"collection": trial.name, "kb": "+".join(trial.kb)}
            for repair, tau in REPAIRS if trial.name in CHOSEN_ON else REPAIRS[:-1]:
                row = _row(indexes[trial.name], collection(trial.name), reference, repair, tau)
                rows.append(name | row)
                print(json.dumps(rows[-1]), flush=True)
    return {"rows": rows}


def _demo(folder: Path) -> Iterator[dict[str, Any]]:
    """Repair the demo's corpus at several thresholds; it comes with a repair, which is undone."""
    rollback(folder, full_demo(out=folder).summary["remedy"]["remedy"])
    reference = ReferenceConfig(kb=(folder / "corpus" / "kb.jsonl",))
    repairs = [*(("robust", tau) for tau in DEMO_TAUS), ("paper", HIGH), (DESCRIPTIONS, HIGH)]
    for repair, tau in repairs:
        row = _row(folder, folder / "corpus", reference, repair, tau, probe=folder / PROBE)
        yield {"collection": "demo", "kb": "docstrings"} | row
        print(json.dumps(row), flush=True)


def _row(
    index: Path,
    judged: Path,
    reference: ReferenceConfig,
    repair: str,
    tau: float,
    probe: Path | None = None,
) -> dict[str, Any]:
    """Repair an index, evaluate, undo."""
    name = {"repair": repair, "tau": tau}
    questions = {"queries": judged, "qrels": judged / "qrels" / "test.tsv", "corpus": judged}
    given = {"reference": reference, "tau": tau, "probe": probe, **questions}
    try:
        if repair == DESCRIPTIONS:
            result = synthesize_index(index, **given)
        else:
            result = expand_index(index, config=ExpandConfig.from_options(repair), **given)
    except ArgusError as error:
        return name | {"refused": str(error).replace(str(index), index.name)}
    rollback(index, result.remedy)
    diagnosis = ArtifactFolder(result.folder).read_json("summary.json")["diagnosis"]
    assert result.evaluation is not None
    difference, repaired = (
        result.evaluation["comparison"]["nDCG@10"],
        result.summary["of_repaired"],
    )
    chosen = ("mean_before", "mean_after", "mean_difference", "low", "high", "p_value")
    return name | {
        "entities": diagnosis["entities"]["total"],
        "abstained": diagnosis["entities"]["not applicable"],
        "flagged": diagnosis["flagged"],
        **{n: result.summary["counts"][n] for n in ("documents_repaired", "documents", "views")},
        "queries": difference["queries"],
        "implicit": result.evaluation["implicitness"]["share"],
        **{n: difference[n] and round(difference[n], 4) for n in chosen},
        **{n: difference[n] for n in ("improved", "harmed")},
        "risk_queries": {n: repaired.get(n) for n in ("found_before", "found_after", "lost")},
        "neighbours_fallen": result.summary["neighbours_fallen"],
    }


def fb_passages(home: Path) -> Path:
    """Write the paragraphs of fb15k237 as a knowledge base; return its path."""
    path = home / "fb15k237.jsonl"
    if not path.exists():
        with (collection(FB) / "entities.jsonl").open(encoding="utf-8") as lines:
            entities = [json.loads(line) for line in lines]
        passages = [
            {"id": e["id"], "title": e["label"], "text": e.get("paragraph_long") or e["paragraph"],
             "description": e.get("wikidata_description") or ""}
            for e in entities if e["paragraph"]
        ]  # fmt: skip
        write_jsonl(path, passages)
    return path
