"""What `argus init` writes is what every command reads."""

from __future__ import annotations

import io
import json
import tomllib

import pytest

import argus as package
from tests.cli.conftest import DOCUMENTS
from tests.support.stores import sqlite_vec

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
    assert last == "next: argus exposure --config argus.toml"
    for words in (("exposure",), ("index", "build"), ("evaluate",), ("gate",)):
        ran = argus(*words, "--config", "argus.toml")
        assert ran.code == 0, (words, ran.out, ran.err)
    ran = argus("remedy", "list", "--config", "argus.toml")
    assert ran.code == 0
    assert tables(files)["evaluate"]["index"] == ["argus-index@original", "argus-index"]


def test_a_retriever_is_what_the_commands_ask(argus, files):
    ran = argus(
        "init", "--corpus", "docs.jsonl", "--retriever", "search.py:search", *JUDGED,
        "--timeout", 5, "--title-field", "title",
    )  # fmt: skip
    assert ran.code == 0, ran.out
    written = tables(files)
    exposure = written["exposure"]
    assert exposure["retriever"] == "search.py:search" and exposure["timeout"] == 5
    assert exposure["title-field"] == "title"
    assert written["evaluate"]["retriever"] == ["search.py:search"]
    for command in ("exposure", "evaluate", "doctor"):
        assert argus(command, "--config", "argus.toml").code == 0


def test_a_store_is_repaired_where_it_is(argus, files):
    spec = sqlite_vec(files / "store").spec
    ran = argus(
        "init", "--corpus", spec, "--retriever", spec, "--vector-field", "other", "--no-check"
    )
    assert ran.code == 0
    written = tables(files)
    assert written["remedy"]["blend"]["store"] == written["reach"]["store"] == spec
    assert written["remedy"]["blend"]["out"] != written["exposure"]["out"]
    assert written["reach"]["vector-field"] == "other" and "repair" not in written
    ran = argus("reach", "--config", "argus.toml")
    assert ran.code == 2 and "no vector field 'other'" in ran.err  # read, and taken
    ran = argus("init", "--corpus", spec, "--retriever", spec, "--no-check", "--replace")
    for words in (("remedy", "list"), ("reach",)):
        assert argus(*words, "--config", "argus.toml").code == 0


def test_what_does_not_work_is_told_and_written_down(argus, files):
    ran = argus("init", "--corpus", "nowhere.jsonl", "--to", "some/argus.toml")
    assert ran.code == 2 and "nowhere.jsonl: no such file or folder" in ran.out
    assert ran.out.splitlines()[-1] == "next: argus doctor --config some/argus.toml"
    assert tables(files, "some/argus.toml")["exposure"]["corpus"] == "nowhere.jsonl"
    ran = argus("init", "--corpus", "docs.jsonl", "--to", "some/argus.toml", "--json", "--replace")
    assert ran.code == 0 and json.loads(ran.out)["bad"] == 0


def test_a_file_that_is_there_stays(argus, files):
    (files / "argus.toml").write_text("mine = 1\n")
    ran = argus("init", "--corpus", "docs.jsonl")
    assert ran.code == 2 and "argus.toml: is there already" in ran.err
    assert (files / "argus.toml").read_text() == "mine = 1\n"


def test_the_same_again_is_done(argus, files):
    """A run that was killed once its file was written ends well when it is run again."""
    assert argus("init", "--corpus", "docs.jsonl").code == 0
    text = (files / "argus.toml").read_text()
    ran = argus("init", "--corpus", "docs.jsonl")
    assert ran.code == 0 and "written: argus.toml" in ran.out
    ran = argus("init", "--corpus", "docs.jsonl", "--title-field", "name")
    assert ran.code == 2 and (files / "argus.toml").read_text() == text


def test_without_documents_and_terminal_it_says_so(argus, files):
    ran = argus("init")
    assert ran.code == 2 and "no documents are named" in ran.err


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


def test_values_of_every_kind_come_back_as_they_were(files):
    parts = package.ProjectParts(corpus='a "quoted" \\ näme.jsonl')
    config = package.ProjectConfig(to=files / "a.toml", check=False)
    result = package.start_project(parts, encoder="openai:x", config=config)
    assert result.exit_code == 0 and "argus exposure --config" in repr(result)
    assert tables(files, "a.toml")["exposure"]["corpus"] == 'a "quoted" \\ näme.jsonl'


def test_every_table_has_the_fields_that_were_named(argus, files):
    chunks = [{**row, "_id": f"{row['_id']}#0", "source": row["_id"]} for row in DOCUMENTS]
    (files / "chunks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in chunks))
    (files / "search.py").write_text(SEARCH.replace('"d01", "d00"', '"d01#0", "d00#0"'))
    named = ("init", "--corpus", "chunks.jsonl", "--retriever", "search.py:search", *JUDGED)
    ran = argus(*named, "--title-field", "title")
    assert ran.code == 2 and "they judge what the field 'source' names" in ran.out, ran.out
    assert "--parent-field source" in ran.out
    ran = argus(*named, "--title-field", "title", "--parent-field", "source", "--replace")
    assert ran.code == 0, ran.out
    written = tables(files)
    for command in ("doctor", "exposure", "evaluate"):
        assert written[command]["parent-field"] == "source"
        assert written[command]["title-field"] == "title"
        assert argus(command, "--config", "argus.toml").code == 0


def test_the_repair_of_a_store_has_the_fields_that_were_named(argus, files):
    ran = argus(
        "init", "--corpus", "qdrant:kb/docs", "--encoder", "all-MiniLM-L6-v2", "--title-field",
        "heading", "--no-check",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert tables(files)["remedy"]["blend"]["title-field"] == "heading"
