"""What retrievers return, in all shapes, becomes ids with falling scores."""

import math
from types import SimpleNamespace

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
        np.array(["b", "a"]),
        iter(["b", {"text": "First first text"}]),
        [("b", 2.0), ("a", 1.0)],
        {"a": 1.0, "b": 2.0},
        [{"_id": "b", "score": 0.9}, {"_id": "a", "score": 0.1}],
        {"documents": [{"id": "b"}, {"id": "a"}]},
        {"retriever": {"documents": [{"id": "b"}, {"id": "a"}]}},
        {"ids": [["b", "a"]], "distances": [[0.1, 0.2]]},
        SimpleNamespace(
            points=[SimpleNamespace(id="b", score=2), SimpleNamespace(id="a", score=1)]
        ),
        [{"id": 17, "metadata": {"source": "b"}}, {"id": 18, "meta": {"source": "a"}}],
        [{"node": {"node_id": "x1", "ref_doc_id": "b"}}, {"node": {"ref_doc_id": "a"}}],
        [SimpleNamespace(page_content="second text"), SimpleNamespace(page_content="first text")],
    ],
)
def test_every_shape_gives_the_same_ranking(answer):
    scores = ranked(answer, 10, KNOWN)
    assert list(scores) == ["b", "a"]
    assert scores["b"] > scores["a"]


def test_the_first_of_a_documents_chunks_counts_before_the_cut():
    chunks = [{"doc_id": "b"}, {"doc_id": "b"}, {"doc_id": "a"}]
    assert list(ranked(chunks, 2, KNOWN)) == ["b", "a"]
    assert list(ranked(chunks, 1, KNOWN)) == ["b"]


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
        ([("b", math.nan)], "score nan"),
        ([("b", math.inf)], "score inf"),
        ([("b", 10**400)], "no finite number"),
        ([("b", "high")], "str for a score"),
        ([("b", 1, 2)], "tuple of 3"),
        ([("b\ud800", 1.0)], r"an id with half a surrogate pair \(\\ud800\)"),
        ([{"title": "First"}], "without an id"),
        ([None], "NoneType without an id|nothing without an id"),
    ],
)
def test_what_is_no_ranking_is_a_failure(answer, problem):
    with pytest.raises(RetrievalError, match=problem):
        ranked(answer, 5, KNOWN)
