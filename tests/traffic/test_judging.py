"""Judge a log: draw, fill in, go on, refuse, ask a model, judge on a page."""

import json
import re
import threading

import pytest

from argus.data.types import Document
from argus.errors import InputError
from argus.llm import ChatConfig
from argus.traffic.config import JudgingConfig
from argus.traffic.judging import LiveJudging, judge_traffic
from argus.traffic.sampling import ServedQuestion
from tests.conftest import Endpoint, serving

DOCUMENTS = [Document(f"d{i}", f"text of {i}") for i in range(12)]


TWO = JudgingConfig(budget=24, k=3)


def log(n=60):
    return [
        ServedQuestion(f"q{i:02d}", f"question {i}", tuple(f"d{(i + j) % 12}" for j in range(5)),
                       times=1 + i % 3)
        for i in range(n)
    ]  # fmt: skip


def grade(path, of, keep=lambda row: True):
    first, *lines = path.read_text(encoding="utf-8-sig").splitlines()
    cells = [line.split("\t") for line in lines]
    for cell in cells:
        if keep(cell):
            cell[3] = str(of(cell))
    path.write_text("\n".join([first, *map("\t".join, cells)]) + "\n", encoding="utf-8")


def fails(cell):
    return 0 if int(cell[0][1:]) >= 40 else int(cell[1] == "2")


def test_drawn_filled_in_and_estimated(tmp_path):
    drawn = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    assert drawn.summary["judged"]["total"] == 24 and drawn.summary["estimates"] == []
    assert "Next: grade each row of" in list(drawn.headline())[-1]
    assert len(drawn.to_judge.read_text().splitlines()) == 1 + 24 * 3
    grade(drawn.to_judge, fails)
    result = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    failure, hits, ndcg = result.summary["estimates"]
    truth = sum(q.times for q in log()[40:]) / sum(q.times for q in log())
    assert failure["low"] < truth < failure["high"]
    assert hits["mean"] == pytest.approx(1 - failure["mean"], abs=0.01)
    assert ndcg["mean"] < hits["mean"]
    assert "How often does it fail?" in result.report.read_text(encoding="utf-8")
    rows = result.table.to_pylist()
    assert sum(row["state"] == "measured" for row in rows) == 24


def test_another_log_in_the_same_folder_is_refused(tmp_path):
    judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    with pytest.raises(InputError, match="drawn from another log"):
        judge_traffic(log(59), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    again = judge_traffic(log(59), corpus=DOCUMENTS, out=tmp_path, config=TWO, fresh=True)
    assert again.summary["questions"] == 59


def test_two_people_judge_and_agreement_is_told(tmp_path):
    drawn = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path / "out", config=TWO)
    copies = [tmp_path / "one.tsv", tmp_path / "two.tsv"]
    for i, path in enumerate(copies):
        path.write_bytes(drawn.to_judge.read_bytes())
        grade(path, lambda cell, i=i: fails(cell) if i else 0)
    result = judge_traffic(
        log(), corpus=DOCUMENTS, out=tmp_path / "out", config=TWO, answers=copies
    )
    agreement = result.summary["agreement"]
    assert agreement["documents"] == 72 and 0.5 < agreement["equal"] < 1
    assert result.summary["estimates"][0]["mean"] == pytest.approx(1.0)  # of two, the lower


def answer(text, n):
    """Grade 3 for the document whose number is the question's, else 0."""
    question, document = re.search(r"question (\d+)", text)[1], re.search(r"of (\d+)\n", text)[1]
    grade = 3 if int(question) % 12 == int(document) and int(question) < 40 else 0
    return {"text": json.dumps({"reason": "as it is", "grade": grade})}


def test_a_model_judges_and_is_not_asked_twice(tmp_path):
    endpoint = Endpoint()
    endpoint.behave = answer
    config = JudgingConfig(budget=12, k=3)
    with serving(endpoint) as url:
        model = ChatConfig(model="m", base_url=url)
        first = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=config, model=model)
        asked = len(endpoint.requests)
        again = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=config, model=model)
    assert asked == 12 * 3 == len(endpoint.requests)
    assert again.summary["estimates"] == first.summary["estimates"]
    assert first.summary["judge"].startswith("m")
    assert first.summary["judged"]["measured"] == 12


@pytest.fixture
def folder(tmp_path):
    judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    return tmp_path


def test_two_who_judge_at_once_lose_nothing(folder):
    live = LiveJudging.of(folder)
    with pytest.raises(InputError):
        live.graded({("q00", "nothing"): 1})
    pairs = [row.pair for row in live.draw.rows]
    halves = pairs[::2], pairs[1::2]

    def judge(own):
        one = LiveJudging.of(folder)
        for pair in own[:15]:
            one.graded({pair: 2})

    threads = [threading.Thread(target=judge, args=(own,)) for own in halves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(LiveJudging.of(folder).grades) == 30
