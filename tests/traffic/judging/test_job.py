"""The whole job: drawn, filled in, gone on with, refused, and judged by a model."""

from __future__ import annotations

import json
import re

import pytest

from argus.data.types import Document
from argus.errors import InputError, NothingMeasured
from argus.llm import ChatConfig
from argus.traffic.config import JudgingConfig
from argus.traffic.judging.job import judge_traffic
from argus.traffic.judging.live import LiveJudging
from argus.traffic.judging.sample import ServedQuestion
from tests.conftest import Endpoint, serving

DOCUMENTS = [Document(f"d{i}", f"text of {i}") for i in range(12)]
TWO = JudgingConfig(budget=24, k=3)


def log(n=60):
    return [
        ServedQuestion(f"q{i:02d}", f"question {i}", tuple(f"d{(i + j) % 12}" for j in range(5)),
                       risk=i / n, times=1 + i % 3)
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
    assert {row["probability"] for row in rows} == {None}, "24 judgements make no probability"


def test_a_larger_budget_goes_on_and_keeps_grades(tmp_path):
    first = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    grade(first.to_judge, fails)
    more = judge_traffic(
        log(), corpus=DOCUMENTS, out=tmp_path, config=JudgingConfig(budget=40, k=3)
    )
    judged = more.summary["judged"]
    assert (judged["total"], judged["measured"], judged["not applicable"]) == (40, 24, 16)
    assert judged["reasons"] == {"a document of it has no grade": 16}
    assert more.to_judge.read_text().count("\t0\t") >= 24


def test_a_budget_larger_than_the_log_judges_all(tmp_path):
    config = JudgingConfig(budget=500, k=3)
    drawn = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=config)
    grade(drawn.to_judge, fails)
    result = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=config)
    assert result.summary["estimates"][0]["is_count"]
    assert "Nothing is left to judge" in list(result.headline())[-1]
    rows = result.table.to_pylist()
    assert rows[0]["probability"] < 0.2 < 0.8 < rows[-1]["probability"]


def test_what_was_passed_over_is_told(tmp_path):
    drawn = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    first = drawn.to_judge.read_text(encoding="utf-8-sig").splitlines()[1].split("\t")[0]
    grade(drawn.to_judge, fails, keep=lambda cell: cell[0] != first)
    result = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    assert result.summary["skipped"] == 1
    assert any("were passed over" in line for line in result.headline())


def test_another_log_in_the_same_folder_is_refused(tmp_path):
    judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    with pytest.raises(InputError, match="drawn from another log"):
        judge_traffic(log(59), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    again = judge_traffic(log(59), corpus=DOCUMENTS, out=tmp_path, config=TWO, fresh=True)
    assert again.summary["questions"] == 59


def test_columns_of_a_person_and_odd_ids_outlast_runs_and_the_page(tmp_path):
    ids = [" x", "x", "x\u00a0", "a\tb", "a\nb", "a\rb", "\u2028"]
    documents = [Document(id_, f"text of {i}") for i, id_ in enumerate(ids)]
    questions = [ServedQuestion(f"q{i}\t", f"question {i}", tuple(ids)) for i in range(6)]
    config = JudgingConfig(budget=6)
    drawn = judge_traffic(questions, corpus=documents, out=tmp_path, config=config)
    first, *lines = drawn.to_judge.read_text(encoding="utf-8-sig").split("\n")[:-1]
    assert len(lines) == 6 * len(ids)
    cells = [line.split("\t") for line in lines]
    noted = ["\t".join([*c[:3], str(i % 4), f"note {i}", *c[4:]]) for i, c in enumerate(cells)]
    header = first.replace("grade\t", "grade\tnotes\t")
    drawn.to_judge.write_text("\n".join([header, *noted]) + "\n", encoding="utf-8")
    before = drawn.to_judge.read_text(encoding="utf-8")
    result = judge_traffic(questions, corpus=documents, out=tmp_path, config=config)
    assert result.summary["graded"] == len(lines)
    live = LiveJudging.of(tmp_path)
    assert [row.document_id for row in live.rows_of(live.draw.drawn[0])] == ids
    assert live.grades[live.draw.rows[1].pair] == 1
    live.graded({live.draw.rows[0].pair: 3})
    after = drawn.to_judge.read_text(encoding="utf-8-sig")
    assert after == before.replace("\t0\tnote 0\t", "\t3\tnote 0\t")


def test_another_seed_of_what_is_drawn_is_told(tmp_path):
    first = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    again = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    assert first.summary["notes"] == again.summary["notes"] == []
    other = JudgingConfig(budget=24, k=3, seed=7)
    told = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=other)
    assert told.to_judge.read_bytes() == first.to_judge.read_bytes()
    assert any("--seed 7 changed nothing" in line for line in told.headline())
    assert "--seed 7 changed nothing" in told.report.read_text(encoding="utf-8")
    fresh = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=other, fresh=True)
    assert fresh.summary["notes"] == []


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


def test_a_document_that_the_corpus_lacks_fails_its_question_with_a_model(tmp_path):
    endpoint = Endpoint()
    endpoint.behave = answer
    with serving(endpoint) as url:
        model = ChatConfig(model="m", base_url=url)
        result = judge_traffic(log(), corpus=DOCUMENTS[:-1], out=tmp_path, config=TWO, model=model)
    judged = result.summary["judged"]
    assert judged["reasons"] == {"not in the corpus": judged["failed"]} and judged["failed"] > 2
    assert judged["measured"] + judged["failed"] == 24


def answer(text, n):
    """Grade 3 for the document whose number is the question's, else 0."""
    question, document = re.search(r"question (\d+)", text)[1], re.search(r"of (\d+)\n", text)[1]
    grade = 3 if int(question) % 12 == int(document) and int(question) < 40 else 0
    return {"text": json.dumps({"reason": "as it is", "grade": grade})}


