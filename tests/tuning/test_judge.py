"""`argus tune judge` on the examples' documents: drawn, pooled, judged, decided, and tried."""

import csv
import json
import shlex
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from argus.cli.main import app
from argus.data.runs import read_qrels
from argus.encoders import EncoderConfig
from argus.errors import InputError
from argus.indexes.job import build_index
from argus.llm import ChatConfig
from argus.measures import evaluate
from argus.service.app import create_app
from argus.service.workplace import open_workplace
from argus.traffic.judging import LiveJudging
from argus.tuning.arms import BM25, FUSION_ARMS, MINE, VECTORS
from argus.tuning.decide import compare_arms, recommend
from argus.tuning.judge import AS_IS, describe_decision, judge_pool, read_questions
from tests.conftest import Endpoint, serving
from tests.support.words import ByWords

DATA = Path(__file__).parents[2] / "examples" / "data"
QUESTIONS = DATA / "questions.jsonl"
ARMS = {MINE, VECTORS, BM25, *FUSION_ARMS}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged") / "ix"
    build_index(DATA / "chunks.jsonl", out=folder, encoder=EncoderConfig())
    return folder


@pytest.fixture(scope="module")
def known():
    """The grades of the examples, by the words of a question."""
    grades = read_qrels(DATA / "qrels.tsv")
    rows = map(json.loads, QUESTIONS.read_text().splitlines())
    return {row["text"]: grades[row["_id"]] for row in rows}


def judge(index, out, encoder, **options):
    return judge_pool(index, queries=QUESTIONS, out=out, encoder=encoder, **options)


def fill(path, known, n):
    """Grade all documents of the first n questions of a table as they are known."""
    with path.open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file, dialect="excel-tab"))
    first = list(dict.fromkeys(row["question_id"] for row in rows))[:n]
    for row in rows:
        if row["question_id"] in first:
            row["grade"] = known[row["question"]].get(row["document_id"], 0)
    with path.open("w", encoding="utf-8-sig") as file:
        table = csv.DictWriter(file, list(rows[0]), dialect="excel-tab")
        table.writeheader()
        table.writerows(rows)


def test_questions_are_pooled_judged_and_decided(index, minilm, known, tmp_path):
    out = tmp_path / "my judged"
    drawn = judge(index, out, minilm)
    assert (drawn.summary["drawn"], drawn.summary["judged"]) == (38, 0)
    lines = "\n".join(drawn.headline())
    assert f"argus serve '{out}'" in lines and str(drawn.to_judge) in lines
    runs = json.loads((out / "arms.json").read_text())["runs"]
    assert set(runs) == ARMS
    ranked = {
        arm: {q: dict(zip(docs, range(0, -10, -1), strict=False)) for q, docs in run.items()}
        for arm, run in runs.items()
    }
    live = LiveJudging.of(out)
    pools = {q: [row.document_id for row in live.rows_of(q)] for q in live.draw.drawn}
    for run in runs.values():
        for q, documents in run.items():
            assert set(documents[:5]) <= set(pools[q])
    best = [runs[VECTORS][q][0] for q in pools]
    places = [pool.index(doc) for pool, doc in zip(pools.values(), best, strict=True)]
    assert len(set(places)) > 4, "the first of an arm stands anywhere"

    fill(drawn.to_judge, known, 25)
    result = judge(index, out, minilm)
    assert [d["judged"] for d in result.summary["decisions"]] == [10, 20, 25]
    rows = map(json.loads, (out / "queries.jsonl").read_text().splitlines())
    texts = {row["_id"]: row["text"] for row in rows}
    assert list(texts) == live.draw.drawn[:25]
    qrels = read_qrels(out / "qrels.tsv")
    assert {q: set(grades) for q, grades in qrels.items()} == {q: set(pools[q]) for q in texts}
    for decision in result.summary["decisions"]:
        first = {q: {doc: known[texts[q]].get(doc, 0) for doc in pools[q]}
                 for q in [*texts][: decision["judged"]]}  # fmt: skip
        telling = {q: grades for q, grades in first.items() if any(grades.values())}
        values = {
            arm: {q: v["nDCG@10"] for q, v in evaluate(run, telling, ["nDCG@10"]).per_query.items()}
            for arm, run in ranked.items()
        }
        verdicts, _ = compare_arms(values, MINE)
        assert decision["recommended"] == recommend(values, MINE, MINE)
        assert {a["arm"]: a["verdict"] for a in decision["arms"]} == {
            arm: one.verdict for arm, one in verdicts.items()
        }
        assert "worse" in {one.verdict for one in verdicts.values()}
    lines = list(result.headline())
    assert any(line.startswith("20 judged: take what runs; better: none") for line in lines)
    (last,) = (line for line in lines if line.startswith("recommended: "))
    words = shlex.split(last.partition("it: argus ")[2])
    shown = CliRunner().invoke(app, [*words, "--only-try"], catch_exceptions=False).stdout
    last = result.summary["decisions"][-1]
    assert f"{last['telling']} judged questions" in shown
    means = {arm["arm"]: f"{arm['mean']:.3f} ({arm['difference']:+.3f})" for arm in last["arms"]}
    assert all(f"{arm} {means[arm]}" in shown for arm in (VECTORS, BM25)), "the same figures"


