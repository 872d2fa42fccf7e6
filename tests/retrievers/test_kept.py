"""Answers on disk: what a kill leaves of them, and that two may write in turn."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from argus.errors import ArgusError
from argus.retrievers.kept import KeptAnswers

KILLED = """
import os, signal, sys, time
from pathlib import Path
from argus.retrievers.kept import WRITE_S, KeptAnswers
kept = KeptAnswers(Path(sys.argv[1]), "r")
for number in range(4):
    kept.put(f"slow {number}", 10, {"d": 1.0})
    time.sleep(1.2 * WRITE_S)
for number in range(50):
    kept.put(f"quick {number}", 10, {"d": 1.0})
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_loses_a_moments_answers_at_most(tmp_path) -> None:
    file = tmp_path / "answers.sqlite"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(file)], env=os.environ, timeout=60, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    with KeptAnswers(file, "r") as kept:
        texts = [f"slow {number}" for number in range(4)] + ["quick 0"]
        assert kept.read(texts, 10) == {text: {"d": 1.0} for text in texts}


def test_one_after_another_writes_into_a_file(tmp_path) -> None:
    file = tmp_path / "answers.sqlite"
    for name in ("a", "b"):
        with KeptAnswers(file, name) as kept:
            for number in range(3):
                kept.put(f"q{number}", 10, {name: 1.0})
    with KeptAnswers(file, "a") as kept:
        answers = kept.read(["q0", "q1", "q1", "q2", "q3"], 10)
        assert answers == {f"q{number}": {"a": 1.0} for number in range(3)}
        assert kept.read(["q0"], 5) == {}


@pytest.mark.parametrize(
    "row", ["", "{", "[1]", "7", '{"d": "x"}', '{"d": null}', '{"d": NaN}', '{"d": 1e999}', b"{}",
            '{"d": 1' + "0" * 400 + "}", "[" * 9_000],
)  # fmt: skip
def test_a_damaged_row_is_asked_again(tmp_path, row) -> None:
    file = tmp_path / "answers.sqlite"
    with KeptAnswers(file, "r") as kept:
        kept.put("q0", 10, {"d": 1.0})
    with sqlite3.connect(file) as sql:
        sql.execute("UPDATE answers SET answer = ?", (row,))
    sql.close()
    with KeptAnswers(file, "r") as kept:
        assert kept.read(["q0"], 10) == {}
        kept.put("q0", 10, {"d": 2.0})
        assert kept.read(["q0"], 10) == {"q0": {"d": 2.0}}


def test_a_damaged_file_is_refused_and_let_go(tmp_path) -> None:
    file = tmp_path / "answers.sqlite"
    with KeptAnswers(file, "r") as kept:
        kept.put("q0", 10, {"d": 1.0})
    file.write_bytes(
        file.read_bytes().replace(b"CREATE TABLE answers", b"CREATE TABLE \xff\xfeswers")
    )
    with pytest.raises(ArgusError, match="everything is asked again") as refused:
        KeptAnswers(file, "r")
    cause = refused.value.__cause__
    assert cause is not None and cause.__traceback__ is not None
    opened = cause.__traceback__.tb_frame.f_locals["self"]._connection
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened.execute("SELECT 1")
