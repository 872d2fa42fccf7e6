"""ImpliRet: the six tables of the hub and of the repository, against a converted collection."""

import csv

import pytest

from argus.errors import InputError, Location
from argus.tasks.opening import open_task
from tests.support.tasks import lines, read_lines


def official(folder, converted):
    """W_Multi.csv of the hub, written back from the converted collection."""
    documents, queries = (read_lines(converted / f"{n}.jsonl") for n in ("corpus", "queries"))
    (folder / "data").mkdir(parents=True)
    path = folder / "data" / "W_Multi.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["id", "tuple_set_id", "forum_question", "pos_document", "question", "answer",
                      "explicit_hint"])  # fmt: skip
        for document, query in zip(documents, queries, strict=True):
            about = query["metadata"]
            out.writerow([int(document["_id"].removeprefix("wm-d")), about["group"],
                          about["forum_question"], document["text"], query["text"],
                          about["answer"], about["explicit_hint"]])  # fmt: skip
    return folder


def test_the_hubs_table_is_the_converted_collection(shared, tmp_path):
    converted = shared("impliret_wknow_multi")
    task = open_task(f"impliret:{official(tmp_path / 'hub', converted)}")
    other = open_task(f"beir:{converted}")
    assert task.name == "impliret/wknow-multi" and task.metric == "nDCG@10"
    assert [(d.id, d.text) for d in task.documents] == [(d.id, d.text) for d in other.documents]
    assert list(task.queries) == list(other.queries) and task.qrels == other.qrels


ROW = {"id": 0, "tuple_set_id": 0, "pos_document": "document", "question": "question",
       "answer": "", "explicit_hint": []}  # fmt: skip


@pytest.mark.parametrize(
    ("broken", "field"),
    [({"id": 1, "pos_document": 7}, "pos_document"), ({"id": ""}, "id")],
)
def test_broken_rows_are_refused(tmp_path, broken, field):
    file = lines(tmp_path / "W_Uni.jsonl", ROW, ROW | broken)
    with pytest.raises(InputError) as error:
        open_task(file)
    assert error.value.where == Location(file, 2, field)
