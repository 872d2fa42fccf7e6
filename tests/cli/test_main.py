import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from argus.cli.main import main
from argus.commands import DECLARED

ROOT = Path(__file__).parents[2]


HEAVY = (
    "torch", "transformers", "sentence_transformers", "tokenizers", "numba", "scipy", "sklearn",
    "pandas", "lancedb", "pyarrow", "numpy", "jinja2", "plotly", "rich.progress",
)  # fmt: skip


def loaded_by(*arguments):
    """Return exit code, messages and heavy imports of a command in a process of its own."""
    code = (
        f"import sys; sys.argv = ['argus', *{list(map(str, arguments))!r}]\n"
        "from argus.cli.main import main\n"
        "try: main()\n"
        f"finally: print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    return result.returncode, result.stderr, result.stdout.splitlines()[-1].split()


def test_help_imports_nothing_heavy():
    assert loaded_by("--help") == (0, "", [])


@pytest.mark.parametrize(
    "command",
    [
        "check --corpus WRONG",
        "index build --corpus WRONG --out out",
        "explain boats --index WRONG@original",
        "tune list --index WRONG",
    ],
)
def test_a_wrong_path_is_refused_before_heavy_imports(command, tmp_path):
    nowhere = str(tmp_path / "nowhere")
    code, messages, heavy = loaded_by(*command.replace("WRONG", nowhere).split())
    assert (code, {*heavy} - {"numpy", "pyarrow"}) == (2, set())
    assert f"{nowhere}: no such f" in messages


@pytest.mark.parametrize("kind", [ZeroDivisionError, GeneratorExit, BaseException])
def test_whatever_escapes_is_exit_2_and_a_traceback_on_request(argus, monkeypatch, tmp_path, kind):
    def broken(*_args, **_kwargs):
        raise kind("a\x1b[2J")

    monkeypatch.setattr("argus.evaluation.gate.gate", broken)
    ran = argus("gate", tmp_path, "--min-ndcg", "0.5")
    assert ran.code == 2, "1 is a failed gate"
    told = f"argus: unexpected {kind.__name__}: a\\u001b[2J. This is a fault"
    assert ran.err.startswith(told) and "ARGUS_TRACEBACK=1" in ran.err
    monkeypatch.setenv("ARGUS_TRACEBACK", "1")
    with pytest.raises(kind):
        main()


def test_printed_commands_know_the_options_of_the_others():
    text = runpy.run_path(str(ROOT / "scripts/options.py"))["text"]
    assert DECLARED.read_text() == text(), "run: python scripts/options.py"
