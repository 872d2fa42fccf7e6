"""An audit of twenty minutes, in this process and through Ray on the same two cores.

70,000 texts of random words, of 80 in the mean, 20 related each; MiniLM in float32. One run of
each, one after the other: what the machine's speed changes in between is in the ratio.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from argus.planning.synthetic import random_ends, random_texts
from benchmarks.engine_overhead import BAR, audited, difference

N, RELATED = 70_000, 20
TIMEOUT_S = 3_000


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _write(home)
        took = {}
        for engine in ("local", "ray"):
            took[engine] = audited(home, home / engine, engine, timeout_s=TIMEOUT_S)
            print(engine, took[engine], flush=True)
        summary = json.loads((home / "local" / "summary.json").read_text())["audit"]
        return {
            "entities": summary["entities"]["measured"],
            "pairs": summary["pairs"]["measured"],
            "seconds": {engine: round(seconds, 1) for engine, seconds in took.items()},
            "ratio": round(took["ray"] / took["local"], 3),
            "steps_s": {engine: _steps(home / engine) for engine in took},
            "largest_difference_of_rps": difference(home / "local", home / "ray"),
            "bar": BAR,
        }


def _steps(out: Path) -> dict[str, float]:
    steps: dict[str, float] = json.loads((out / "manifest.json").read_text())["audit"]["timings_s"]
    return steps


def _write(home: Path) -> None:
    with (home / "entities.jsonl").open("w", encoding="utf-8") as file:
        for i, text in enumerate(random_texts(N, vary=True)):
            title = text.partition(" ")[0]
            file.write(json.dumps({"_id": f"e{i:06}", "title": title, "text": text}) + "\n")
    rows = (f"e{s:06}\trelated\te{o:06}\n" for s, o in random_ends(N, RELATED).T.tolist())
    (home / "edges.tsv").write_text("subject\trelation\tobject\n" + "".join(rows))
