"""What two stages serve, and what relevance alone serves, on real and made collections.

GHSA advisories (free-form and structured questions), SCOTUS decisions (by name and by issue),
FinSuperQA, CVEPatchQA and LegalPrecedentQA, generic and with a hint: controlling-hit@5,
TCA@5 and anchor recall with Wilson intervals, per hop type where there are hop types. On GHSA the
second stage runs by a rule (a release note supersedes the disclosure of its CVE id); the rows
called "edges" follow the pairs that are given, as on SCOTUS, where no rule could tell. Settings are
the defaults of `argus research authority score`; none was set on these collections.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.job import ScoreConfig, score_systems
from argus.authority.benchmarks.makers import HINTED, MAKERS
from argus.authority.benchmarks.systems import SYSTEMS
from argus.encoders import EncoderConfig
from benchmarks.shared import collection

K = 5
RULES = Path(__file__).with_name("ghsa.yaml")
ENCODER = EncoderConfig(precision="float32")
# Collection, questions, and whether the pipelines are given the rule.
REAL = {
    "ghsa free-form": ("authority/ghsa", "queries.jsonl", True),
    "ghsa free-form, edges": ("authority/ghsa", "queries.jsonl", False),
    "ghsa structured": ("authority/ghsa", "queries_structured.jsonl", True),
    "scotus by name": ("authority/scotus", "queries.jsonl", False),
    "scotus by issue": ("authority/scotus", "queries_issue.jsonl", False),
}


def run() -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        for name, (folder, queries, ruled) in REAL.items():
            rules = RULES if ruled else None
            result = score_systems(
                collection(folder), out=home / name.replace(" ", "-"), queries=queries, rules=rules,
                encoder=ENCODER, store=home / folder.replace("/", "-"), config=ScoreConfig(k=K),
            )  # fmt: skip
            rows += rows_of(name, result.summary)
        for name, benchmark in _made().items():
            result = score_systems(
                benchmark, out=home / name.replace(" ", "-"), encoder=ENCODER,
                config=ScoreConfig(k=K, systems=_systems(name)),
            )  # fmt: skip
            rows += rows_of(name, result.summary)
    return {"k": K, "rows": rows}


def _made() -> dict[str, Benchmark]:
    made = {"finsuperqa": MAKERS["finsuperqa"](seed=0)}
    made["finsuperqa contaminated"] = MAKERS["finsuperqa"](seed=0, contaminated=True)
    for name in HINTED:
        made[f"{name} generic"] = MAKERS[name](seed=0)
        made[f"{name} with hint"] = MAKERS[name](seed=0, hint=True)
    return made


def _systems(name: str) -> tuple[str, ...]:
    """Return all that apply to FinSuperQA; for the two others those of Table 9."""
    if name.startswith("finsuperqa"):
        return tuple(s for s in SYSTEMS if s not in ("hyde",))
    return (
        "bm25", "tfidf", "dense", "hybrid", "two-stage-bm25", "two-stage-dense",
        "two-stage-hybrid", "oracle",
    )  # fmt: skip


def rows_of(name: str, summary: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for system in summary["systems"]:
        overall = {k: short(v) for k, v in system["overall"].items() if v is not None}
        hops = {hop: short(found["tca"]) for hop, found in system["hops"].items()}
        depths = {d: short(found) for d, found in system["anchor_recall_at"].items()}
        row: dict[str, Any] = {"benchmark": name, "system": system["name"]} | overall
        row |= {"tca_by_hop": hops} if hops else {}
        row |= {"anchor_recall_at": depths} if depths else {}
        if system["factors"]:
            factors = system["factors"]
            row["factors"] = {
                key: round(factors[key]["value"], 4) if factors[key] else None
                for key in ("anchor", "chain", "frontier")
            } | {"tca_without": round(factors["tca_without"], 4)}
        rows.append(row)
        print(name, system["name"], overall["tca"], overall["controlling_hit"], flush=True)
    return rows


def short(share: dict[str, Any] | None) -> list[float] | None:
    """Return value, low and high end of an interval, rounded."""
    return None if share is None else [round(share[key], 4) for key in ("value", "low", "high")]
