"""BEIR and RAR-b: a real collection, a split, a query's own document, an instruction."""

import pytest

from argus.errors import InputError
from argus.tasks.opening import open_task
from tests.support.tasks import lines


def collection(folder, *, queries=("q1", "q2"), corpus=("d1", "d2"), split="test"):
    lines(folder / "corpus.jsonl", *({"_id": d, "text": f"text of {d}"} for d in corpus))
    lines(folder / "queries.jsonl", *({"_id": q, "text": f"about {q}"} for q in queries))
    (folder / "qrels").mkdir()
    judged = f"query-id\tcorpus-id\tscore\n{queries[0]}\t{corpus[0]}\t1\n"
    (folder / "qrels" / f"{split}.tsv").write_text(judged)
    return folder


def test_a_real_beir_folder(shared):
    task = open_task(f"beir:{shared('hotpot100')}")
    assert (task.name, len(task.documents), len(task.queries)) == ("hotpot100", 994, 100)
    assert {len(grades) for grades in task.qrels.values()} == {2} and not task.excluded
    assert task.metric == "nDCG@10" and sorted(task.files) == ["corpus", "qrels", "queries"]
    perfect = {query: {doc: 1.0 for doc in grades} for query, grades in task.qrels.items()}
    assert task.evaluate(perfect).aggregate == {"nDCG@10": 1.0}


def test_queries_that_a_split_does_not_judge_are_left_out(tmp_path):
    task = open_task(f"beir:{collection(tmp_path / 'c', split='dev')},split=dev")
    assert [query.id for query in task.queries] == ["q1"]
    with pytest.raises(InputError, match="there is dev") as error:
        open_task(f"beir:{tmp_path / 'c'}")
    assert error.value.where == tmp_path / "c"


@pytest.mark.parametrize(
    ("name", "setting", "excluded"),
    [("arguana", "", True), ("arguana", ",identical=no", False), ("fiqa", ",identical=yes", True)],
)
def test_a_query_that_is_a_document_may_not_find_itself(tmp_path, name, setting, excluded):
    folder = collection(tmp_path / name, queries=("d1", "q2"), corpus=("d2", "d1"))
    task = open_task(f"beir:{folder}{setting}")
    assert dict(task.excluded) == ({"d1": {"d1"}} if excluded else {})
    assert task.spare == excluded
    run = {"d1": {"d1": 2.0, "d2": 1.0}}
    assert task.evaluate(run, ["RR"]).aggregate["RR"] == (1.0 if excluded else 0.5)


def test_a_corpus_that_was_not_judged_is_refused(tmp_path):
    folder = collection(tmp_path / "c")
    lines(folder / "corpus.jsonl", {"_id": "other", "text": "another corpus"})
    with pytest.raises(InputError, match="none of 1 relevant documents") as error:
        open_task(folder)
    assert error.value.where == "c"
