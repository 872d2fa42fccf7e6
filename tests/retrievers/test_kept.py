"""Answers on disk: what a kill leaves of them, and that two may write in turn."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

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
        assert all(kept.get(f"slow {number}", 10) == {"d": 1.0} for number in range(4))
        assert kept.get("quick 0", 10) == {"d": 1.0}


def test_one_after_another_writes_into_a_file(tmp_path) -> None:
    file = tmp_path / "answers.sqlite"
    for name in ("a", "b"):
        with KeptAnswers(file, name) as kept:
            for number in range(3):
                kept.put(f"q{number}", 10, {name: 1.0})
    with KeptAnswers(file, "a") as kept:
        assert [kept.get(f"q{number}", 10) for number in range(3)] == [{"a": 1.0}] * 3
        assert kept.get("q0", 5) is None
