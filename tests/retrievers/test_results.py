"""What retrievers return, in all shapes, becomes ids with falling scores."""

from __future__ import annotations

import math
from decimal import Decimal
from types import SimpleNamespace
from uuid import UUID

import numpy as np
import pytest

from argus.data.types import Document
from argus.retrievers.protocol import RetrievalError
from argus.retrievers.results import Known, ranked

KNOWN = Known.of([Document("a", "first text", "First"), Document("b", "second text")])


@pytest.mark.parametrize(
    "answer",
    [
        ["b", "a"],
        ("b", "a"),
        np.array(["b", "a"]),
        iter(["b", "a"]),
        [("b", 2.0), ("a", 1.0)],
        {"a": 1.0, "b": 2.0},
        [{"_id": "b", "score": 0.9}, {"_id": "a", "score": 0.1}],
        {"documents": [{"id": "b"}, {"id": "a"}]},
        {"retriever": {"documents": [{"id": "b"}, {"id": "a"}]}},
        {"ids": [["b", "a"]], "distances": [[0.1, 0.2]]},
        SimpleNamespace(
            points=[SimpleNamespace(id="b", score=2), SimpleNamespace(id="a", score=1)]
        ),
        [{"id": 17, "metadata": {"doc_id": "b"}}, {"id": 18, "metadata": {"doc_id": "a"}}],
        [{"id": 17, "metadata": {"source": "b"}}, {"id": 18, "meta": {"source": "a"}}],
        [{"node": {"node_id": "x1", "ref_doc_id": "b"}}, {"node": {"ref_doc_id": "a"}}],
        [SimpleNamespace(page_content="second text"), SimpleNamespace(page_content="first text")],
        ["second text"[:0] + "b", {"text": "First first text"}],
    ],
)
def test_every_shape_gives_the_same_ranking(answer):
    scores = ranked(answer, 10, KNOWN)
    assert list(scores) == ["b", "a"]
    assert scores["b"] > scores["a"]


def test_ties_keep_their_scores_and_break_by_id():
    tied = ranked([("c", 0.9), ("b", 0.2), ("a", 0.2)], 10, KNOWN)
    assert list(tied.items()) == [("c", 0.9), ("a", 0.2), ("b", 0.2)]


def test_scores_that_rise_give_way_to_places():
    assert ranked([("b", 0.1), ("a", 0.7)], 10, KNOWN) == {"b": 1.0, "a": 0.5}  # distances
    assert ranked([("b", 3), ("a", 1)], 10, KNOWN) == {"b": 3.0, "a": 1.0}


def test_the_first_of_a_documents_chunks_counts_before_the_cut():
    chunks = [{"doc_id": "b"}, {"doc_id": "b"}, {"doc_id": "a"}]
    assert list(ranked(chunks, 2, KNOWN)) == ["b", "a"]
    assert list(ranked(chunks, 1, KNOWN)) == ["b"]


def test_a_named_field_is_the_id_wherever_it_is_wrapped():
    items = [{"payload": {"meta": {"page": 3}}}, {"payload": {"meta": {"page": 1}}}]
    assert list(ranked(items, 5, KNOWN, "payload.meta.page")) == ["3", "1"]
    assert list(ranked(items, 5, KNOWN, "meta.page")) == ["3", "1"]
    with pytest.raises(RetrievalError, match="without 'page'"):
        ranked([{"page": 1}, {"id": "b"}], 5, KNOWN, "page")


def test_a_text_that_stands_twice_names_no_document():
    twice = Known.of([Document("a", "same"), Document("b", "same")])
    with pytest.raises(RetrievalError, match="without an id"):
        ranked([{"text": "same"}], 5, twice)


def test_a_passage_without_an_id_that_no_document_has_is_a_stranger():
    """As LangChain's have none; the others of the list count, and no two strangers fold."""
    page = [{"text": "elsewhere", "metadata": {"source": "f.pdf"}}, {"text": "first text"},
            {"text": "there", "metadata": {"source": "f.pdf"}}]  # fmt: skip
    one, two, three = ranked(page, 5, KNOWN)
    assert two == "a" and one.startswith("f.pdf#") and three.startswith("f.pdf#") and one != three
    with pytest.raises(RetrievalError, match="without an id"):
        ranked(page, 5, Known())


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "nothing, not a list"),
        ("b", "str, not a list"),
        (3, "int, not a list"),
        ({"answer": "b"}, "dict, not a list"),
        ([("b", math.nan)], "score nan"),
        ([("b", math.inf)], "score inf"),
        ([("b", 10**400)], "no finite number"),
        ([("b", "high")], "str for a score"),
        ([("b", 1, 2)], "tuple of 3"),
        ([("b\ud800", 1.0)], r"an id with half a surrogate pair \(\\ud800\)"),
        (["b", "\udfff"], r"an id with half a surrogate pair \(\\udfff\)"),
        ([{"title": "First"}], "without an id"),
        ([None], "NoneType without an id|nothing without an id"),
    ],
)
def test_what_is_no_ranking_is_a_failure(answer, problem):
    with pytest.raises(RetrievalError, match=problem):
        ranked(answer, 5, KNOWN)


def test_ids_and_scores_of_other_types_are_taken():
    uuid = UUID(int=7)
    scores = ranked(
        [{"id": uuid, "score": Decimal("0.75")}, (UUID(int=8), Decimal("0.5"))], 5, KNOWN
    )
    assert scores == {str(uuid): 0.75, str(UUID(int=8)): 0.5}
    assert ranked([uuid], 5, KNOWN) == {str(uuid): 1.0}


def test_the_rows_of_a_table_are_results():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {"qid": ["1", "1"], "docid": [4, 2], "docno": ["b", "a"], "score": [2.5, 1.5]}
    )
    assert ranked(table, 5, Known()) == {"b": 2.5, "a": 1.5}
    assert ranked(table.head(0), 5, Known()) == {}


def test_nothing_back_is_an_answer():
    assert ranked([], 5, KNOWN) == {}
    assert ranked({"documents": []}, 5, KNOWN) == {}
    assert ranked({}, 5, KNOWN) == {}
