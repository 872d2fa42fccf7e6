"""What is said before many queries are asked, and after the first."""

import logging

import pytest

from argus.cli.streams import show_remarks
from argus.retrievers import forecast as module
from argus.retrievers.forecast import duration, forecast


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def said(caplog, n, kept, steps, clock, seconds):
    caplog.clear()
    counted = []
    with caplog.at_level(logging.INFO, "argus.retrievers.forecast"):
        advance = forecast("mine.py:dense", n, kept, counted.append)
        for more in steps:
            clock[0] += seconds * more
            advance(more)
    assert counted == list(steps)
    return caplog.messages


def test_the_number_comes_first_and_the_pace_of_the_first_once(caplog, clock):
    lines = said(caplog, 15_300, 20, [1] * 300, clock, 0.5)
    assert lines == [
        "asking mine.py:dense 15,300 queries (20 more are kept)",
        "about 2 h 7 min more at the pace of the first 5",
    ]


def test_batches_have_a_pace(caplog, clock):
    lines = said(caplog, 6_400, 0, [64] * 3, clock, 0.05)
    assert lines[1] == "about 5 min more at the pace of the first 64"


def test_what_is_soon_done_needs_no_word(caplog, clock):
    assert said(caplog, 19, 0, [1] * 19, clock, 10) == []
    assert len(said(caplog, 400, 0, [1] * 400, clock, 0.1)) == 1


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(61, "1 min"), (3_540, "59 min"), (3_600, "1 h"), (5_400, "1 h 30 min"), (90_000, "25 h")],
)
def test_times_are_said_as_people_do(seconds, words):
    assert duration(seconds) == words


def test_a_remark_steers_no_terminal(capsys):
    show_remarks()
    logging.getLogger("argus.retrievers.forecast").info("mine\x1b[2J.py")
    assert "argus: mine\\u001b[2J.py" in capsys.readouterr().err
