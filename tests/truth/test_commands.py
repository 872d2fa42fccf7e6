"""Every command that Argus prints is run as it is printed."""

import html
import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import argus
from argus.cli.main import app
from argus.evaluation.config import ChunkedCorpus
from argus.service.app import create_app
from argus.service.workplace import open_workplace
from argus.verdict.reading import Results
from tests.support.served import service

EXAMPLES = Path(__file__).parents[2] / "examples"
FIELDS = "--id-field chunk_ref --text-field payload.body --title-field payload.name"
PAGES = ("overview", "why-not", "documents", "questions", "repairs", "authority", "compare",
         "generative", "map")  # fmt: skip
LINE = re.compile(r"(?:^| )(argus [a-z]+ .*)$")
SHOWN = re.compile(r'<div class="copy"><code>(.*?)</code>', re.DOTALL)
CAPITALS = re.compile(r"\b[A-Z]{2,}\b")


def run(line):
    """Run a line of commands in process; return what it prints."""
    printed = ""
    for part in line.split(" && "):
        words = shlex.split(part)
        assert words[0] == "argus", line
        if words[1] == "serve":
            with service(*words[2:]):
                continue
        ran = CliRunner().invoke(app, words[1:])
        gated = words[1] == "gate" and "verdict: " in ran.output  # of few pairs it says so
        assert ran.exit_code == 0 or gated, (line, ran.output, ran.exception)
        printed += ran.output
    return printed


def printed_in(output):
    """Return the commands among printed lines."""
    return [found[1] for line in output.splitlines() if (found := LINE.search(line))]


def told_of(folder):
    """Return the commands of a folder's verdict, of its report and of its pages."""
    verdict = argus.read_verdict(folder)
    lines = [one.command for one in (*verdict.counts, *verdict.actions) if one.command]
    return [*lines, *served(folder)]


def served(*folders, **settings):
    """Return the commands of all pages of a service over folders."""
    place = open_workplace([Path(folder) for folder in folders], **settings)
    names = [one.name for one in place.results] or ["-"]
    lines = []
    with TestClient(create_app(place), base_url="http://127.0.0.1") as client:
        for page in (f"/page/{name}/{tab}" for name in names for tab in PAGES):
            answer = client.get(page, headers={"accept": "text/html"})
            assert answer.status_code == 200, (page, answer.text)
            lines += [html.unescape(shown) for shown in SHOWN.findall(answer.text)]
    return lines


