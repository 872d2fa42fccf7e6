import subprocess
import sys
from pathlib import Path

import pytest

from argus import __version__
from argus.cli.main import main


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["argus", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    return exit_.value.code


def test_the_version_is_printed(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"argus {__version__}\n"


@pytest.mark.parametrize("command", ["demo", "audit", "exposure", "report"])
def test_every_command_has_help(monkeypatch, capsys, command):
    assert run(monkeypatch, command, "--help") == 0
    assert f"argus {command}" in capsys.readouterr().out


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['argus', '--help']\n"
        "from argus.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = 'torch numba sklearn pyarrow plotly sentence_transformers numpy'.split()\n"
        "print(sorted(set(heavy) & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_the_console_script_is_installed():
    script = Path(sys.executable).parent / "argus"
    result = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60)
    assert result.stdout == f"argus {__version__}\n"


def test_the_unexpected_is_exit_2_and_a_traceback_on_request(monkeypatch, capsys, tmp_path):
    def broken(*_args, **_kwargs):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("argus.evaluation.gate.job.gate", broken)
    assert run(monkeypatch, "gate", str(tmp_path), "--min-ndcg", "0.5") == 2, "1 is a failed gate"
    told = capsys.readouterr().err
    assert told.startswith("argus: unexpected ZeroDivisionError: division by zero. This is a fault")
    assert "ARGUS_TRACEBACK=1" in told and "Traceback" not in told
    monkeypatch.setenv("ARGUS_TRACEBACK", "1")
    monkeypatch.setattr(sys, "argv", ["argus", "gate", str(tmp_path), "--min-ndcg", "0.5"])
    with pytest.raises(ZeroDivisionError):
        main()
