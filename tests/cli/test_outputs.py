"""What Ctrl-C says: where a command writes, and that one that only reads keeps nothing."""

import pytest

from argus.cli import signatures
from argus.cli.signatures import INTERRUPTED

EXPAND = "tune apply expand --index i --kb kb"

LINT = "authority lint a.run --records r"
WRITING = [
    ("research audit --corpus c", "argus-out"),
    ("index build --corpus c --out i", "i"),
    ("research kb build --pages p --out kb", "kb"),
    (f"{EXPAND} --out receipt", "i and receipt"),
    (f"{LINT} --out a", "a"),
]


@pytest.fixture
def interrupted(argus, monkeypatch):
    """Return what a command says that is stopped as it begins to read."""

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(signatures, "check_inputs", stop)

    def run(line):
        result = argus(*line.split())
        assert result.code == INTERRUPTED, result.err
        return result.err

    return run


@pytest.mark.parametrize(("line", "home"), WRITING)
def test_ctrl_c_names_where_a_command_writes(interrupted, line, home):
    assert f"kept in {home}: the same command goes on" in interrupted(line)
