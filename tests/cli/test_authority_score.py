"""`argus authority score` and `generate`: what they print and write, and how they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner, Result

from argus.cli.authority import generate, score
from argus.errors import ArgusError, InputError
from tests.support.tasks import FINSUPERQA, lines

app = typer.Typer()
app.command()(score)
app.command()(generate)

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
    return CliRunner().invoke(app, list(map(str, arguments)))


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


def test_all_lexical_systems_are_one_table_with_intervals(folder) -> None:
    ran = lexical(folder)
    assert ran.exit_code == 0, ran.output
    assert "bench: 2 questions over 4 documents, k=5; TCA by theorem 4" in ran.output
    lines = {line.split()[0]: line for line in ran.output.splitlines() if line.strip()}
    assert lines["bm25"].split()[1:4] == ["0.000", "[0.000,", "0.658]"]
    assert lines["two-stage-bm25"].split()[1:4] == ["1.000", "[0.342,", "1.000]"]
    assert "dense" not in lines
    assert "report: out/report.html" in ran.output


def test_per_question_results_and_summary_are_written(folder) -> None:
    lexical(folder, "--system", "two-stage-bm25", "--system", "bm25")
    rows = pq.read_table("out/authority_questions.parquet").to_pylist()
    assert [(r["system"], r["question_id"], r["tca"]) for r in rows] == [
        ("bm25", "q1", False), ("bm25", "q2", False),
        ("two-stage-bm25", "q1", True), ("two-stage-bm25", "q2", True),
    ]  # fmt: skip
    assert rows[2]["served"].split("; ")[0] == "p1"
    assert (rows[0]["answer_correct"], rows[0]["event_anchor"]) == (None, None)
    assert (rows[2]["event_anchor"], rows[2]["event_frontier"]) == (True, True)
    assert Path("out/authority_questions.csv").read_text().count("\n") == 5
    summary = json.loads(Path("out/summary.json").read_text())["scoring"]
    assert summary["benchmark"]["gold_superseded"] == 0
    assert [s["name"] for s in summary["systems"]] == ["bm25", "two-stage-bm25"]
    assert summary["systems"][1]["factors"]["product"] == 1.0
    manifest = json.loads(Path("out/manifest.json").read_text())["scoring"]
    assert manifest["inputs"].keys() == {"corpus", "queries"}
    assert manifest["config"]["k"] == 5
    assert manifest["counts"] == {"questions": 2, "systems": 2}


def test_json_is_the_summary(folder) -> None:
    ran = lexical(folder, "--system", "bm25", "--json")
    found = json.loads(ran.output)
    assert found == json.loads(Path("out/summary.json").read_text())["scoring"]
    assert found["encoder"] == "no-encoder"


def test_failures_of_ones_own_retriever_are_counted(folder, tmp_path) -> None:
    (tmp_path / "mine.py").write_text(RETRIEVER)
    ran = lexical(folder, "--retriever", "mine.py")
    assert ran.exit_code == 0, ran.output
    inputs = json.loads(Path("out/manifest.json").read_text())["scoring"]["inputs"]
    assert inputs["retriever"]["file"] == "mine.py"
    expected = "Mine: 1 of 2 questions failed, 1 because: raised LookupError: index is cold"
    assert expected in ran.output
    rows = pq.read_table("out/authority_questions.parquet").to_pylist()
    assert [(r["state"], r["tca"], r["controlling_hit"]) for r in rows] == [
        ("measured", True, True), ("failed", None, None),
    ]  # fmt: skip


def test_a_retriever_that_always_fails_leaves_no_folder(folder, tmp_path) -> None:
    (tmp_path / "mine.py").write_text(RETRIEVER.replace('"image" in query', "True"))
    ran = lexical(folder, "--retriever", "mine.py")
    assert isinstance(ran.exception, ArgusError)
    assert "All 2 questions failed; the first: raised LookupError" in str(ran.exception)
    assert not Path("out").exists()


def test_other_questions_of_the_folder(folder) -> None:
    (folder / "short.jsonl").write_text(json.dumps(QUERIES[1]) + "\n")
    ran = lexical(folder, "--queries", "short.jsonl", "--system", "bm25")
    assert "bench: 1 questions" in ran.output
    ran = lexical(folder, "--queries", folder / "short.jsonl", "--system", "bm25")
    assert "bench: 1 questions" in ran.output


def test_an_encoder_brings_the_dense_systems(folder) -> None:
    options = ("score", "--benchmark", folder, "--out", "out", "--precision", "float32")
    systems = ("--system", "dense", "--system", "two-stage-hybrid")
    ran = run(*options, *systems)
    assert ran.exit_code == 0, ran.output
    assert Path("out/embeddings/store.json").is_file()
    summary = json.loads(Path("out/summary.json").read_text())["scoring"]
    assert "all-MiniLM-L6-v2" in summary["encoder"]
    assert summary["systems"][1]["overall"]["tca"]["value"] == 1.0


def test_what_cannot_be_scored_is_refused_and_nothing_written(folder, tmp_path) -> None:
    (tmp_path / "mine.py").write_text(RETRIEVER)
    base = ("score", "--out", "out", "--encoder", "none", "--benchmark")
    assert "no benchmark or folder 'finqa'" in refused(*base, "finqa")
    assert "system 'bm52'" in refused(*base, folder, "--system", "bm52")
    assert "dense has no encoder" in refused(*base, folder, "--system", "dense")
    both = refused(*base, folder, "--system", "bm25", "--retriever", "mine.py")
    assert "--retriever with --system" in both
    assert "read from a folder" in refused(*base, folder, "--contaminated")
    assert "no such file" in refused(*base, folder, "--queries", "other.jsonl")
    assert "has its own" in refused(*base, "finsuperqa", "--queries", "other.jsonl")
    assert "no such file" in refused(*base, folder, "--retriever", "gone.py")
    assert not Path("out").exists()


def test_answers_that_nothing_derives_are_refused(folder) -> None:
    rows = [q | {"answer": "mended", "scope": {"id": "1"}} for q in QUERIES]
    (folder / "queries.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    message = refused("score", "--benchmark", folder, "--out", "out", "--encoder", "none")
    assert "question 'q1' has an answer, and the scope {'id': '1'}" in message
    assert "expected a scope with employee and ticker" in message


def test_a_written_benchmark_is_scored_as_one_in_memory(folder) -> None:
    ran = run("generate", "cvepatchqa", "--out", "made", "--seed", "4")
    assert ran.exit_code == 0, ran.output
    assert "benchmark: made" in ran.output
    systems = ("--encoder", "none", "--system", "bm25", "--system", "two-stage-bm25", "--json")
    read = json.loads(run("score", "--benchmark", "made", "--out", "a", *systems).output)
    made = json.loads(
        run("score", "--benchmark", "cvepatchqa", "--seed", "4", "--out", "b", *systems).output
    )
    assert read["systems"] == made["systems"]
    assert read["systems"][0]["hops"]["T1"]["tca"]["value"] == 0.0


def test_an_unknown_benchmark_is_not_made(folder) -> None:
    message = refused("generate", "finqa", "--out", "made")
    assert "benchmark 'finqa'; expected one of finsuperqa, cvepatchqa, legalprecedentqa" in message
    assert not Path("made").exists()


def test_hop_type_is_read_like_hop(folder) -> None:
    rows = [q | {"hop_type": f"T{i}"} for i, q in enumerate(QUERIES)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    ran = lexical(folder, "--system", "bm25", "--json")
    assert list(json.loads(ran.output)["systems"][0]["hops"]) == ["T0", "T1"]


def test_an_answer_without_scope_is_judged_by_theorem_4(folder) -> None:
    rows = [QUERIES[0] | {"answer": "mended"}, QUERIES[1]]
    (folder / "queries.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    ran = lexical(folder, "--system", "two-stage-bm25")
    assert "TCA by theorem 4\nquestions with an answer and no scope" in ran.output
    summary = json.loads(Path("out/summary.json").read_text())["scoring"]
    assert summary["benchmark"]["answers_without_scope"] == 1
    assert summary["tca_by"] == {"theorem 4": 2}
    assert summary["systems"][0]["overall"]["tca"]["value"] == 1.0
    row = pq.read_table("out/authority_questions.parquet").to_pylist()[0]
    assert (row["answer_correct"], row["gold_answer"]) == (None, "mended")


CAR = """
import argus
class Words:
    def __init__(self, corpus):
        self.texts = {d["doc_id"]: set(d["text"].split()) for d in corpus}
    def retrieve(self, query, corpus, k):
        words = set(query.replace("?", "").split())
        return sorted(self.texts, key=lambda i: (-len(words & self.texts[i]), i))
