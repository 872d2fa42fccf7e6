"""--engine, --address and --workers, the same on every command that has heavy work."""

import json

import pytest

from argus.cli.main import main
from argus.engine import EngineConfig
from argus.errors import InputError


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    rows = [{"_id": f"d{i}", "title": f"T{i}", "text": f"Text {i}."} for i in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_options_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="'spark'; expected one of local, ray"):
        EngineConfig(name="spark")
    with pytest.raises(InputError, match="for the local engine"):
        EngineConfig(name="local", address="10.0.0.1:6379")


@pytest.mark.parametrize(
    "command",
    [
        ("research", "audit"),
        ("check",),
        ("research", "diagnose", "--mentions", "capitals"),
        ("index", "build"),
    ],
)
def test_an_unknown_engine_is_named_and_nothing_is_written(
    command, corpus, tmp_path, monkeypatch, capsys
):
    out = tmp_path / "out"
    options = ["--corpus", str(corpus), "--out", str(out), "--engine", "dask"]
    monkeypatch.setattr("sys.argv", ["argus", *command, *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "--engine: 'dask'; expected one of local, ray" in capsys.readouterr().err
    assert not out.exists()
