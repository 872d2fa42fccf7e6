"""What a command says where its streams, or the folder in which it runs, are odd."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

WESTERN = "iso-8859-1"


def ran_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Return how a command ended whose streams are of ISO-8859-1."""
    western = {**os.environ, "PYTHONIOENCODING": WESTERN}
    command = [sys.executable, "-m", "argus", *arguments]
    return subprocess.run(
        command, cwd=folder, env=western, timeout=120, capture_output=True, encoding=WESTERN
    )


def test_a_stream_without_the_character_gets_an_escape(tmp_path: Path) -> None:
    (tmp_path / "Łódź").mkdir()
    (tmp_path / "Łódź" / "summary.json").write_text('{"exposure": {}}')
    assert ran_in(tmp_path, "evaluate", "--help").returncode == 0, "its help has a \u2026"
    ran = ran_in(tmp_path, "gate", "Łódź", "--min-ndcg", "0.5")
    assert (ran.returncode, ran.stderr) == (2, "") and "\\u0141ód\\u017a" in ran.stdout
    ran = ran_in(tmp_path, "gate", "Łódź", "--min-ndcg", "0.5", "--json")
    assert json.loads(ran.stdout)["outcomes"][0]["folder"] == "Łódź"


def test_a_folder_that_is_gone_under_a_command_is_named(argus, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    ran = argus("gate", "out", "--min-ndcg", "0.5", "--junit", "report.xml")
    assert ran.code == 2
    assert ran.err.startswith("argus: the folder in which the command runs, and which is gone: No")
