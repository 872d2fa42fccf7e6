"""BRIGHT in its official columns: excluded documents, long documents, reasoned queries."""

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


def test_reasoned_queries(folder):
    task = open_task(f"bright:{folder},domain=biology,reasoning=gpt4")
    assert task.name == "bright/biology-gpt4"
    assert task.queries[1].text == "Step by step: What is heat?"
    with pytest.raises(InputError, match="Check the folder"):
        open_task(f"bright:{folder},reasoning=grit")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"excluded_ids": ["heat/Heat_0.txt"]}, "excluded_ids"),
        ({"excluded_ids": ["nowhere.txt"]}, "excluded_ids"),
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
