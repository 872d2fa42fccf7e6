"""Where the real collections are, and where figures go."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from argus.data.artifacts import write_whole
from argus.data.provenance import describe_environment, utc_now

RESULTS = Path(__file__).parent / "results"


def collection(name: str) -> Path:
    """Return the path of a shared collection."""
    root = Path(os.environ.get("ARGUS_SHARED", Path(__file__).parents[2] / "shared"))
    return root / "data" / name


def store(name: str, result: Any) -> None:
    """Write what a benchmark measured, with when and where that was."""
    RESULTS.mkdir(exist_ok=True)
    whole = {"finished": utc_now(), "environment": describe_environment(), "result": result}
    write_whole(RESULTS / f"{name}.json", json.dumps(whole, indent=2) + "\n")


def stored(name: str) -> Any:
    """Return what a benchmark measured before; None where nothing is stored."""
    file = RESULTS / f"{name}.json"
    return json.loads(file.read_text("utf-8"))["result"] if file.is_file() else None