def test_a_model_judges_and_is_not_asked_twice(tmp_path):
    endpoint = Endpoint()
    endpoint.behave = answer
    config = JudgingConfig(budget=12, k=3, votes=3)
    with serving(endpoint) as url:
        model = ChatConfig(model="m", base_url=url)
        first = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=config, model=model)
        asked = len(endpoint.requests)
        again = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=config, model=model)
    assert asked == 12 * 3 * 3 == len(endpoint.requests)
    assert first.summary["agreement"]["equal"] == 1.0
    assert again.summary["estimates"] == first.summary["estimates"]
    assert first.summary["judge"].startswith("m")
    assert first.summary["judged"]["measured"] == 12


def judged_by_model(out, config=TWO, **settings):
    endpoint = Endpoint()
    endpoint.behave = answer
    with serving(endpoint) as url:
        model = ChatConfig(model="m", base_url=url)
        result = judge_traffic(
            log(), corpus=DOCUMENTS, out=out, config=config, model=model, **settings
        )
    return result, len(endpoint.requests)


def test_grades_of_people_outlast_a_model_which_is_asked_for_the_rest(tmp_path):
    drawn = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    grade(drawn.to_judge, lambda cell: 3, keep=lambda cell: cell[1] != "1")
    result, asked = judged_by_model(tmp_path)
    assert asked == 24 and result.summary["graded"] == 72
    assert sorted(result.summary["judges"].values()) == [24, 48]
    assert result.summary["judges"]["people"] == 48
    assert result.summary["judge"].startswith("people (48 documents) and m")
    rows = [line.split("\t") for line in drawn.to_judge.read_text("utf-8-sig").splitlines()]
    assert rows[0][-2:] == ["model_grade", "model_name"]
    assert all(row[3] == ("" if row[1] == "1" else "3") for row in rows[1:])
    assert all((row[-2] != "") == (row[1] == "1") for row in rows[1:])
    grade(drawn.to_judge, lambda cell: 2, keep=lambda cell: cell[1] == "1")
    again, asked = judged_by_model(tmp_path)
    assert asked == 0 and again.summary["judges"] == {"people": 72}
    assert again.summary["judge"] == "people"


def test_who_graded_is_told_without_the_model_too(tmp_path):
    by_model, _ = judged_by_model(tmp_path)
    name = by_model.summary["judge"]
    assert name.startswith("m") and by_model.summary["judges"] == {name: 72}
    again = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    assert any(f"24 judged by {name} (72 of 72" in line for line in again.headline())
    assert again.summary["estimates"] == by_model.summary["estimates"]
    live = LiveJudging.of(tmp_path)
    assert live.summary() == again.summary and live.next_after("") is None
    pair = live.draw.rows[0].pair
    live = live.graded({pair: 2})
    assert live.grades[pair] == 2 and live.summary()["judges"] == {"people": 1, name: 71}
    live = live.graded({pair: None})
    assert live.summary() == again.summary


def test_a_model_grades_what_filled_copies_left_open(tmp_path):
    drawn = judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path / "out", config=TWO)
    copy = tmp_path / "one.tsv"
    copy.write_bytes(drawn.to_judge.read_bytes())
    grade(copy, lambda cell: 1, keep=lambda cell: cell[1] == "1")
    before = copy.read_bytes()
    result, asked = judged_by_model(tmp_path / "out", answers=[copy])
    assert asked == 48 and result.summary["judges"]["people"] == 24
    assert result.summary["judged"]["measured"] == 24 and copy.read_bytes() == before


def test_what_people_grade_anew_at_once_is_theirs_alone(tmp_path):
    judged_by_model(tmp_path)
    live = LiveJudging.of(tmp_path)
    live.graded({row.pair: 1 for row in live.draw.rows})
    assert LiveJudging.of(tmp_path).summary()["judges"] == {"people": 72}


def judged_by_model_that_says(answer, out):
    endpoint = Endpoint()
    endpoint.behave = lambda text, n: {"text": answer}
    with serving(endpoint) as url:
        model = ChatConfig(model="m", base_url=url)
        return judge_traffic(log(), corpus=DOCUMENTS, out=out, config=TWO, model=model)


def test_votes_that_cannot_be_read_fail_a_question_and_are_no_zero(tmp_path):
    result = judged_by_model_that_says("no idea", tmp_path)
    assert result.summary["judged"]["failed"] == 24 and result.summary["estimates"] == []


def test_truth_values_of_a_model_are_no_grades(tmp_path):
    result = judged_by_model_that_says('{"reason": "it is", "grade": true}', tmp_path)
    judged = result.summary["judged"]
    assert judged["failed"] == 24 and result.summary["graded"] == 0
    assert all("a truth value is no grade" in why for why in judged["reasons"])


def test_a_least_grade_that_no_document_can_have_is_refused():
    assert JudgingConfig(relevant_from=3).relevant_from == 3
    with pytest.raises(InputError, match="from 1 to 3"):
        JudgingConfig(relevant_from=4)


def test_questions_are_ordered_by_risk_where_the_log_tells_none(tmp_path):
    bare = [ServedQuestion(q.id, f"text of {i % 12}", q.documents) for i, q in enumerate(log())]
    result = judge_traffic(bare, corpus=DOCUMENTS, out=tmp_path, config=TWO)
    assert result.summary["risk"] == {"is_own": False, "ranked": 60, "flagged": {}, "here": None}


def test_nothing_served_is_no_measurement(tmp_path):
    with pytest.raises(NothingMeasured, match="no question was served a document"):
        judge_traffic([ServedQuestion("q", "what?", ())], corpus=DOCUMENTS, out=tmp_path)
