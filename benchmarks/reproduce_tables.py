"""Every table of the papers that has cells here: `research reproduce` of each beside the published.

    python -m benchmarks reproduce_tables                     # what takes little
    python -m benchmarks reproduce_tables --all               # the others, too: audits, collections
    python -m benchmarks reproduce_tables --only=car,spike-7  # whose names begin so

Every recipe is a process of its own, which is ended when it takes more processor time than its
bound. All share a folder, so the first that needs vectors, an audit or a model pays for it. What
was not run this time stays as it was, with when that was. The table of
docs/results/published-tables.md is made of what is stored.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from argus.data.provenance import utc_now
from argus.suite.reproduce import recipes
from benchmarks.pages import DOCS, put
from benchmarks.shared import collection, store, stored

NAME = "reproduce_tables"
PAGE = DOCS / "results" / "published-tables.md"
BEGIN = f"<!-- begin: python -m benchmarks {NAME} -->"
QUICK_S, LONG_S = 400, 2400
"""Processor seconds that a recipe may take; five times as many of the clock."""
# Beginnings of the names of what is run by --all alone.
LONG = ("argus",)
ALL, ONLY = "--all", "--only="


def run() -> dict[str, Any]:
    data = collection("")
    with TemporaryDirectory() as folder:
        listed = recipes(data, folder)
        for recipe in listed:
            name = recipe["name"]
            if recipe["here"] + recipe["perhaps"] and _is_due(name):
                record = reproduced(name, recipe["cells"], data, Path(folder))
                told = {key: value for key, value in record.items() if key != "rows"}
                print(name, json.dumps(told), flush=True)
                store(NAME, {"recipes": _records() | {name: record}})  # a run takes long
    records = _records()
    records = {r["name"]: records[r["name"]] for r in listed if r["name"] in records}
    put(PAGE, BEGIN, table(records))
    return {"recipes": records}


def _records() -> dict[str, Any]:
    return dict((stored(NAME) or {"recipes": {}})["recipes"])


def _is_due(name: str) -> bool:
    named = next((a.removeprefix(ONLY) for a in sys.argv if a.startswith(ONLY)), "")
    if named:
        return name.startswith(tuple(named.split(",")))
    return ALL in sys.argv or not name.startswith(LONG)


def reproduced(name: str, cells: int, data: Path, out: Path) -> dict[str, Any]:
    """Run a recipe; a run that fails or takes too long is a record of its own."""
    bound = LONG_S if name.startswith(LONG) else QUICK_S
    command = ["argus", "research", "reproduce", name]
    about = {"command": " ".join(command), "finished": utc_now(), "cells": cells}
    before = _processor()
    try:
        subprocess.run(
            [sys.executable, "-m", *command, "--data", str(data), "--out", str(out)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True,
            timeout=5 * bound,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (bound, bound)),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return about | {"why": f"took longer than {5 * bound:,} s"}
    except subprocess.CalledProcessError as error:
        late = _processor() - before >= bound - 1
        return about | {"why": f"took over {bound:,} s" if late else error.stderr[-300:]}
    sections = [
        json.loads((out / name / f"{file}.json").read_text("utf-8"))["reproduce"]
        for file in ("summary", "manifest")
    ]
    about |= {"seconds": round(sum(sections[1]["timings_s"].values()), 1)}
    about |= {"processor_seconds": round(_processor() - before, 1)}
    return about | compared(sections[0])


def _processor() -> float:
    """Return the processor seconds of all processes that this one has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def compared(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what came of a recipe: its cells that were run, and how far they are from theirs."""
    run_ = [cell for cell in summary["cells"] if cell["state"] != "not run"]
    return {
        "measured": summary["measured"],
        "failed": summary["failed"],
        "difference": difference(run_),
        "note": summary["note"],
        "rows": [
            {key: cell[key] for key in ("row", "column", "measured", "published", "reason")}
            for cell in run_
        ],
    }


def difference(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the distance of measured cells from published ones. None if no cell has both."""
    both = [c for c in cells if c["measured"] is not None and c["published"] is not None]
    gaps = [abs(cell["measured"] - cell["published"]) for cell in both]
    if not gaps:
        return None
    at = both[gaps.index(max(gaps))]
    mean = sum(gaps) / len(gaps)
    named = {"row": at["row"], "column": at["column"]}
    return {"cells": len(gaps), "mean": mean, "largest": max(gaps), **named}


def table(records: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a row for each recipe, and what came of the runs that failed."""
    yield "| recipe | cells run | beside a number | difference: mean | largest | of |"
    yield "|---|---:|---:|---:|---:|---|"
    for name, record in records.items():
        if "why" in record:
            yield f"| {name} | 0 of {record['cells']} |  |  |  | {record['why']} |"
            continue
        failed = f", {record['failed']} failed" if record["failed"] else ""
        cells = f"{record['measured']} of {record['cells']}{failed}"
        yield f"| {' | '.join((name, cells, *_gaps(record['difference'])))} |"


def _gaps(far: Mapping[str, Any] | None) -> tuple[str, str, str, str]:
    if far is None:
        return "0", "", "", ""
    farthest = f"{far['row']}, {far['column']}"
    return str(far["cells"]), f"{far['mean']:,.3f}", f"{far['largest']:,.3f}", farthest
