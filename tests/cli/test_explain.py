"""`argus explain`: what it prints, --json, options, messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from argus.cli.main import app
from argus.encoders import EncoderConfig
from argus.errors import ArgusError
from argus.indexes.job import build_index

TEXTS = {
    "bread": "Sourdough rises slowly. Flour, water and salt are all it needs.",
    "tides": "The moon pulls the oceans. Harbours fill and empty with it.",
    "chess": "Bishops move along diagonals. The game ends with the king.",
    "silent": "",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("explain")
    rows = [json.dumps({"_id": id_, "text": text}) + "\n" for id_, text in TEXTS.items()]
    (root / "corpus.jsonl").write_text("".join(rows))
    (root / "queries.jsonl").write_text('{"_id": "q1", "text": "How do bishops move?"}\n')
    encoder = EncoderConfig(precision="float32")
    build_index(root / "corpus.jsonl", out=root / "idx", encoder=encoder)
    return root / "idx"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["explain", *map(str, arguments)])


def refused(*arguments: object) -> str:
    """Return the message of the error that `argus` prints before it exits 2."""
    result = run(*arguments)
    assert isinstance(result.exception, ArgusError), result.output
    return str(result.exception)


def test_bad_input_is_refused_with_what_to_do(index: Path, tmp_path: Path) -> None:
    assert "an empty query" in refused("", "bread", "--index", index)
    assert "no such folder" in refused("flour", "bread", "--index", tmp_path / "none")
    assert "is not an index" in refused("flour", "bread", "--index", tmp_path)
    assert "unknown remedy 'r9'" in refused("flour", "bread", "--index", f"{index}@r9")
    assert "no query has the id" in refused(
        "q9", "bread", "--index", index, "--queries", index.parent / "queries.jsonl"
    )
    broken = tmp_path / "supersedes.tsv"
    broken.write_text("new\told\na\tb\n")
    message = refused("flour", "bread", "--index", index, "--supersedes", broken)
    assert "superseder" in message
    assert run("flour", "bread", "--index", index, "--k", 0).exit_code == 2
