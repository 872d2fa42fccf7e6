"""The folder in which a job leaves its results: tables, `summary.json`, `manifest.json`.

Every file is written beside its place and renamed into it, so a reader never sees half of one and
a killed run leaves what it had. Two jobs over one corpus (audit, exposure) may share a folder:
the JSON files hold one section per job.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from argus.errors import InputError

MARKER = ".argus"
OWN_FOLDERS = (
    *("embeddings", "ranks", "views.lance", "probe", "remedies"),
    *("training", "adapter", "merged", "ngrams", "model", "failure_tables"),
    *("entities", "relations", "aliases", "redirects", "words", "work"),
)
OWN_FILES = frozenset(
    f"{name}{suffix}"
    for name, suffixes in {
        "retrievability": (".parquet", ".csv"),
        "pair_ranks": (".parquet",),
        "exposure": (".parquet", ".csv"),
        "misses": (".parquet", ".csv"),
        "questions": (".parquet", ".csv"),
        "trials": (".parquet",),
        "predictions": (".parquet",),
        "predicted": (".parquet", ".csv"),
        "diagnosis": (".parquet", ".csv"),
        "receipt": (".parquet", ".csv"),
        "per_query": (".parquet", ".csv"),
        "comparison": (".parquet", ".csv"),
        "comparison_queries": (".parquet", ".csv"),
        "lint": (".parquet", ".csv"),
        "needs": (".parquet", ".csv"),
        "need_audit": (".parquet", ".csv"),
        "scenarios_qa": (".parquet", ".csv"),
        "ablation": (".parquet", ".csv"),
        "losses": (".parquet",),
        "expansions": (".jsonl",),
        "authority": (".parquet", ".csv"),
        "authority_questions": (".parquet", ".csv"),
        "summary": (".json",),
        "manifest": (".json",),
        "index": (".json",),
        "kb": (".json",),
        "report": (".html",),
        "generative_search": (".parquet", ".csv"),
        "failures": (".parquet", ".csv"),
        "failure_diagnosis": (".parquet", ".csv"),
        "judged": (".parquet", ".csv"),
        "pruned": (".parquet", ".csv"),
        "ngram_profile": (".parquet", ".csv"),
        "held_out": (".jsonl", ".tsv"),
        "answers": (".jsonl",),
        "dpr": (".json",),
        "kilt": (".jsonl",),
        "run": (".trec", ".json"),
    }.items()
    for suffix in suffixes
)


class ArtifactFolder:
    """An output folder. Nothing is made or removed before `open`.

    `fresh`: opening removes what earlier runs left (the names in OWN_FOLDERS and OWN_FILES, nothing
    else); a folder that Argus did not write is refused. Raises InputError when the path is a file.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path, self.fresh = path, fresh
        if path.exists() and not path.is_dir():
            raise InputError(
                "is a file", expected="a folder for results", fix="Give another --out.", where=path
            )
        if fresh and path.exists() and any(path.iterdir()) and not (path / MARKER).is_file():
            raise InputError(
                "holds files that Argus did not write",
                expected="an empty folder, or one from an earlier run",
                fix="--fresh deletes only Argus's own results: give another --out, or clear it.",
                where=path,
            )

    def open(self) -> None:
        """Make the folder and, once, empty it if `fresh`. Call when all input has been checked."""
        if self.fresh and self.path.exists():
            self._clear()
        self.fresh = False
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / MARKER).write_text(
                "Argus keeps its results here; --fresh deletes them.\n", encoding="utf-8"
            )
        except OSError as error:
            raise InputError(
                f"cannot be written ({error.strerror})",
                expected="a folder that can be written",
                fix="Give another --out.",
                where=self.path,
            ) from error

    def _clear(self) -> None:
        for entry in self.path.iterdir():
            if entry.is_dir() and entry.name in OWN_FOLDERS:
                shutil.rmtree(entry)
            elif entry.is_file() and entry.name in OWN_FILES:
                entry.unlink()

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def write_json(self, name: str, value: Any) -> Path:
        """Write `value` as indented JSON. A NaN is a bug here, never a value: it raises."""
        path = self.path / name
        with replacing(path) as temporary:
            text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
            temporary.write_text(text + "\n", encoding="utf-8")
        return path

    def write_section(self, name: str, section: str, value: Any) -> Path:
        """Set one section of a JSON file and keep the others."""
        return self.write_json(name, {**self.read_json(name), section: value})

    def read_json(self, name: str) -> dict[str, Any]:
        """Return the sections of a JSON file, none where there is no file."""
        path = self.path / name
        if not path.is_file():
            return {}
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise InputError(
                f"broken JSON ({error})",
                expected="the file as Argus wrote it",
                fix="Remove it, or run again with --fresh.",
                where=path,
            ) from error

    def write_table(self, name: str, table: pa.Table, *, csv: bool = False) -> Path:
        """Write `name.parquet`, and `name.csv` beside it on request."""
        path = self.path / f"{name}.parquet"
        with replacing(path) as temporary:
            pa.parquet.write_table(table, temporary, compression="zstd")
        if csv:
            with replacing(self.path / f"{name}.csv") as temporary:
                pa.csv.write_csv(table, temporary)
        return path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling of `path` that takes its place when the block ends well."""
    temporary = path.with_name(f".{path.name}.partial")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
