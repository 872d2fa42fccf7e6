"""What a folder holds, as values: runs of a command are compared by them, not by their bytes."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from argus.data.artifacts import MANIFEST, SUMMARY
from argus.data.manifest import check_one_run

Values = dict[str, Any]
OF_RUNS = frozenset(
    (
        *("started", "finished", "at", "when", "created", "made_at"),
        *("seconds", "timings_s", "wall_s", "duration_s", "ms", "milliseconds", "times_dense"),
        *(
            "queries_per_s",
            "passages_per_s",
            "tokens_per_s",
            "seconds_per_question",
            "peak_memory_bytes",
        ),
        *("environment", "precision_trials", "cached", "prompts", "tokens_in", "tokens_out"),
        *("cost", "key", "sha256", "bytes", "bytes_before"),
        *("answered_now", "seconds_by_step", "evaluation_seconds"),
    )
)
"""Keys that tell of a run and not of what it came to: moments, durations, what was spent."""
TIME = "time"
"""Column of a database: when a row was written. Two runs within a second have it alike."""
OF_ATTEMPTS = re.compile(
    r":(?:counts|cells|state|before|after):kept$|index\.json:(?:made|recipes:\d+:added)$"
    r"|manifest\.json:[^:]+:parts:|before\.json:answers$"
)
"""Places that tell what an earlier run had done, and of commits, of which there may be more; and
the number by chance that tells an index from another. Hashes, of what differs in its last bits."""
NOT_COMPARED = (".html", ".csv", ".lock", ".xml", ".md", ".tex", ".png", ".svg")
"""Pages and copies of tables; they have to be there."""
PLAIN = "SELECT name FROM sqlite_master WHERE type='table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
CLOSE = 1e-6
"""What fractions may differ by: a text that is encoded beside others has other last bits, and after
a kill only the texts that are missing are encoded."""
COORDINATES = re.compile(r"\.parquet:\d+:[xy]$")
"""Places of a plot: they reach 7, and are made of such vectors."""
LEFTOVERS = (".partial", ".part", ".tmp", ".old", "-journal")


def values_of(folder: Path) -> Values:
    """Return each file's content by its name; an index and a store of vectors are one value each.

    Raises whatever a damaged file raises.
    """
    values: Values = {}
    for path in sorted(_files(folder)):
        name = str(path.relative_to(folder))
        if path.name == "index.json" and (path.parent / "views.lance").is_dir():
            values[f"{name} views"] = _index(path.parent)
        if path.name == "store.json":
            values[f"{name} vectors"] = _vectors(path.parent)
        if path.name == MANIFEST and (path.parent / SUMMARY).is_file():
            check_one_run(path.parent)
        values[name] = _value(path)
    return values


def leftovers(folder: Path) -> list[str]:
    """Return the temporary files and folders that are still there."""
    names = (str(p.relative_to(folder)) for p in folder.rglob("*"))
    return sorted(n for n in names if n.endswith(LEFTOVERS) or "/.tmp" in f"/{n}")


def differences(one: Values, other: Values, apart: Collection[str] = ()) -> list[str]:
    """Return the places that only one of two folders has, or whose values differ.

    A place is a file, and within JSON a value. apart: places that two runs of the same differ in.
    """
    a, b = _flat(one), _flat(other)
    return sorted(
        name
        for name in {*a, *b}
        if name not in apart
        and not OF_ATTEMPTS.search(name)
        and (name not in a or name not in b or not _same(a[name], b[name], _close(name)))
    )


def _close(place: str) -> float:
    """Return what fractions at a place may differ by."""
    return 10 * CLOSE if COORDINATES.search(place) else CLOSE


def _flat(values: Values) -> Values:
    flat: Values = {}
    for name, value in values.items():
        _spread(value, name, flat)
    return flat


def _spread(value: Any, name: str, into: Values) -> None:
    if isinstance(value, dict) and value and all(isinstance(key, str) for key in value):
        for key, inner in value.items():
            _spread(inner, f"{name}:{key}", into)
    elif isinstance(value, list) and value and isinstance(value[0], dict) and len(value) < 2000:
        for i, inner in enumerate(value):
            _spread(inner, f"{name}:{i}", into)
    else:
        into[name] = value


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.endswith(".lance") or path.name in ("history", "bm25", "words"):
            continue
        if (path / "chroma.sqlite3").is_file():  # its files have names by chance
            yield path / "chroma.sqlite3"
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.name not in ("lock", ".argus", "keys.bin", "vectors.f32", ".kb.lock"):
            yield path


def _value(path: Path) -> Any:
    if path.suffix in NOT_COMPARED or path.name.endswith(".lock"):
        return "there"
    if path.suffix == ".json":
        return _timeless(json.loads(path.read_text(encoding="utf-8")))
    if path.suffix == ".jsonl":
        lines = path.read_text(encoding="utf-8").splitlines()
        return [_timeless(json.loads(line)) for line in lines]
    if path.suffix == ".parquet":
        return _timeless(pq.read_table(path).to_pylist())
    if path.suffix == ".npy":
        return np.load(path, allow_pickle=False).tolist()
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name].tolist() for name in arrays.files}
    if path.name == "chroma.sqlite3":
        return _chroma(path.parent)
    if path.suffix in (".sqlite", ".db", ".sqlite3") or path.name.endswith(".ledger"):
        return _database(path)
    if path.suffix == ".safetensors":
        return path.read_bytes()
    if path.suffix == ".pt":
        return "there"
    return path.read_bytes()


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if k not in OF_RUNS}
    if isinstance(value, list):
        return [_timeless(v) for v in value]
    return value


def _index(folder: Path) -> Any:
    from argus.indexes.views import ViewIndex

    index = ViewIndex.open(folder)
    columns = index.rows().to_pylist()
    snapshot = index.snapshot()
    vectors = {view.id: np.asarray(snapshot.vectors[i]) for i, view in enumerate(snapshot.views)}
    rows = sorted(([row[n] for n in ("id", "doc_id", "kind", "text")] for row in columns), key=str)
    return rows, vectors, [r.record() | {"bytes": 0, "added": 0} for r in index.remedies()]


def _vectors(folder: Path) -> Any:
    about = json.loads((folder / "store.json").read_text(encoding="utf-8"))
    if about.get("family", "dense") != "dense":
        return "there"
    keys = (folder / "keys.bin").read_bytes() if (folder / "keys.bin").exists() else b""
    dim, n = int(about["dim"]), len(keys) // 16
    vectors = np.fromfile(folder / "vectors.f32", np.float32)[: n * dim].reshape(n, dim)
    return {keys[i * 16 : i * 16 + 16]: vectors[i] for i in range(n)}


def _chroma(folder: Path) -> Any:
    """Return the records of every collection: ids, documents, payloads, vectors."""
    import chromadb

    client = chromadb.PersistentClient(str(folder))
    collections = {}
    for collection in client.list_collections():
        held = collection.get(include=["documents", "metadatas", "embeddings"])
        vectors = np.asarray(held["embeddings"]).tolist()
        payloads = [json.dumps(payload, sort_keys=True) for payload in held["metadatas"]]
        rows = zip(held["ids"], held["documents"], payloads, vectors, strict=True)
        collections[collection.name] = sorted(map(str, rows))
    client._system.stop()  # type: ignore[attr-defined]
    client.clear_system_cache()
    return collections


def _database(path: Path) -> Any:
    with sqlite3.connect(path) as database:
        names = [n for (n,) in database.execute(PLAIN)]
        tables = {}
        for name in sorted(names):
            columns = [c[1] for c in database.execute(f'PRAGMA table_info("{name}")')]
            kept = [c for c in columns if c not in (*OF_RUNS, TIME)]
            listed = ", ".join(f'"{c}"' for c in kept)
            tables[name] = sorted(map(str, database.execute(f'SELECT {listed} FROM "{name}"')))
    database.close()
    return tables


def _same(one: Any, other: Any, close: float = CLOSE) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=close)
    if isinstance(one, float) and isinstance(other, float):
        near = math.isclose(one, other, rel_tol=close, abs_tol=close)
        return near or (one != one and other != other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(v, other[k], close) for k, v in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(partial(_same, close=close), one, other))
    return bool(one == other)
