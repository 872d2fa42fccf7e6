"""Judging as it goes on: the same figures as the job, and no grade lost."""

from __future__ import annotations

import threading

import pytest

from argus.data.types import Document
from argus.errors import InputError
from argus.traffic.config import JudgingConfig
from argus.traffic.judging import job as module
from argus.traffic.judging.job import judge_traffic
from argus.traffic.judging.live import LiveJudging
from argus.traffic.judging.sample import ServedQuestion
from tests.traffic.judging.test_job import DOCUMENTS, TWO, fails, log


@pytest.fixture
def folder(tmp_path):
    judge_traffic(log(), corpus=DOCUMENTS, out=tmp_path, config=TWO)
    return tmp_path


def grade_all(live, questions):
    for id_ in questions:
        for row in live.rows_of(id_):
            live = live.graded({row.pair: fails([id_, str(row.rank)])})
    return live


def test_figures_are_those_of_the_job_after_every_question(folder):
    live = LiveJudging.of(folder)
    assert live.summary() == live.began and live.summary()["estimates"] == []
    widths = []
    for i, id_ in enumerate(live.draw.drawn):
        live = grade_all(live, [id_])
        if i in (4, 11, 23):
            again = judge_traffic(log(), corpus=DOCUMENTS, out=folder, config=TWO).summary
            assert live.summary() == again == LiveJudging.of(folder).summary()
            failure = again["estimates"][0]
            widths.append(failure["high"] - failure["low"])
    assert widths[-1] < widths[0]
    assert live.next_after("") is None


def test_the_next_question_is_one_that_is_not_judged(folder):
    live = LiveJudging.of(folder)
    first, second, third = live.draw.drawn[:3]
    assert live.next_after("") == first and live.next_after("nowhere") == first
    live = grade_all(live, [second])
    assert live.next_after(first) == third
    assert live.next_after(live.draw.drawn[-1]) == first
    live = live.graded({row.pair: None for row in live.rows_of(second)})
    assert live.next_after(first) == second and not live.grades


def test_two_who_judge_at_once_lose_nothing(folder):
    live = LiveJudging.of(folder)
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


def test_grades_that_come_while_the_job_runs_stay(folder, monkeypatch):
    pair = LiveJudging.of(folder).draw.rows[0].pair
    write = module.write_sample

    def meanwhile(*parts):
        write(*parts)
        LiveJudging.of(folder).graded({pair: 3})

    monkeypatch.setattr(module, "write_sample", meanwhile)
    result = judge_traffic(log(), corpus=DOCUMENTS, out=folder, config=TWO)
    assert result.summary["graded"] == 1
    assert LiveJudging.of(folder).grades == {pair: 3}


def test_what_was_not_drawn_cannot_be_graded(folder):
    live = LiveJudging.of(folder)
    pair = live.draw.rows[0].pair
    for grades in ({("q00", "nothing"): 1}, {pair: 4}, {pair: -1}):
        with pytest.raises(InputError):
            live.graded(grades)
    assert LiveJudging.of(folder).grades == {}


def test_a_folder_without_a_draw_has_nothing_to_judge(tmp_path):
    assert LiveJudging.of(tmp_path) is None


def test_a_table_that_lost_rows_is_refused(folder):
    table = folder / "to_judge.tsv"
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text("".join(lines[:10]), encoding="utf-8")
    with pytest.raises(InputError, match="not in the table"):
        LiveJudging.of(folder)


def test_quotes_in_ids_and_texts_stay_as_they_are_however_often_it_is_written(tmp_path):
    documents = [Document(f'd"{i}', f'"text" of ""{i}""') for i in range(12)]
    questions = [
        ServedQuestion(f'"q{i}"', f'say "{i}" again', (f'd"{i}', f'd"{i + 1}')) for i in range(11)
    ]
    config = JudgingConfig(budget=5)
    judge_traffic(questions, corpus=documents, out=tmp_path, config=config)
    live = LiveJudging.of(tmp_path)
    row = live.draw.rows[0]
    assert row.question_id.startswith('"q') and row.text.startswith('"text" of ""')
    for grade in (1, 2, 3):
        live = live.graded({row.pair: grade})
    again = LiveJudging.of(tmp_path)
    assert again.draw.rows == live.draw.rows and again.grades == {row.pair: 3}
    result = judge_traffic(questions, corpus=documents, out=tmp_path, config=config)
    assert result.summary["graded"] == 1
