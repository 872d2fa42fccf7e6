import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from argus.cli.main import main
from argus.commands import DECLARED
from argus.indexes.header import IndexHeader, write_header

ROOT = Path(__file__).parents[2]


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["argus", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    return exit_.value.code


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


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with a corpus, and with what says that it is an index."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "Boats lie in the harbour."}\n')
    (folder / "index").mkdir()
    write_header(folder / "index", IndexHeader(fingerprint="of an encoder", dim=3))
    return folder


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
def test_a_wrong_path_is_refused_before_heavy_imports(command, place):
    names = {"WRONG": place / "nowhere", "INDEX": place / "index"}
    names["WRONG@original"] = f"{names['WRONG']}@original"
    code, messages, heavy = loaded_by(*(names.get(word, word) for word in command.split()))
    assert (code, {*heavy} - {"numpy", "pyarrow"}) == (2, set())
    assert f"{place / 'nowhere'}: no such f" in messages


def test_the_unexpected_is_exit_2_and_a_traceback_on_request(monkeypatch, capsys, tmp_path):
    def broken(*_args, **_kwargs):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("argus.evaluation.gate.gate", broken)
    assert run(monkeypatch, "gate", str(tmp_path), "--min-ndcg", "0.5") == 2, "1 is a failed gate"
    told = capsys.readouterr().err
    assert told.startswith("argus: unexpected ZeroDivisionError: division by zero. This is a fault")
    assert "ARGUS_TRACEBACK=1" in told and "Traceback" not in told
    monkeypatch.setenv("ARGUS_TRACEBACK", "1")
    monkeypatch.setattr(sys, "argv", ["argus", "gate", str(tmp_path), "--min-ndcg", "0.5"])
    with pytest.raises(ZeroDivisionError):
        main()


@pytest.mark.parametrize("error", [GeneratorExit("a\x1b[2J"), BaseException("a\x1b[2J")])
def test_whatever_escapes_is_exit_2_and_steers_no_terminal(monkeypatch, capsys, tmp_path, error):
    def broken(*_args, **_kwargs):
        raise error

    monkeypatch.setattr("argus.evaluation.gate.gate", broken)
    assert run(monkeypatch, "gate", str(tmp_path), "--min-ndcg", "0.5") == 2
    assert f"unexpected {type(error).__name__}: a\\u001b[2J. This" in capsys.readouterr().err


def test_printed_commands_know_the_options_of_the_others():
    text = runpy.run_path(str(ROOT / "scripts/options.py"))["text"]
    assert DECLARED.read_text() == text(), "run: python scripts/options.py"
