import re
import subprocess
import sys
from pathlib import Path

import pytest

from argus import __version__
from argus.cli.main import main
from argus.indexes.header import IndexHeader, write_header


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["argus", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    return exit_.value.code


def test_the_version_is_printed(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"argus {__version__}\n"


def test_help_shows_twelve_options_and_help_all_every_one(monkeypatch, capsys):
    for command in ("demo", "audit", "exposure", "generative search"):
        shown = {}
        for option in ("--help", "--help-all"):
            assert run(monkeypatch, *command.split(), option) == 0
            text = capsys.readouterr().out
            assert f"argus {command}" in text
            shown[option] = set(re.findall(r"^│ [* ]*(--[\w-]+)", text, re.MULTILINE))
        assert len(shown["--help"] - {"--help"}) <= 12
        assert shown["--help"] <= shown["--help-all"]
    assert "--beams" in shown["--help-all"] - shown["--help"]


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
        "audit --corpus WRONG",
        "exposure --corpus WRONG",
        "diagnose --corpus WRONG --kb WRONG",
        "probe predict --corpus WRONG",
        "index build --corpus WRONG --out out",
        "index add --index INDEX --corpus WRONG",
        "index compact --index WRONG",
        "search boats --index WRONG",
        "search boats --index WRONG@original",
        "explain boats d1 --index WRONG",
        "compare --index INDEX --index WRONG",
        "remedy list --index WRONG",
        "remedy scenarios --corpus WRONG --model m",
    ],
)
def test_a_wrong_path_is_refused_before_heavy_imports(command, place):
    names = {"WRONG": place / "nowhere", "INDEX": place / "index"}
    names["WRONG@original"] = f"{names['WRONG']}@original"
    code, messages, heavy = loaded_by(*(names.get(word, word) for word in command.split()))
    assert (code, heavy) == (2, [])
    assert f"{place / 'nowhere'}: no such f" in messages


@pytest.mark.parametrize("option", ["--id-field", "--title-field", "--text-field"])
@pytest.mark.parametrize("command", ["audit", "exposure", "index build --out out"])
def test_a_wrong_column_is_refused_before_heavy_imports(command, option, place):
    corpus = place / "corpus.jsonl"
    code, messages, heavy = loaded_by(*command.split(), "--corpus", corpus, option, "nowhere")
    assert (code, heavy) == (2, [])
    assert f"{corpus}, line 1: no" in messages and "'nowhere'" in messages


@pytest.mark.parametrize("option", [("--nothing", "1"), ("--k", "0"), ("--lambda", "2")])
def test_a_wrong_option_is_refused_before_heavy_imports(option, place):
    code, _, heavy = loaded_by("search", "boats", "--index", place / "index", *option)
    assert (code, heavy) == (2, [])


def test_what_reads_an_index_is_loaded_for_it(place):
    _, _, heavy = loaded_by("search", "boats", "--index", place / "index")
    assert {"lancedb", "pyarrow", "numpy"} <= set(heavy), "else the tests above prove nothing"


def test_the_console_script_is_installed():
    script = Path(sys.executable).parent / "argus"
    result = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60)
    assert result.stdout == f"argus {__version__}\n"


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
