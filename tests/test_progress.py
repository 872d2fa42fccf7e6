"""Progress as lines: what a watcher reads, and what it leaves alone."""

import json
import os
import re
import subprocess
import sys

import pytest

from argus.progress import announce, progress, read_step


def test_a_pipe_hears_nothing_unless_asked_for(capfd):
    announce("reading")
    with progress("embedding", 3) as advance:
        advance(3)
    assert capfd.readouterr().err == ""


def test_lines_say_where_a_step_stands_from_first_to_last(capfd, monkeypatch):
    monkeypatch.setenv("ARGUS_PROGRESS", "lines")
    monkeypatch.setattr("argus.progress.OFTEN_S", float("inf"))  # the first and the last alone
    announce("reading")
    with progress("embedding", 3, done=1) as advance:
        advance(1)
        advance(1)
    with progress("\u00e9\u2026\n", None) as advance:
        advance(7)
    steps = [read_step(line) for line in capfd.readouterr().err.splitlines()]
    assert [(s["step"], s["done"], s["total"]) for s in steps] == [
        ("reading", 0, None), ("embedding", 1, 3), ("embedding", 3, 3),
        ("\u00e9\u2026\n", 0, None), ("\u00e9\u2026\n", 7, None),
    ]  # fmt: skip


SLOW = """
from types import SimpleNamespace
from argus import progress
clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
progress.time = clock
{command}
with progress.progress("embedding", 40, done=10) as advance:
    for _ in range(30):
        clock.now += 2
        advance(1)
with progress.progress("reading", None) as advance:
    clock.now += 12
    advance(1_000)
with progress.progress("short", 3) as advance:
    advance(3)
"""


def test_a_log_of_a_command_says_how_far_a_slow_step_is():
    lines = _stderr("progress.write_into_logs()").splitlines()
    assert re.fullmatch(r"argus: embedding: 1\d of 40, about \d+ s left", lines[0])
    assert "argus: embedding: 40 of 40, in 60 s" in lines
    assert "argus: reading: 1,000, 12 s so far" in lines
    assert len(lines) == 5
    assert not any("short" in line for line in lines)


def test_a_python_caller_hears_nothing_however_slow_a_step_is():
    assert _stderr("") == ""


def test_a_log_can_be_quiet():
    assert _stderr("progress.write_into_logs()", ARGUS_PROGRESS="quiet") == ""


def _stderr(command: str, **environment: str) -> str:
    code = SLOW.format(command=command)
    ended = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, text=True,
        capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    return ended.stderr


@pytest.mark.parametrize(
    "line",
    ["argus: no such file", '{"ARGUS_PROGRESS": ', '{"ARGUS_PROGRESS": 3}', "", "{}",
     json.dumps({"ARGUS_PROGRESS": {"step": 1, "done": "x", "total": None}})],
)  # fmt: skip
def test_other_lines_are_no_progress(line):
    assert read_step(line) is None