def run_all(lines, said):
    """Run every command once, where a word in capitals is what a person says.

    said: these words, and no other may be left for a person to say.
    """
    printed = []
    for part in dict.fromkeys(part for line in lines for part in line.split(" && ")):
        assert set(CAPITALS.findall(part)) <= said.keys(), part
        if part.startswith("argus gate NEW --against "):
            shutil.copytree(shlex.split(part)[-1], said["NEW"], dirs_exist_ok=True)
        printed += printed_in(run(CAPITALS.sub(lambda word: said[word[0]], part)))
    return printed


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a space in its name, and chunks whose fields lie deep."""
    home = tmp_path / "my project"
    shutil.copytree(EXAMPLES / "data", home)
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


SAID = {
    "RECORDS": "policies/policies.jsonl", "RULES": "policies/rules.yaml", "MODEL": "any",
    "URL": "http://127.0.0.1:9/v1", "NEW": "baseline", "WORDS": "copy", "QUESTION": "cost",
    "OTHER": "other",
}  # fmt: skip
"""What is known to the person alone who reads the command."""
UNTRIED = ("argus reach STORE", "argus audit", "argus generative", "argus serve")
"""Commands of parts that this project has not: a store, relations, a model that writes n-grams."""


def test_what_a_run_over_deep_fields_prints_runs(project):
    said = {**SAID, "QUERIES": "questions.jsonl", "QRELS": "qrels.tsv", "LOG": "questions.jsonl"}
    first = run(f"argus exposure --corpus chunks.jsonl {FIELDS} --parent-field payload.doc.id "
                "--out 'the report'")  # fmt: skip
    lines = [line for line in told_of("the report") if not line.startswith(UNTRIED)]
    assert sum("--id-field chunk_ref" in line for line in lines) > 3
    assert set(printed_in(first)) <= {*lines, *told_of("the report")}
    run_all(lines, said)
    run("argus repair --index 'the report/index' --queries questions.jsonl --qrels qrels.tsv")
    later = told_of("the report")
    known = {"QUERIES", "QRELS", "CORPUS"}
    assert [line for line in later if known & set(CAPITALS.findall(line))] == []
    later += served("the report/index")
    run_all([line for line in later if not line.startswith(UNTRIED)], said)


@pytest.fixture
def deep_store(project):
    """A local Qdrant whose payloads are the rows."""
    from qdrant_client import QdrantClient, models

    from argus.encoders import load_encoder
    from argus.encoders.config import EncoderConfig

    rows = [json.loads(line) for line in Path("chunks.jsonl").read_text("utf-8").splitlines()]
    encoder = load_encoder(EncoderConfig(precision="float32")).encoder
    texts = [f"{row['payload']['name']} {row['payload']['body']}" for row in rows]
    client = QdrantClient(path="store")
    size = models.VectorParams(size=encoder.dim, distance=models.Distance.COSINE)
    client.create_collection("docs", vectors_config=size)
    vectors = encoder.encode_documents(texts)
    client.upsert("docs", [
        models.PointStruct(id=i, vector=vector.tolist(), payload=row)
        for i, (vector, row) in enumerate(zip(vectors, rows, strict=True))
    ])  # fmt: skip
    client.close()
    return "qdrant:store/docs"


def test_what_the_runs_of_a_project_over_a_store_print_runs(deep_store):
    lines = printed_in(
        run(
            f"argus init --no-check --corpus {deep_store} {FIELDS} --parent-field "
            "payload.doc.id --queries questions.jsonl --qrels qrels.tsv"
        )
    )
    for job in ("reach", "exposure", "remedy blend"):
        lines += printed_in(run(f"argus {job} --config argus.toml"))
        lines += told_of("argus-blended" if job == "remedy blend" else "argus-report")
    undo = [line for line in lines if "rollback" in line]
    assert undo
    lines = [line for line in lines if not line.startswith(UNTRIED) and line not in undo]
    run_all([*lines, *undo], {**SAID, "LOG": "questions.jsonl"})


def test_a_moved_and_a_copied_folder_print_commands_that_run_from_there(tmp_path, monkeypatch):
    home = tmp_path / "first"
    shutil.copytree(EXAMPLES / "data", home)
    monkeypatch.chdir(home)
    run("argus index build --corpus chunks.jsonl --title-field metadata.title --out report/index")
    run("argus evaluate --index report/index --queries questions.jsonl --qrels qrels.tsv "
        "--out report")  # fmt: skip
    copied = tmp_path / "elsewhere" / "copy"
    shutil.copytree("report", copied)
    monkeypatch.chdir(tmp_path / "elsewhere")
    lines = [action.command for action in argus.read_verdict("copy").actions]
    blend = next(line for line in lines if "remedy blend" in line)
    assert blend == "argus remedy blend --index copy/index"
    run(blend)
    places = Results.of(Path("copy")).places
    assert places.queries == str(home / "questions.jsonl")
    run(places.evaluating)
    home.rename(tmp_path / "second")
    monkeypatch.chdir(tmp_path / "second")
    places = Results.of(Path("report")).places
    assert places.queries == "questions.jsonl" and places.index == "report/index"
    run(places.evaluating)


def test_init_has_the_page_and_explain_ask_the_retriever_that_runs(tmp_path, monkeypatch):
    shutil.copytree(EXAMPLES / "data", tmp_path / "data")
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


def test_init_sends_what_is_measured_to_one_folder(tmp_path, monkeypatch):
    shutil.copytree(EXAMPLES / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    run("argus init --no-check --corpus data/chunks.jsonl --title-field metadata.title "
        "--queries data/questions.jsonl --qrels data/qrels.tsv")  # fmt: skip
    for job in ("index build", "exposure", "evaluate"):
        run(f"argus {job} --config argus.toml")
    counts = {count.name: count.total for count in argus.read_verdict("argus-report").counts}
    assert counts["by_its_words"] > 0 and counts["by_need"] == 38
