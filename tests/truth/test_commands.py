"""Every command that Argus prints is run as it is printed."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import argus
from argus.evaluation.config import ChunkedCorpus
from argus.service.app import create_app
from argus.service.workplace import open_workplace
from argus.verdict.results import Results
from tests.support.chunks import write_part
from tests.support.payloads import write_payloads
from tests.support.printed import (
    CAPITALS,
    SAID,
    UNTRIED,
    check,
    printed_in,
    run,
    run_all,
    served,
    told_of,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
FIELDS = "--id-field chunk_ref --text-field payload.body --title-field payload.name"
LEFT_OUT = (*UNTRIED, "argus serve")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a space in its name, and chunks whose fields lie deep."""
    home = tmp_path / "my project"
    write_part(home, questions=6, others=6)
    shutil.copytree(EXAMPLES / "policies", home / "policies")
    rows = [json.loads(line) for line in (home / "chunks.jsonl").read_text("utf-8").splitlines()]
    deep = [
        {"chunk_ref": row["id"],
         "payload": {"name": row["metadata"]["title"], "body": row["text"],
                     "doc": {"id": row["metadata"]["module"]}}}
        for row in rows
    ]  # fmt: skip
    (home / "chunks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in deep), "utf-8")
    monkeypatch.chdir(home)
    return home


def test_what_a_run_over_deep_fields_prints_runs(project):
    said = {**SAID, "QUERIES": "questions.jsonl", "QRELS": "qrels.tsv", "LOG": "questions.jsonl"}
    first = run(f"argus check --corpus chunks.jsonl {FIELDS} --parent-field payload.doc.id "
                "--out 'the report'")  # fmt: skip
    lines = [line for line in told_of("the report") if not line.startswith(LEFT_OUT)]
    assert sum("--id-field chunk_ref" in line for line in lines) > 3
    assert set(printed_in(first)) <= {*lines, *told_of("the report")}
    run_all(lines, said)
    run("argus tune try --index 'the report/index' --queries questions.jsonl --qrels qrels.tsv")
    later = told_of("the report")
    known = {"QUERIES", "QRELS", "CORPUS"}
    assert [line for line in later if known & set(CAPITALS.findall(line))] == []
    later += served("the report/index")
    run_all([line for line in later if not line.startswith(LEFT_OUT)], said)


@pytest.fixture
def deep_store(project, minilm):
    """A local Qdrant whose payloads are the rows."""
    rows = [json.loads(line) for line in Path("chunks.jsonl").read_text("utf-8").splitlines()]
    texts = [f"{row['payload']['name']} {row['payload']['body']}" for row in rows]
    return write_payloads("store", rows, minilm.encode_documents(texts))


def test_what_the_runs_of_a_project_over_a_store_print_runs(deep_store):
    outputs = [run(f"argus init --no-check --corpus {deep_store} {FIELDS} --parent-field "
                   "payload.doc.id --queries questions.jsonl --qrels qrels.tsv")]  # fmt: skip
    outputs += [run("argus check --config argus.toml")]
    outputs.append(run("argus tune apply blend --config argus.toml"))
    assert any("tune undo" in line for line in printed_in(outputs[-1]))
    check(outputs, {**SAID, "LOG": "questions.jsonl"}, "argus serve")


def test_a_moved_and_a_copied_folder_print_commands_that_run_from_there(tmp_path, monkeypatch):
    home = tmp_path / "first"
    write_part(home)
    monkeypatch.chdir(home)
    run("argus index build --corpus chunks.jsonl --title-field metadata.title --out report/index")
    run("argus evaluate --index report/index --queries questions.jsonl --qrels qrels.tsv "
        "--out report")  # fmt: skip
    copied = tmp_path / "elsewhere" / "copy"
    shutil.copytree("report", copied)
    monkeypatch.chdir(tmp_path / "elsewhere")
    lines = [action.command for action in argus.read_verdict("copy").actions]
    blend = next(line for line in lines if "tune try" in line)
    assert blend.startswith(f"argus tune try --index {home}/report/index --queries {home}")
    run(blend)
    results = Results.of(Path("copy"))
    assert results.queries == str(home / "questions.jsonl")
    run(results.evaluating)
    home.rename(tmp_path / "second")
    monkeypatch.chdir(tmp_path / "second")
    results = Results.of(Path("report"))
    assert results.queries == "questions.jsonl" and results.index == "report/index"
    run(results.evaluating)


def test_init_has_the_page_and_explain_ask_the_retriever_that_runs(tmp_path, monkeypatch):
    write_part(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    Path("search.py").write_text("def found(query, k):\n    return ['argparse#0'][:k]\n", "utf-8")
    run("argus init --no-check --corpus data/chunks.jsonl --title-field metadata.title "
        "--retriever search.py:found")  # fmt: skip
    run("argus index build --corpus data/chunks.jsonl --out argus-report")  # an index lies there
    explained = run("argus explain 'deep copy' copy.deepcopy#0 --config argus.toml --json")
    assert "search.py:found" in explained
    settings = tomllib.loads(Path("argus.toml").read_text("utf-8"))
    assert settings["serve"]["retriever"] == settings["explain"]["retriever"] == "search.py:found"
    place = open_workplace(
        [Path("argus-report")],
        retriever="search.py:found",
        chunks=ChunkedCorpus(corpus="data/chunks.jsonl"),
    )
    with TestClient(create_app(place), base_url="http://127.0.0.1") as client:
        question = {"q": "deep copy", "doc": "copy.deepcopy#0"}
        page = client.get("/page/argus-report/why-not", params=question)
    assert "search.py:found" in page.text and "argparse#0" in page.text
