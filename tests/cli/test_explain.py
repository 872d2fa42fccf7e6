"""`argus explain`: what it prints, --json, options, messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


def test_the_verdict_comes_first_and_every_cause_is_listed(index: Path) -> None:
    result = run("What rises slowly without yeast?", "tides", "--index", index, "--k", 1)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].startswith("tides did not come back (rank ")
    assert max(map(len, lines)) <= 100
    for cause in (
        "not in index", "approximate-search loss", "prefix or pooling mismatch",
        "beyond the window", "lexical gap", "displaced by hubs", "superseded", "low predicted RPS",
    ):  # fmt: skip
        (line,) = [line for line in lines if line.startswith(cause + " ")]
        assert any(state in line for state in ("FOUND", "RULED OUT", "COULD NOT CHECK"))
    assert "<- what a search returns" in next(line for line in lines if line.startswith("dense"))


def test_json_holds_the_whole_structure(index: Path) -> None:
    queries = index.parent / "queries.jsonl"
    result = run("q1", "chess", "--index", f"{index}@original", "--queries", queries, "--json")
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["came_back"] and found["standing"]["rank"] == 1
    assert (found["query_id"], found["query"]) == ("q1", "How do bishops move?")
    assert found["index"].endswith("@original") and found["cause"] is None
    assert len(found["findings"]) == 8
    assert {f["state"] for f in found["findings"]} <= {"found", "ruled out", "could not check"}
    assert all(set(f) == {"cause", "state", "summary", "evidence", "advice", "decisive"}
               for f in found["findings"])  # fmt: skip


def test_a_document_without_text_is_said_to_have_none(index: Path) -> None:
    result = run("anything", "silent", "--index", index)
    assert "without text" in result.output.splitlines()[0]
    assert result.exit_code == 0


def test_near_ids_are_shown_for_an_unknown_document(index: Path) -> None:
    assert "near ids: bread" in run("flour", "braed", "--index", index).output


def test_a_hybrid_search_marks_the_fused_rank(index: Path) -> None:
    output = run("bishops", "chess", "--index", index, "--hybrid", "rrf").output
    (fused,) = [line for line in output.splitlines() if line.startswith("fused (rrf)")]
    assert fused.endswith("<- what a search returns") and "came back: rank 1 by rrf" in output


def test_bad_input_is_refused_with_what_to_do(index: Path, tmp_path: Path) -> None:
    assert "an empty query" in refused("", "bread", "--index", index)
    assert "no such folder" in refused("flour", "bread", "--index", tmp_path / "none")
    assert "is not an index" in refused("flour", "bread", "--index", tmp_path)
    assert "unknown remedy 'r9'" in refused("flour", "bread", "--index", f"{index}@r9")
    assert "no query has the id" in refused(
        "q9", "bread", "--index", index, "--queries", index.parent / "queries.jsonl"
    )
    assert run("flour", "bread", "--index", index, "--tau", 7).exit_code == 2
    broken = tmp_path / "supersedes.tsv"
    broken.write_text("new\told\na\tb\n")
    message = refused("flour", "bread", "--index", index, "--supersedes", broken)
    assert "superseder" in message
    assert run("flour", "bread", "--index", index, "--k", 0).exit_code == 2


def test_a_missing_corpus_is_refused_of_an_indexed_document(index: Path) -> None:
    given = ["What rises slowly?", "bread", "--index", index, "--corpus", index / "none.jsonl"]
    assert "none.jsonl: no such file or folder" in refused(*given)
