"""Outputs of generative search as retrievers of a suite, and the thesis' tables of them."""

import json

import pyarrow.parquet as pq
import pytest

from argus.generative.failures.analyse import analyse_failures
from argus.suite.job import run_suite
from tests.support.failures import passage

DOCUMENTS = [{"_id": f"d{n}", "title": f"Title {n}", "text": f"Text {n}."} for n in range(4)]
QUESTIONS = {"q1": "Who wrote the first?", "q2": "Who wrote the second?"}
SUITE = """
k = 10
measures = ["nDCG@5"]
headline = "nDCG@5"
[[retrievers]]
name = "SEAL"
output = "{home}/{{task}}-seal.json"
[[retrievers]]
bm25 = true
[[retrievers]]
name = "MINDER"
output = "{home}/{{task}}-minder.json"
[[tasks]]
name = "letters"
task = "beir:{home}/task"
"""


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "task"
    (folder / "qrels").mkdir(parents=True)
    lines(folder / "corpus.jsonl", DOCUMENTS)
    lines(folder / "queries.jsonl", [{"_id": i, "text": text} for i, text in QUESTIONS.items()])
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n", encoding="utf-8"
    )
    return tmp_path


def write(home, name, found, *, ids=True):
    """Write an output. found: documents by question, best first, heaviest key first."""
    records = [
        {
            **({"id": question} if ids else {}), "question": QUESTIONS[question],
            "ctxs": [passage(doc, [" first", 9, 2.0 + n], [" wrote", 5, 1.0])
                     for n, doc in enumerate(documents)],
        }
        for question, documents in found.items()
    ]  # fmt: skip
    (home / f"letters-{name}.json").write_text(json.dumps(records), encoding="utf-8")


@pytest.fixture
def suite(home):
    write(home, "seal", {"q1": ["d1", "d2"], "q2": ["d3", "d2"]})
    write(home, "minder", {"q1": ["d1"], "q2": ["d2", "d0"]}, ids=False)
    file = home / "suite.toml"
    file.write_text(SUITE.format(home=home), encoding="utf-8")
    return file


def measured(result):
    return {
        row["retriever"]: row["measures"].get("nDCG@5")
        for row in result.summary["rows"]
        if row["scope"] == "task"
    }


def test_outputs_are_measured_like_any_retriever(suite, home):
    result = run_suite(suite, out=home / "out")
    values = measured(result)
    assert values["SEAL"] == pytest.approx((1 + 1 / 1.584962500721156) / 2)
    assert values["MINDER"] == 1.0  # its questions have no ids: they go by their words
    write(home, "seal", {"q1": ["d2"], "q2": ["d2"]})
    again = run_suite(suite, out=home / "out")
    assert measured(again)["SEAL"] == 0.5
    assert again.summary["cells"]["kept"] == 2


def test_tables_are_those_of_the_analysis_system_beside_system(suite, home):
    result = run_suite(suite, out=home / "out")
    files = [home / f"letters-{name}.json" for name in ("seal", "minder")]
    alone = analyse_failures(
        files, out=home / "alone",
        queries=home / "task" / "queries.jsonl", qrels=home / "task" / "qrels" / "test.tsv",
    ).summary["systems"]  # fmt: skip
    rows = pq.read_table(home / "out" / "tables" / "thesis-16-outcomes.parquet").to_pylist()
    shown = {(r["retriever"], r["outcome"]): (r["questions"], r["share"]) for r in rows}
    expected = {
        (name, row[0]): (row[1], row[2])
        for name, system in zip(("SEAL", "MINDER"), alone, strict=True)
        for row in system["figures"]["quality"]["t16_outcomes"]["rows"]
    }
    assert shown == expected and {row["task"] for row in rows} == {"letters"}
    assert shown["SEAL", "NP"] == (1, 0.5) and shown["MINDER", "PN"][1] == 1.0
    names = [name for name in result.summary["tables"] if name.startswith("thesis-")]
    assert names == ["thesis-5-ngram-words", "thesis-16-outcomes", "thesis-17-keys"]  # no deciles
    assert (home / "out" / "failures" / "letters-SEAL-MINDER" / "report.html").is_file()
