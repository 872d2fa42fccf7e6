"""Retrievers of LangChain and LlamaIndex themselves, wrapped."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from argus.authority.relation import Authority
from argus.authority.resolution import AuthorityRetriever
from argus.authority.rules import Record, Rule, corpus_of
from argus.authority.times import parse_moment
from argus.errors import InputError
from argus.retrievers.python_retriever import corpus_rows

RECORDS = [
    Record("open", "disclosure", None, {"cve": "1"}, "The flaw is open.", "Flaw"),
    Record("fixed", "patch", None, {"cve": "1"}, "Release 2.0 closes it.", "Release 2.0"),
    Record("other", "disclosure", None, {"cve": "2"}, "Another flaw."),
]
RULES = [Rule("patch", "disclosure", "cve", order="type")]


@pytest.fixture
def authority():
    return Authority(RECORDS, RULES)


class Chain(BaseRetriever):
    """Returns given documents, whatever is asked."""

    found: list[Any]

    def _get_relevant_documents(self, query, *, run_manager):
        return self.found


def document(text, **metadata):
    return Document(page_content=text, metadata=metadata)


def test_a_langchain_document_is_replaced_by_one_of_its_class(authority):
    chain = Chain(found=[document("The flaw is open.", id="open"), document("x", id="other")])
    wrapped = AuthorityRetriever(chain, authority)
    found = wrapped.invoke("is it fixed?")
    assert asyncio.run(wrapped.ainvoke("is it fixed?")) == found
    assert [d.metadata["id"] for d in found] == ["fixed", "other"]
    assert isinstance(found[0], Document) and found[0].id == "fixed"
    assert found[0].page_content == "Release 2.0 closes it."
    assert found[0].metadata["supersedes"] == ["open superseded by fixed (patch > disclosure)"]


def test_llamaindex_nodes_are_replaced_with_their_score(authority):
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Nodes(BaseRetriever):
        def __init__(self, found):
            super().__init__()
            self.found = found

        def _retrieve(self, query_bundle):
            return self.found

    def node(text, id_, score, **metadata):
        return NodeWithScore(node=TextNode(text=text, id_=id_, metadata=metadata), score=score)

    nodes = Nodes(
        [node("The flaw is open.", "open", 0.9), node("x", "chunk-7", 0.5, doc_id="other")]
    )
    wrapped = AuthorityRetriever(nodes, authority)
    found = wrapped.retrieve("is it fixed?")
    assert asyncio.run(wrapped.aretrieve("is it fixed?")) == found
    assert isinstance(found[0], NodeWithScore) and found[0].score == 0.9
    assert found[0].node.node_id == "fixed" and "closes it" in found[0].node.get_content()
    assert found[1].node.node_id == "chunk-7"
    with pytest.raises(InputError, match="without invoke or retrieve"):
        AuthorityRetriever([], authority)


class Words:
    """CAR's own interface: made with the corpus, asked with it, ids come back."""

    name = "words"

    def __init__(self, corpus):
        self.texts = {row["doc_id"]: row["text"].lower() for row in corpus}

    def retrieve(self, query, corpus, k):
        assert {row["doc_id"] for row in corpus} <= self.texts.keys()
        words = query.lower().split()
        order = sorted(self.texts, key=lambda i: -sum(w in self.texts[i] for w in words))
        return order[:k]


def test_cars_interface_returns_ids_of_what_is_in_force(authority):
    rows = corpus_rows(corpus_of(RECORDS))
    wrapped = AuthorityRetriever(Words(rows), authority)
    assert Words(rows).retrieve("flaw open", rows, 2) == ["open", "other"]
    assert wrapped.retrieve("flaw open", rows, 2) == ["fixed", "other"]
    assert wrapped.retrieve("flaw open", rows, k=1) == ["fixed"]
    assert wrapped.retrieve("flaw open") == ["fixed", "other"]  # fixed stands where open was
    assert wrapped.name == "authority(words)"


def test_the_corpus_is_ordered_by_id_and_tells_no_metadata() -> None:
    records = [
        Record("b", "note", None, {"cve": ("1", "2")}, "old text", "Old", metadata={"gold": True}),
        Record("a", "note", parse_moment("2024-03"), {"host": "h"}, "new text"),
    ]
    assert corpus_rows(corpus_of(records)) == [
        {"doc_id": "a", "_id": "a", "type": "note", "event_type": "note", "timestamp": "2024-03",
         "entities": {"host": "h"}, "title": "", "text": "new text"},
        {"doc_id": "b", "_id": "b", "type": "note", "event_type": "note", "timestamp": None,
         "entities": {"cve": ["1", "2"]}, "title": "Old", "text": "old text"},
    ]  # fmt: skip
