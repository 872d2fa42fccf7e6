"""Progress as lines: what a watcher reads, and what it leaves alone."""

from argus.progress import announce, progress, read_step


def test_lines_say_where_a_step_stands_from_first_to_last_if_asked_for(capfd, monkeypatch):
    announce("reading")
    assert capfd.readouterr().err == ""
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
