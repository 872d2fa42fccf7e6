"""Scenario views in an index: added once, searched, rolled back; no document ever lost."""

import pytest

from argus.data.types import Document, Query
from argus.errors import InputError
from argus.indexes.job import build_index
from argus.indexes.retriever import open_retriever
from argus.indexes.views import ViewIndex
from argus.remedies.undo import list_remedies, rollback
from argus.scenarios.profile import Component, Profiled, ProfileState
from argus.scenarios.remedy import add_scenarios
from tests.support.results import shown
from tests.support.scenarios import profiles_of

TEXTS = {
    "deque": "A list-like sequence with fast appends and pops near either end.",
    "heapq": "Heap queue algorithm, also known as a priority queue.",
    "bisect": "Bisection algorithms.",
    "zlib": "Compression compatible with gzip.",
}
QUESTION = "keep only the last lines of a log"


PROFILES = profiles_of(
    {
        "deque": ["keeping only the last n lines of a growing log file"],
        "bisect": ["inserting into a list that must stay sorted"],
        "elsewhere": ["a document of another index"],
    }
) | {"heapq": Profiled("heapq", ProfileState.FAILED, reason="cut off")}
TWO_EACH = profiles_of(
    {
        "deque": ["keep the last lines of a log", "undo the latest steps of an editor"],
        "heapq": ["always serve the most urgent job", "merge sorted files"],
        "bisect": ["insert into a sorted list", "find a grade for a score"],
    }
)


@pytest.fixture
def built(minilm, tmp_path):
    documents = [Document(doc, text) for doc, text in TEXTS.items()]
    build_index(documents, out=tmp_path / "ix", encoder=minilm)
    return tmp_path / "ix"


def test_scenarios_join_the_originals_and_come_out_again(built, minilm):
    result = add_scenarios(built, PROFILES, encoder=minilm)
    summary = result.summary
    assert (summary["added"], summary["views"]) == (2, 2)
    assert summary["documents_without"] == {"failed": 1, "no profile": 1}
    assert summary["profiles_of_other_documents"] == 1
    kinds = sorted(v.kind for v in ViewIndex.open(built).snapshot().views_of("deque"))
    assert kinds == ["original", "scenario"]
    assert [r["kind"] for r in list_remedies(built)] == ["scenarios"]
    rollback(built, result.remedy)
    assert [v.kind for v in ViewIndex.open(built).snapshot().views_of("deque")] == ["original"]


def test_scenarios_are_added_once_per_component(built, minilm):
    first = add_scenarios(built, PROFILES, encoder=minilm)
    again = add_scenarios(built, PROFILES, encoder=minilm)
    assert (again.remedy, again.summary["added"]) == (first.remedy, 0)
    other = add_scenarios(built, PROFILES, component=Component.I, encoder=minilm)
    assert other.remedy.startswith("scenarios-I-")
    assert other.summary["added"] == 2
    assert len(ViewIndex.open(built)) == len(TEXTS) + 4


def test_hybrid_at_weight_one_ranks_as_without_scenarios(built, minilm):
    question = [Query("q", QUESTION)]
    before = open_retriever(built, minilm, hybrid="rrf").search(question, 4)
    add_scenarios(built, PROFILES, encoder=minilm)
    after = open_retriever(built, minilm, hybrid="rrf", weight=1.0).search(question, 4)
    assert after == before


def test_held_out_needs_choose_and_the_index_keeps_their_choice(built, minilm):
    options = {"component": "auto", "weight": "auto", "encoder": minilm}
    choice = add_scenarios(built, TWO_EACH, **options).summary["choice"]
    worth = {(row["component"], row["lambda"]): row["mrr"] for row in choice["grid"]}
    assert len(worth) == 55
    assert worth[choice["component"], choice["lambda"]] == max(worth.values())
    assert (choice["documents"], choice["needs"]) == (3, 6)
    assert open_retriever(built, minilm).weight == choice["lambda"]
    assert open_retriever(built, minilm, weight=0.7).weight == 0.7
    again = shown(add_scenarios(built, TWO_EACH, **options))
    assert any(line.startswith("chosen by 6 held-out needs of 3 documents: ") for line in again)


def test_profiles_without_scenarios_of_the_index_are_refused(built, minilm):
    with pytest.raises(InputError, match="profiles of other documents"):
        add_scenarios(built, {"x": PROFILES["deque"]}, encoder=minilm)
    with pytest.raises(InputError, match="no scenarios for any of the 4 documents"):
        add_scenarios(built, {"heapq": PROFILES["heapq"]}, encoder=minilm)
    assert len(ViewIndex.open(built)) == len(TEXTS)
