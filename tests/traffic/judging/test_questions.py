"""Questions with what was served, of any table."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.errors import InputError
from argus.traffic.judging.sample import digest, read_served


def jsonl(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_table_of_questions(tmp_path):
    path = jsonl(
        tmp_path / "log.jsonl",
        {"id": "a", "question": "what?", "documents": ["d2", "d1", "d2"], "risk": 0.25, "count": 3},
        {"id": "b", "question": "who?", "documents": [{"id": "d1", "score": 2.5}], "risk": ""},
        {"id": "c", "question": "never", "documents": []},
        {"id": "d", "question": "not known", "documents": None},
    )
    log = read_served(path)
    a, b, c = log.questions
    assert (a.documents, a.risk, a.times) == (("d2", "d1"), 0.25, 3)
    assert (b.documents, b.scores, b.risk) == (("d1",), (2.5,), None)
    assert c.documents == () and log.unknown == 1


def test_the_table_of_argus_traffic(tmp_path):
    """`question` is an id there; what nearly equals another is counted with it."""
    table = pa.table(
        {
            "question": ["q1", "q2", "q3"], "text": ["what is it", "what's it", "who"],
            "asks": [5, 2, 1], "alike": [None, "q1", None], "looked_at": [True, True, False],
            "documents": pa.array([["d1"], ["d2"], None], pa.list_(pa.string())),
            "risk": [0.5, None, None],
        }
    )  # fmt: skip
    pq.write_table(table, tmp_path / "questions.parquet")
    log = read_served(tmp_path)
    (one,) = log.questions
    assert (one.id, one.text, one.times, one.risk) == ("q1", "what is it", 7, 0.5)
    assert log.unknown == 1


def test_a_run_says_what_was_served(tmp_path):
    path = jsonl(tmp_path / "q.jsonl", {"_id": "a", "text": "what?"}, {"_id": "b", "text": "who?"})
    a, b = read_served(path, {"a": {"d1": 1.0, "d2": 2.0}}).questions
    assert a.documents == ("d2", "d1") and a.scores == (2.0, 1.0) and b.documents == ()


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"id": "a", "text": "x"}, "no what was served field"),
        ({"id": "a", "text": " ", "documents": []}, "has no text"),
        ({"id": "", "text": "x", "documents": []}, "no id"),
        ({"id": "a", "text": "x", "documents": [3]}, "3 in a list of documents"),
        ({"id": "a", "text": "x", "documents": [], "risk": 1.5}, "a probability from 0 to 1"),
        ({"id": "a", "text": "x", "documents": [], "risk": "nan"}, "a probability from 0 to 1"),
        ({"id": "a", "text": "x", "documents": [], "count": 0}, "1 or more"),
        ({"id": "a", "text": "x", "documents": [], "count": "many"}, "1 or more"),
        ({"id": "a", "text": "x", "documents": [], "count": 10**400}, "1 or more"),
        ({"id": "a", "text": "x", "documents": [], "risk": 10**400}, "a probability from 0 to 1"),
        ({"id": "a", "text": "x", "documents": 5}, "5 in a list of documents"),
    ],
)
def test_bad_rows_are_refused(tmp_path, row, problem):
    with pytest.raises(InputError, match=problem):
        read_served(jsonl(tmp_path / "q.jsonl", row))


@pytest.mark.parametrize("scores", [[10**400, 1.0], 5, "high"])
def test_scores_that_are_none_are_left_out(tmp_path, scores):
    row = {"id": "a", "text": "x", "documents": ["d1", "d2"], "scores": scores}
    (one,) = read_served(jsonl(tmp_path / "q.jsonl", row)).questions
    assert (one.documents, one.scores) == (("d1", "d2"), ())


def test_a_question_that_comes_twice_is_refused(tmp_path):
    row = {"id": "a", "text": "x", "documents": []}
    with pytest.raises(InputError, match="comes twice, first in"):
        read_served(jsonl(tmp_path / "q.jsonl", row, row))


def test_a_folder_without_questions_is_refused(tmp_path):
    with pytest.raises(InputError, match="no table of questions"):
        read_served(tmp_path)


def test_logs_are_told_apart_by_what_was_served_and_not_by_risk(tmp_path):
    row = {"id": "a", "text": "x", "documents": ["d1", "d2"]}
    log = read_served(jsonl(tmp_path / "a.jsonl", row)).questions
    risky = read_served(jsonl(tmp_path / "b.jsonl", row | {"risk": 0.5})).questions
    other = read_served(jsonl(tmp_path / "c.jsonl", row | {"documents": ["d1", "d3"]})).questions
    assert digest(log, 2) == digest(risky, 2) != digest(other, 2)
    assert digest(log, 1) == digest(other, 1)
