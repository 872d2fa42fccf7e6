"""The command line in this process, and a small corpus that it can audit."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from argus.cli.main import main

NAMES = (
    "Ada Lovelace",
    "Charles Babbage",
    "Difference Engine",
    "Analytical Engine",
    "Luigi Menabrea",
    "Mary Somerville",
    "Augustus De Morgan",
    "Michael Faraday",
    "Royal Society",
    "Lord Byron",
    "Bernoulli Number",
    "Jacquard Loom",
)
# A ring: every document names the next, so each has two neighbours and nine neutrals.
DOCUMENTS = [
    {"_id": f"d{i:02}", "title": name, "text": f"{name} was linked with {NAMES[(i + 1) % 12]}."}
    for i, name in enumerate(NAMES)
]


class Ran(NamedTuple):
    code: object
    out: str
    err: str


@pytest.fixture
def argus(monkeypatch, capsys, tmp_path):
    """Run the real command line in this process, in tmp_path. What escapes main() is a bug."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")  # typer frames its messages and would break the lines

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["argus", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Ran(stopped.value.code or 0, captured.out, captured.err)

    return run


@pytest.fixture
def jsonl() -> Callable[..., Path]:
    """Return what writes records, by default the documents, to a path, and returns it."""

    def write(path: Path, records: Sequence[object] = DOCUMENTS) -> Path:
        path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
        return path

    return write


@pytest.fixture
def text() -> Callable[[Path, str | bytes], Path]:
    """Return what writes text, or bytes, to a path, and returns it."""

    def write(path: Path, content: str | bytes) -> Path:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def corpus(tmp_path: Path, jsonl: Callable[..., Path]) -> Path:
    """Write the documents; return the file."""
    (tmp_path / "data").mkdir()
    return jsonl(tmp_path / "data" / "corpus.jsonl")
