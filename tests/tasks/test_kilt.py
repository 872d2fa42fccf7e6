"""KILT: pages, paragraphs, sets of evidence, and its own R-precision and recall."""

import pytest

from argus.errors import InputError, Location
from argus.tasks.opening import open_task
from argus.tasks.task import judged_of, recall
from tests.support.tasks import KILT, kilt


def sets(*ids):
    return [frozenset(one.split()) for one in ids]


def test_pages_are_documents_and_provenance_judges_them(tmp_path):
    task = open_task(kilt(tmp_path))
    assert task.name == "kilt/nq-dev" and task.metrics == ("Rprec", "R@5")
    assert [document.id for document in task.documents] == ["290", "303", "307"]
    assert task.documents[1].content == "Alabama\nAlabama is a state.\nIts capital is Montgomery."
    assert task.qrels == {"q1": {"303": 1, "307": 1}, "q2": {"290": 1}}
    assert judged_of(task).judged.reasons == {"q3": "no judgement"}
    assert task.evidence["q1"] == sets("303 307", "307")


def test_the_best_set_of_evidence_counts(tmp_path):
    task = open_task(kilt(tmp_path))
    run = {"q1": {"307": 3.0, "290": 2.0, "303": 1.0}, "q2": {"303": 2.0, "290": 1.0}}
    scores = task.evaluate(run)
    assert scores.per_query == {"q1": {"Rprec": 1.0, "R@5": 1.0}, "q2": {"Rprec": 0.0, "R@5": 1.0}}


@pytest.mark.parametrize(
    ("ranks", "evidence", "k", "expected"),
    [
        ("a b c", ["a b"], 1, 1.0),  # two pages of one set are one point
        ("a x b c", ["a b"], 1, 0.0),  # which stands where the last of them does
        ("a x b c", ["a b"], 2, 1.0),
        ("x y a", ["a", "b"], 3, 0.5),
        ("a b", ["a", "a b"], 1, 0.5),  # a page may be in two sets
        ("", ["a"], 5, 0.0),
    ],
)
def test_recall_counts_whole_sets(ranks, evidence, k, expected):
    assert recall(ranks.split(), sets(*evidence), k) == expected


@pytest.mark.parametrize(
    ("provenance", "field"),
    [("303", "output.provenance"), ([{"wikipedia_id": 1.5}], "wikipedia_id")],
)
def test_broken_provenance_is_refused(tmp_path, provenance, field):
    broken = {"id": "q9", "input": "x", "output": [{"answer": "y", "provenance": provenance}]}
    with pytest.raises(InputError) as error:
        open_task(kilt(tmp_path, [KILT[0], broken]))
    assert error.value.where == Location(tmp_path / "nq-dev-kilt.jsonl", 2, field)
