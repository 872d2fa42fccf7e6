"""What a command left behind, as values that can be compared with what it left before."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

GOLDEN = Path(__file__).parent / "golden"
OF_A_RUN = frozenset((
    "started", "finished", "at", "when", "created", "made_at", "made", "added", "seconds",
    "timings_s", "wall_s", "duration_s", "ms", "milliseconds", "times_dense", "queries_per_s",
    "passages_per_s", "tokens_per_s", "seconds_per_question", "peak_memory_bytes",
    "environment", "precision_trials", "cost", "key", "sha256", "bytes", "bytes_before", "kept",
    "answered_now", "seconds_by_step", "evaluation_seconds", "invocation", "parts", "argus",
    "fingerprint", "file", "store", "path", "directory", "tokens_in", "tokens_out", "cached",
    "prompts", "answers", "target_modules", "shards",
))  # fmt: skip
"""Keys that tell of a run, its machine or its place, and not of what it came to."""
ADDRESS = re.compile(
    r"http://127\.0\.0\.1:\d+|/\S*/(after|killed|resumed|before|json)/|index-[0-9a-f]{8}"
)
"""An endpoint's address, a folder, what is called by its vectors: each run has its own."""
APART = ("views.db", "history", "bm25", "words", "embeddings", "store", ".argus")
"""Folders whose files are compared through what reads them."""
ROWS = 40
"""Rows of a table that are kept: the first ones; of the rest the number and the sums."""
CLOSE = 2e-3
"""What fractions may differ by: another processor gives vectors other last bits."""


def left(folder: Path, before: Path) -> dict[str, Any]:
    """Return the summaries and tables that a command wrote or changed, by their names."""
    return {
        ADDRESS.sub("ADDRESS", name): _value(folder / name) for name in _written(folder, before)
    }


def _written(folder: Path, before: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.suffix not in (".json", ".jsonl", ".parquet") or not path.is_file():
            continue
        if any(part.endswith(APART) for part in name.parts) or path.name == "manifest.json":
            continue
        earlier = before / name
        if not earlier.is_file() or earlier.read_bytes() != path.read_bytes():
            yield str(name)


def _value(path: Path) -> Any:
    if path.suffix == ".json":
        return _timeless(json.loads(path.read_text(encoding="utf-8")))
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return {"rows": len(rows), "first": _timeless(rows[:ROWS])}
    table = pq.read_table(path)
    columns = [n for n in table.column_names if n not in OF_A_RUN]
    rows = table.select(columns).to_pylist()
    sums = {
        name: sum(v for v in table[name].to_pylist() if v is not None and math.isfinite(v))
        for name in columns
        if str(table.schema.field(name).type) in ("float", "double", "int64", "int32")
    }
    return {"rows": len(rows), "columns": columns, "sums": _timeless(sums),
            "first": [list(_timeless(row).values()) for row in rows[:ROWS]]}  # fmt: skip


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        own = {k: v for k, v in value.items() if k not in OF_A_RUN}
        return {ADDRESS.sub("ADDRESS", str(k)): _timeless(v) for k, v in own.items()}
    if isinstance(value, (list, tuple)):
        return [_timeless(v) for v in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    if value is None or isinstance(value, int):
        return value
    return ADDRESS.sub("ADDRESS", str(value))


def differences(
    expected: Any, got: Any, place: str = "", *, by_shape: bool = False
) -> Iterator[str]:
    """Yield the places at which two values differ, with both. by_shape: in keys and lengths."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted({*expected, *got}):
            if key not in expected or key not in got:
                yield f"{place}/{key}: {'new' if key in got else 'gone'}"
            else:
                inner = f"{place}/{key}"
                yield from differences(expected[key], got[key], inner, by_shape=by_shape)
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for row, (one, other) in enumerate(zip(expected, got, strict=True)):
            yield from differences(one, other, f"{place}/{row}", by_shape=by_shape)
    elif by_shape:
        if isinstance(expected, (dict, list)) or isinstance(got, (dict, list)):
            yield f"{place}: another shape"
    elif isinstance(expected, (int, float)) and isinstance(got, float):
        if not math.isclose(expected, got, rel_tol=CLOSE, abs_tol=CLOSE):
            yield f"{place}: {expected} was, {got} is"
    elif expected != got:
        yield f"{place}: {expected!r:.200} was, {got!r:.200} is"
