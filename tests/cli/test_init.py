"""What `argus init` writes is what every command reads."""

import io
import json
import tomllib

import pytest

from tests.cli.conftest import DOCUMENTS
from tests.corpora.conftest import vectors as vectors
from tests.corpora.conftest import wiki2 as wiki2
from tests.support.files import write_pages
from tests.support.stored_corpora import FILLS

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
    ran = argus("init", "--corpus", "docs.jsonl", *JUDGED)
    assert ran.code == 0 and "written: argus.toml" in ran.out
    *_, last = ran.out.splitlines()
    assert last == "next: argus check --config argus.toml"
    for words in (("check",), ("index", "build"), ("evaluate",), ("gate",)):
        ran = argus(*words, "--config", "argus.toml")
        assert ran.code == 0, (words, ran.out, ran.err)
    ran = argus("tune", "list", "--config", "argus.toml")
    assert ran.code == 0
    assert tables(files)["evaluate"]["index"] == ["argus-index@original", "argus-index"]


FOUND = [
    {"nr": i, "blurb": f"{row['text']} It was {i} years ago.", "by": "A. Lovelace"}
    for i, row in enumerate(DOCUMENTS)
]


def write_table(folder, kind):
    import pyarrow as pa
    from pyarrow import csv, parquet

    table, file = pa.Table.from_pylist(FOUND), folder / f"rows.{kind}"
    if kind == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in FOUND))
    else:
        {"csv": csv.write_csv, "parquet": parquet.write_table}[kind](table, str(file))


COLUMNS = {"id-field": "nr", "text-field": "blurb"}


@pytest.mark.parametrize(
    ("kind", "words", "written"),
    [
        ("files", (), {"corpus": "."}),
        ("jsonl", ("--yes",), {"corpus": "rows.jsonl", "coerce-ids": True, **COLUMNS}),
        ("csv", ("rows.csv",), {"corpus": "rows.csv", **COLUMNS}),
        ("parquet", ("--corpus", "rows.parquet"),
         {"corpus": "rows.parquet", "coerce-ids": True, **COLUMNS}),
        ("store", ("sqlite-vec:store/docs.db/docs",),
         {"corpus": "sqlite-vec:store/docs.db/docs", "store": "sqlite-vec:store/docs.db/docs"}),
    ],
)  # fmt: skip
def test_what_is_there_is_found_and_the_next_command_runs(
    kind, words, written, argus, tmp_path, request
):
    if kind == "files":
        write_pages(tmp_path)
    elif kind == "store":
        made = map(request.getfixturevalue, ("wiki2", "vectors"))
        FILLS["sqlite-vec"](tmp_path / "store", *made)
    else:
        write_table(tmp_path, kind)
    ran = argus("init", *words)
    assert ran.code == 0, ran.out + ran.err
    rest = {"encoder": "all-MiniLM-L6-v2", "out": "argus-report"}
    assert tables(tmp_path)["check"] == written | rest
    *_, last = ran.out.splitlines()
    for _ in range(2):  # its own results in the folder are no documents
        ran = argus(*last.removeprefix("next: argus ").split())
        assert ran.code == 0 and "documents; Gini" in ran.out and "verdict: " in ran.out, ran.err


def test_a_column_that_is_not_clear_is_asked_for_once_or_names_its_option(
    argus, tmp_path, monkeypatch
):
    (tmp_path / "t.csv").write_text("key,left,right\n1,a b,c d\n2,e f,g h\n")
    ran = argus("init", "t.csv")
    assert ran.code == 2 and "--text-field" in ran.err and "'left', 'right'" in ran.err
    monkeypatch.setattr("sys.stdin", Terminal("right\n"))
    ran = argus("init", "t.csv", "--no-check")
    assert ran.code == 0 and ran.out.count("Which column") == 1, ran.out + ran.err
    assert (
        tables(tmp_path)["check"] | {"id-field": "key", "text-field": "right"}
        == (tables(tmp_path)["check"])
    )
    monkeypatch.setattr("sys.stdin", Terminal(""))
    (tmp_path / "t.csv").unlink()
    ran = argus("init", "--yes", "--to", "new.toml")
    assert ran.code == 2 and "no documents are named" in ran.err and "--corpus" in ran.err


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