class Retriever(argus.AuthorityRetriever):
    def __init__(self, corpus):
        records = [argus.Record(d["doc_id"], d["event_type"], scope=d["entities"]) for d in corpus]
        rule = argus.Rule("patch", "flaw", "id", order="type")
        super().__init__(Words(corpus), argus.Authority(records, [rule]))
"""


def test_cars_interface_is_scored_bare_and_wrapped(folder, tmp_path) -> None:
    (tmp_path / "car.py").write_text(CAR)
    bare = json.loads(lexical(folder, "--retriever", "car.py:Words", "--k", "1", "--json").output)
    ran = lexical(folder, "--retriever", "car.py", "--k", "1")
    assert "authority(Words)  1.000" in ran.output
    wrapped = json.loads(Path("out/summary.json").read_text())["scoring"]
    assert [s["systems"][0]["overall"]["tca"]["value"] for s in (bare, wrapped)] == [0.0, 1.0]
    assert bare["systems"][0]["questions"]["longer"] == 2
    assert "Words: 2 lists were longer" not in ran.output


def test_ceilings_and_the_score_on_decidable_questions(folder) -> None:
    rows = [*QUERIES, QUERIES[1] | {"_id": "q3", "gold": ["p1"], "anchor": ["f1"]}]
    (folder / "queries.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    ran = lexical(folder, "--system", "oracle", "--k", "1")
    assert "ceilings of hit@1: 0.667 by duplicate questions (2 share their text)" in ran.output
    assert "on the 1 decidable questions" in ran.output
    summary = json.loads(Path("out/summary.json").read_text())["scoring"]
    assert summary["ceilings"]["both"] == pytest.approx(2 / 3)
    assert summary["systems"][0]["decidable"]["tca"]["n"] == 1


def test_a_released_file_is_scored_by_its_command(tmp_path):
    finsuperqa = lines(tmp_path / "finsuperqa_v1.jsonl", *FINSUPERQA)
    (tmp_path / "finsuperqa_test_ids.txt").write_text("fba01b1c-8c7\n")
    command = ["score", "--encoder", "none", "--system", "oracle"]
    for name in (str(finsuperqa), f"car:{finsuperqa},split=test"):
        out = tmp_path / f"scores-{len(name)}"
        result = run(*command, "--benchmark", name, "--out", out)
        assert result.exit_code == 0, result.output
        inputs = json.loads((out / "manifest.json").read_text())["scoring"]["inputs"]
        assert inputs["corpus"]["file"] == str(finsuperqa)
        assert "1.000" in result.output
    refused = run(*command, "--benchmark", f"car:{finsuperqa}", "--queries", "q.jsonl")
    assert isinstance(refused.exception, InputError) and "has its own" in str(refused.exception)
