"""KILT JSONL: lines as SEAL writes them, questions with their answers."""

from __future__ import annotations

import json

import pytest

from argus.data.topics import DprKey, DprPassage, DprResult, read_kilt_topics, write_kilt
from argus.data.types import Query, Topic
from argus.errors import InputError

PASSAGE = DprPassage("12", "Bern", "The old town.", 7.25, (DprKey(" old town", 3, 0.5),))
RESULT = DprResult(Topic(Query("q1", "where?")), (PASSAGE,))


def test_a_line_holds_the_question_its_passages_and_keys(tmp_path):
    path = write_kilt(tmp_path / "kilt.jsonl", [RESULT, DprResult(Topic(Query("q2", "?")), ())])
    first, second = map(json.loads, path.read_text("utf-8").splitlines())
    provenance = {
        "title": "Bern",
        "text": "Bern @@ The old town.",
        "score": 7.25,
        "passage_id": "12",
        "meta": {"keys": [[" old town", 3, 0.5]]},
    }
    assert first == {"id": "q1", "input": "where?", "output": [{"provenance": [provenance]}]}
    assert second == {"id": "q2", "input": "?", "output": [{"provenance": []}]}


def test_questions_are_read_with_their_different_answers(tmp_path):
    path = tmp_path / "dev.jsonl"
    output = [{"answer": "x"}, {"provenance": []}, {"answer": "x"}, {"answer": "y"}]
    rows = [{"id": "a", "input": "who?", "output": output}, {"id": "b", "input": "why?"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert list(read_kilt_topics(path)) == [
        Topic(Query("a", "who?"), ("x", "y")),
        Topic(Query("b", "why?")),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "b"}', "no 'input' among 'id'"),
        ('{"input": "b"}', "no 'id' among 'input'"),
        ('{"id": "b", "input": "x", "output": "y"}', "'y'; expected a list of objects"),
        ('{"id": "b", "input": ["x"]}', r"\['x'\] is of type list"),
        ('{"id": "b"', "broken JSON"),
    ],
)
def test_a_broken_line_is_named(tmp_path, line, message):
    path = tmp_path / "dev.jsonl"
    path.write_text('{"id": "a", "input": "who?"}\n' + line + "\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_kilt_topics(path))
    assert f"{path}, line 2" in str(caught.value)
