"""What `argus init` writes is what every command reads."""

from __future__ import annotations

import io
import json
import tomllib

import pytest

from tests.cli.conftest import DOCUMENTS

SEARCH = 'def search(query, k):\n    return ["d01", "d00"]\n'


@pytest.fixture
def files(tmp_path):
    rows = "".join(json.dumps(row) + "\n" for row in DOCUMENTS)
    (tmp_path / "docs.jsonl").write_text(rows)
    (tmp_path / "search.py").write_text(SEARCH)
    (tmp_path / "q.jsonl").write_text('{"_id": "q", "text": "who wrote the notes?"}\n')
    (tmp_path / "q.tsv").write_text("query-id\tcorpus-id\tscore\nq\td00\t1\n")
    return tmp_path


JUDGED = ("--queries", "q.jsonl", "--qrels", "q.tsv")


def tables(folder, name="argus.toml"):
    return tomllib.loads((folder / name).read_text())


def test_the_commands_it_names_run(argus, files):
    ran = argus("init", "--corpus", "docs.jsonl", *JUDGED, "--precision", "float32")
    assert ran.code == 0 and "written: argus.toml" in ran.out
    *_, last = ran.out.splitlines()
    assert last == "next: argus check --config argus.toml"
    for words in (("check",), ("index", "build"), ("evaluate",), ("gate",)):
        ran = argus(*words, "--config", "argus.toml")
        assert ran.code == 0, (words, ran.out, ran.err)
    ran = argus("tune", "list", "--config", "argus.toml")
    assert ran.code == 0
    assert tables(files)["evaluate"]["index"] == ["argus-index@original", "argus-index"]


def test_a_file_that_is_there_stays(argus, files):
    (files / "argus.toml").write_text("mine = 1\n")
    ran = argus("init", "--corpus", "docs.jsonl")
    assert ran.code == 2 and "argus.toml: is there already" in ran.err
    assert (files / "argus.toml").read_text() == "mine = 1\n"


class Terminal(io.StringIO):
    """What a person types."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("typed", "retriever", "encoder", "queries"),
    [
        ("docs.jsonl\n\n\n", None, "all-MiniLM-L6-v2", None),
        ("docs.jsonl\nopenai:small\n\n", None, "openai:small", None),
        ("docs.jsonl\nsearch.py:search\nq.jsonl\nq.tsv\n", "search.py:search",
         "all-MiniLM-L6-v2", "q.jsonl"),
        ("chroma:store/docs\n\nBAAI/bge-m3\nq.jsonl\n\n", "chroma:store/docs", "BAAI/bge-m3",
         "q.jsonl"),
    ],
)  # fmt: skip
def test_three_questions_at_a_terminal(
    argus, files, monkeypatch, typed, retriever, encoder, queries
):
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    ran = argus("init", "--no-check")
    assert ran.code == 0, ran.out + ran.err
    assert "Where are the documents?" in ran.out and "What searches them?" in ran.out
    written = tables(files)["doctor"]
    assert written["corpus"] == typed.partition("\n")[0]
    assert written.get("retriever") == retriever and written["encoder"] == encoder
    assert written.get("queries") == queries
