"""What a command says where its streams, or the folder in which it runs, are odd."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from argus.cli.streams import bound_terminal

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


SAYS_TO_ITS_STREAMS = """
import os

def search(query, k):
    for number in (1, 2):
        os.write(number, b"what a library says")
    return ["d1"]
"""


def test_what_a_library_says_to_a_closed_stream_is_in_no_file(tmp_path: Path) -> None:
    (tmp_path / "says.py").write_text(SAYS_TO_ITS_STREAMS)
    (tmp_path / "docs.jsonl").write_text('{"_id": "d1", "title": "Elm Mill", "text": "A mill."}')
    command = f"{sys.executable} -m argus exposure --corpus docs.jsonl --retriever says.py --out o"
    ran = subprocess.run(f"{command} <&- >&- 2>&-", shell=True, cwd=tmp_path, timeout=120)
    assert ran.returncode == 0
    written = [path for path in (tmp_path / "o").rglob("*") if path.is_file()]
    assert written and not [p for p in written if b"a library says" in p.read_bytes()]


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


GATE = "gate nowhere --max-low-rps-share 0.1"
ASKING = "exposure --corpus docs.jsonl --retriever says.py --out o"


@pytest.mark.parametrize("stderr", ["2>/dev/full", "2> >(true)", "2>&-"])
@pytest.mark.parametrize(
    ("line", "code"), [(GATE, 2), ("gate --nonsense", 2), ("nonsense", 2), (ASKING, 0)]
)
def test_what_a_standard_error_does_not_take_changes_no_exit_code(
    line, code, stderr, tmp_path: Path
) -> None:
    (tmp_path / "says.py").write_text("def search(query, k): return ['d1']\n")
    (tmp_path / "docs.jsonl").write_text('{"_id": "d1", "title": "Elm Mill", "text": "A mill."}')
    ran = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m argus {line} {stderr}"],
        cwd=tmp_path, timeout=120, env={**os.environ, "ARGUS_PROGRESS": "lines"},
    )  # fmt: skip
    assert ran.returncode == code


@pytest.mark.parametrize("name", ["COLUMNS", "LINES", "TERMINAL_WIDTH"])
@pytest.mark.parametrize("size", ["9" * 20, "99999999", "0", "\u00b2", "-1", "wide"])
def test_no_size_of_a_terminal_ends_a_command_or_holds_it_up(name, size, monkeypatch) -> None:
    monkeypatch.setenv(name, size)
    bound_terminal()
    assert os.environ.get(name) in (None, "1000")
    monkeypatch.setenv(name, "120")
    bound_terminal()
    assert os.environ[name] == "120"


def test_help_is_no_wider_than_a_terminal_may_be(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "argus", "gate", "--nonsense"]
    environment = {**os.environ, "COLUMNS": "9" * 20}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 2 and "No such option" in ran.stderr


def test_a_folder_that_is_gone_under_a_command_is_named(argus, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    index = str(tmp_path / "index")  # whose absolute path another folder could have, too
    for words in (("gate", "out", "--junit", "report.xml"), ("search", "x", "--index", index)):
        ran = argus(*words)
        assert ran.code == 2
        assert ran.err.startswith(
            "argus: the folder in which the command runs, and which is gone: No"
        )
