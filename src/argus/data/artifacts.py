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


class ArtifactFolder:
    """An output folder owned by Argus.

    `fresh` removes what earlier runs left in it, and refuses a folder that holds anything but
    Argus's own output. Raises InputError when the path is a file or cannot be written.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise InputError(
                "is a file", expected="a folder for results", fix="Give another --out.", where=path
            )
        if fresh and path.exists():
            self._clear()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot be made ({error.strerror})",
                expected="a folder that can be written",
                fix="Give another --out.",
                where=path,
            ) from error

    def _clear(self) -> None:
        holds_something = any(self.path.iterdir())
        if holds_something and not (self.path / "manifest.json").is_file():
            raise InputError(
                "holds files but no manifest.json of an earlier run",
                expected="an empty folder or one that Argus wrote",
                fix="--fresh deletes only Argus's own folders: give another --out, or clear it.",
                where=self.path,
            )
        shutil.rmtree(self.path)

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
        path = self.path / name
        whole = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return self.write_json(name, {**whole, section: value})

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