def test_a_budget_grows_and_grades_stay(index, minilm, known, tmp_path):
    first = judge(index, tmp_path, minilm, config=config(12))
    fill(first.to_judge, known, 9)
    few = judge(index, tmp_path, minilm, config=config(12)).summary
    assert few["judged"] == 9 and few["decisions"] == []
    more = judge(index, tmp_path, minilm, config=config(20)).summary
    assert (more["drawn"], more["judged"]) == (20, 9)
    again = judge(index, tmp_path, minilm, config=config(12)).summary
    assert again["drawn"] == 20, "the draw stays as large as it was"


def test_what_runs_is_an_arm_beside_an_index_with_remedies(minilm, tmp_path):
    from argus.indexes.views import originals
    from argus.remedies.blend import blend_index

    index = build_index(DATA / "chunks.jsonl", out=tmp_path / "ix", encoder=minilm).index
    blend_index(index.path, encoder=minilm)
    mine = ByWords(originals(index), failing=["csv"])
    result = judge(index.path, tmp_path / "out", minilm, retriever=mine)
    runs = json.loads((tmp_path / "out" / "arms.json").read_text())["runs"]
    assert set(runs) == {*ARMS, AS_IS} and runs[AS_IS] != runs[VECTORS] != runs[MINE]
    assert (result.summary["drawn"], result.summary["failed"]) == (36, 2)
    named = tmp_path / "mine.py"
    named.write_text("def search(query, k):\n    return ['json.loads#0', 'nowhere']\n")
    out = tmp_path / "named"
    result = judge(index.path, out, minilm, retriever=f"{named}:search", config=config(3))
    assert result.summary["then"].endswith(f"--retriever {named}:search")
    assert "(not in the corpus)" in result.to_judge.read_text(encoding="utf-8-sig")
    with pytest.raises(InputError, match="another index, retriever or seed"):
        judge(index.path, tmp_path / "out", minilm, config=config(3))


def test_a_model_judges_and_decides_in_one_run(index, minilm, tmp_path):
    endpoint = Endpoint()
    reply = json.dumps({"reason": "it is about files", "grade": 2})
    endpoint.behave = lambda text, n: {"text": reply if "file" in text else reply.replace("2", "0")}
    with serving(endpoint) as url:
        model = ChatConfig(model="m", base_url=url)
        result = judge(index, tmp_path, minilm, config=config(12), model=model)
    assert [d["judged"] for d in result.summary["decisions"]] == [10, 12]
    assert len(endpoint.requests) == result.summary["documents"]


def config(budget):
    from argus.traffic.config import JudgingConfig

    return JudgingConfig(budget=budget)


def test_a_log_counts_asks_and_bad_input_is_refused(index, minilm, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text('{"query": "How?"}\n{"query": "how"}\n{"query": "why"}\n')
    assert sorted(q.times for q in read_questions(log).values()) == [1, 2]
    with pytest.raises(InputError, match="a dozen written by hand"):
        read_questions(None)
    log.write_text('{"text": ""}\n')
    with pytest.raises(InputError, match="no question has a text"):
        read_questions(log)
    drawn = judge(index, tmp_path / "out", minilm, config=config(2))
    table = drawn.to_judge.read_text(encoding="utf-8-sig").splitlines()
    cells = table[1].split("\t")
    drawn.to_judge.write_text("\n".join([*table, "\t".join([cells[0], "1", "other", "3", "", ""])]))
    with pytest.raises(InputError, match="document 'other'"):
        judge(index, tmp_path / "out", minilm, config=config(2))


def test_the_page_says_after_ten_what_is_decided(index, minilm, known, tmp_path):
    out = tmp_path / "judged"
    drawn = judge(index, out, minilm)
    fill(drawn.to_judge, known, 9)
    with TestClient(create_app(open_workplace([out])), base_url="http://127.0.0.1") as client:
        page = client.get("/page/judged/questions/judge").text
        assert "The first decision comes with ten judged questions." in page
        live = LiveJudging.of(out)
        tenth = live.draw.drawn[9]
        assert f'data-question="{tenth}"' in page and "Failure rate" not in page
        for row in live.rows_of(tenth):
            grade = known[row.question].get(row.document_id, 0)
            given = {"question": tenth, "documents": [row.document_id], "grade": grade}
            answer = client.post("/page/judged/questions/judge", json=given)
            assert answer.status_code == 200, answer.text
        said = describe_decision(LiveJudging.of(out))
        assert said.startswith("10 judged: take ") and said in answer.text
        page = client.get("/page/judged/questions").text
        assert "Which way to search answers best?" in page and "of what is asked fails" not in page
    assert "Which way to search answers best?" in (out / "report.html").read_text(encoding="utf-8")
