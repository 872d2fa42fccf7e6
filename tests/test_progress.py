"""Progress as lines: what a watcher reads, and what it leaves alone."""

import json

import pytest

from argus.progress import announce, progress, read_step


def test_a_pipe_hears_nothing_unless_asked_for(capfd):
    announce("reading")
    with progress("embedding", 3) as advance:
        advance(3)
    assert capfd.readouterr().err == ""


def test_lines_say_where_a_step_stands_from_first_to_last(capfd, monkeypatch):
    monkeypatch.setenv("ARGUS_PROGRESS", "lines")
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


@pytest.mark.parametrize(
    "line",
    ["argus: no such file", '{"ARGUS_PROGRESS": ', '{"ARGUS_PROGRESS": 3}', "", "{}",
     json.dumps({"ARGUS_PROGRESS": {"step": 1, "done": "x", "total": None}})],
)  # fmt: skip
def test_other_lines_are_no_progress(line):
    assert read_step(line) is None
