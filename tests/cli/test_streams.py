"""What a command says where its streams, or the folder in which it runs, are odd."""

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


def test_a_full_disk_behind_the_standard_output_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "argus", "--help"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            command, cwd=tmp_path, env=environment, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ran.returncode == 2
    (line,) = ran.stderr.splitlines()
    assert line.startswith("argus: the standard output: No space left on device")
