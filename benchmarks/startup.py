"""Processor time of one command from cold: help, what is refused, and two searches.

Every command is a process of its own, user and system time of it and its children, median of
several rounds with `import torch` taken by turns. Bytecode is warm: a first round is not counted.
A refusal ends with exit code 2; what heavy libraries each command imports is told.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROUNDS, DOCUMENTS, RECORDS = 7, 200, 3_000
TIMEOUT_S = 600
ARGUS = "from argus.cli.main import main; main()"
HEAVY = (
    "torch", "transformers", "sentence_transformers", "numba", "scipy", "sklearn", "lancedb",
    "pyarrow",
)  # fmt: skip
NAMING_HEAVY = f"""
import sys
from argus.cli.main import main
try:
    main()
finally:
    print("heavy:", *(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)
"""
BOUNDS_S = {"help": 0.3, "search": 4.0, "authority search": 2.0} | dict.fromkeys(
    ("wrong index", "wrong corpus", "wrong option", "wrong column"), 0.6
)
RULES = "rules: [{name: newer, superseding: replacement, superseded: rule, scope: [harbour]}]"


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        commands = _commands(place)
        expected = {name: 2 if name.startswith("wrong") else 0 for name in commands}
        times: dict[str, list[float]] = {"import torch": [], **{name: [] for name in commands}}
        for number in range(ROUNDS + 1):
            for name in times:
                code = ARGUS if name in commands else name
                seconds = _seconds(code, commands.get(name, []), place, expected.get(name, 0))
                if number:
                    times[name].append(seconds)
        heavy = {name: _heavy(commands[name], place) for name in commands}
    torch = statistics.median(times["import torch"])
    return {
        "documents": DOCUMENTS,
        "records": RECORDS,
        "rounds": ROUNDS,
        "import_torch_s": round(torch, 2),
        "commands": {
            name: {
                "seconds": round(statistics.median(times[name]), 2),
                "bar_s": BOUNDS_S[name],
                "times_import_torch": round(statistics.median(times[name]) / torch, 2),
                "heavy_imports": heavy[name],
            }
            for name in commands
        },
        "rounds_s": {name: [round(t, 2) for t in each] for name, each in times.items()},
    }


def _commands(place: Path) -> dict[str, list[str]]:
    """Return the arguments of each command; makes the index that is searched."""
    corpus = place / "corpus.jsonl"
    text = "{0} boats lie in harbour {1}"
    _write(corpus, ({"_id": f"d{i}", "text": text.format(i, i % 7)} for i in range(DOCUMENTS)))
    index = ["--corpus", str(corpus), "--out", "index", "--precision", "float32"]
    _seconds(ARGUS, ["index", "build", *index], place, 0)
    (place / "rules.yaml").write_text(RULES, encoding="utf-8")
    _write(place / "records.jsonl", map(_record, range(RECORDS)))
    audit = ["research", "audit", "--out", "out", "--corpus"]
    return {
        "help": ["--help"],
        "wrong index": ["explain", "boats", "--index", "nowhere"],
        "wrong corpus": [*audit, "nowhere"],
        "wrong option": ["explain", "boats", "--index", "index", "--nothing", "1"],
        "wrong column": [*audit, str(corpus), "--text-field", "nowhere"],
        "search": ["explain", "boats in harbour 3", "--index", "index", "--device", "cpu"],
        "authority search": [
            "authority", "search", "boats in harbour 3", "--records", "records.jsonl",
            "--rules", "rules.yaml",
        ],
    }  # fmt: skip


def _record(number: int) -> dict[str, Any]:
    """Return a record; every second one replaces the one before it."""
    return {
        "_id": f"r{number}", "type": "replacement" if number % 2 else "rule",
        "timestamp": f"{2000 + number % 2}-01-01", "entities": {"harbour": f"h{number // 2}"},
        "text": f"{number} boats lie in harbour {number % 7}",
    }  # fmt: skip


def _write(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _seconds(code: str, arguments: list[str], place: Path, expected: int) -> float:
    """Return the processor time of a program; what it says is shown where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = _python(code, arguments, place)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != expected:
        raise RuntimeError(f"{arguments}: exit code {result.returncode}\n{result.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _heavy(arguments: list[str], place: Path) -> list[str]:
    """Return which of HEAVY a command imports."""
    said = _python(NAMING_HEAVY, arguments, place).stderr
    return said.rpartition("heavy:")[2].split()


def _python(code: str, arguments: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    environment = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, timeout=TIMEOUT_S, cwd=place,
        env=environment | {"HF_HUB_OFFLINE": "1"}, check=False,
    )  # fmt: skip
