"""`research authority score` and `generate`: what they print and write, and how they refuse."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from argus.cli.main import app
from argus.errors import InputError

CORPUS = [
    {"_id": "f1", "type": "flaw", "timestamp": "2024-01-01", "entities": {"id": "1"},
     "title": "", "text": "path traversal in the archive reader"},
    {"_id": "p1", "type": "patch", "timestamp": "2024-02-01", "entities": {"id": "1"},
     "title": "", "text": "version two is out"},
    {"_id": "f2", "type": "flaw", "timestamp": "2024-01-03", "entities": {"id": "2"},
     "title": "", "text": "overflow in the image viewer"},
    {"_id": "p2", "type": "patch", "timestamp": "2024-02-03", "entities": {"id": "2"},
     "title": "", "text": "release nine"},
]  # fmt: skip
QUERIES = [
    {"_id": "q1", "text": "Is the path traversal mended?", "gold": ["p1"], "anchor": ["f1"]},
    {"_id": "q2", "text": "Is the image overflow mended?", "gold": ["p2"], "anchor": ["f2"]},
]
EDGES = [{"superseder": "p1", "superseded": "f1"}, {"superseder": "p2", "superseded": "f2"}]
RETRIEVER = """
class Mine:
    def retrieve(self, query, corpus, k):
        if "image" in query:
            raise LookupError("index is cold")
        return ["f1", "p1"]
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["research", "authority", *map(str, arguments)])


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bench"
    path.mkdir()
    for name, rows in (("corpus", CORPUS), ("queries", QUERIES), ("supersedes", EDGES)):
        (path / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def lexical(folder: Path, *arguments: object) -> Result:
    return run(
        "score", "--benchmark", folder, "--out", "out", "--encoder", "none", *arguments
    )  # fmt: skip


def test_failures_of_ones_own_retriever_are_counted(folder, tmp_path) -> None:
    (tmp_path / "mine.py").write_text(RETRIEVER)
    ran = lexical(folder, "--retriever", "mine.py")
    assert ran.exit_code == 0, ran.output
    inputs = json.loads(Path("out/manifest.json").read_text())["scoring"]["inputs"]
    assert inputs["retriever"]["file"] == "mine.py"
    expected = "mine.py: 1 of 2 questions failed, 1 because: raised LookupError: index is cold"
    assert expected in ran.output
    rows = pq.read_table("out/authority_questions.parquet").to_pylist()
    assert [(r["state"], r["tca"], r["controlling_hit"]) for r in rows] == [
        ("measured", True, True), ("failed", None, None),
    ]  # fmt: skip


def test_what_cannot_be_scored_is_refused_and_nothing_written(folder, tmp_path) -> None:
    (tmp_path / "mine.py").write_text(RETRIEVER)
    base = ("score", "--out", "out", "--encoder", "none", "--benchmark")
    assert "no benchmark or folder 'finqa'" in refused(*base, "finqa")
    assert "system 'bm52'" in refused(*base, folder, "--system", "bm52")
    assert "dense has no encoder" in refused(*base, folder, "--system", "dense")
    both = refused(*base, folder, "--system", "bm25", "--retriever", "mine.py")
    assert "--retriever with --system" in both
    assert "--contaminated with a folder" in refused(*base, folder, "--contaminated")
    assert "no such file" in refused(*base, folder, "--queries", "other.jsonl")
    assert "that has its own" in refused(*base, "finsuperqa", "--queries", "other.jsonl")
    assert "no such file" in refused(*base, folder, "--retriever", "gone.py")
    assert not Path("out").exists()
