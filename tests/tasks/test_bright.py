"""BRIGHT in its official columns: excluded documents, long documents, reasoned queries."""

from __future__ import annotations

import pytest

from argus.errors import InputError, Location
from argus.tasks.opening import open_task
from tests.support.tasks import QUESTIONS, bright, lines


@pytest.fixture
def folder(tmp_path):
    return bright(tmp_path / "BRIGHT")


def test_passages_gold_and_exclusions(folder):
    task = open_task(f"bright:{folder}")
    assert task.name == "bright/biology" and len(task.documents) == 4
    assert task.documents[2].text == "Why are insects attracted to light?"
    assert task.qrels["0"] == {"light/Phototaxis_0.txt": 1, "light/Phototaxis_1.txt": 1}
    assert dict(task.excluded) == {"0": {"light/post.txt"}} and task.spare == 1
    assert task.instruction == (
        "Given a biology post, retrieve relevant passages that help answer the post"
    )


def test_the_post_itself_is_out_of_the_run_before_scoring(folder):
    task = open_task(folder)
    run = {
        "0": {"light/post.txt": 9.0, "light/Phototaxis_0.txt": 2.0, "light/Phototaxis_1.txt": 1.0},
        "1": {"heat/Heat_0.txt": 1.0},
    }
    assert task.evaluate(run).aggregate == {"nDCG@10": 1.0}
    assert list(task.scored(run, 1)["0"]) == ["light/Phototaxis_0.txt"]


def test_long_documents_have_gold_of_their_own(folder):
    questions = [q | {"excluded_ids": ["N/A"]} for q in QUESTIONS]
    lines(folder / "examples" / "biology.jsonl", *questions)
    (folder / "examples" / "biology-00000-of-00001.parquet").unlink()
    task = open_task(f"bright:{folder},long=yes")
    assert task.name == "bright/biology-long" and len(task.documents) == 2
    assert task.qrels["0"] == {"light/Phototaxis.txt": 1} and not task.excluded
    assert "retrieve relevant documents" in task.instruction


def test_reasoned_queries(folder):
    task = open_task(f"bright:{folder},domain=biology,reasoning=gpt4")
    assert task.name == "bright/biology-gpt4"
    assert task.queries[1].text == "Step by step: What is heat?"
    with pytest.raises(InputError, match="Check the folder"):
        open_task(f"bright:{folder},reasoning=grit")


def test_a_domain_in_doubt_is_asked_for(folder):
    bright(folder, name="pony")
    with pytest.raises(InputError, match="biology, pony") as error:
        open_task(folder)
    assert error.value.where == f"bright:{folder}"
    assert open_task(f"bright:{folder},domain=pony").name == "bright/pony"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"excluded_ids": ["heat/Heat_0.txt"]}, "excluded_ids"),
        ({"excluded_ids": ["nowhere.txt"]}, "excluded_ids"),
        ({"gold_ids": "heat/Heat_0.txt"}, "gold_ids"),
        ({"gold_ids": [3]}, "gold_ids"),
        ({"id": 1}, "id"),
    ],
)
def test_broken_examples_are_refused_by_their_place(folder, change, field):
    (folder / "examples" / "biology-00000-of-00001.parquet").unlink()
    file = lines(folder / "examples" / "biology.jsonl", QUESTIONS[0], QUESTIONS[1] | change)
    with pytest.raises(InputError) as error:
        open_task(folder)
    assert error.value.where == Location(file, 2, field)


def test_an_example_twice_and_columns_that_are_missing(folder):
    (folder / "examples" / "biology-00000-of-00001.parquet").unlink()
    file = lines(folder / "examples" / "biology.jsonl", QUESTIONS[0], QUESTIONS[0])
    with pytest.raises(InputError, match="'0' stands in row 1") as error:
        open_task(folder)
    assert error.value.where == Location(file, 2)
    lines(file, {k: v for k, v in QUESTIONS[0].items() if k != "excluded_ids"})
    with pytest.raises(InputError, match="no list of excluded documents"):
        open_task(folder)


def test_reference_answers_are_read_where_a_domain_has_them(tmp_path):
    rows = [QUESTIONS[0] | {"gold_answer": "They steer by the moon."}, QUESTIONS[1]]
    task = open_task(f"bright:{bright(tmp_path, rows)}")
    assert task.answers == {"0": "They steer by the moon."}
    assert open_task(f"bright:{bright(tmp_path / 'without')}").answers == {}
