"""Retrievers of LangChain and LlamaIndex themselves, wrapped."""

import asyncio
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from llama_index.core.base.base_retriever import BaseRetriever as NodeRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from argus.authority.records import Record, corpus_of
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Rule
from argus.authority.times import parse_moment
from argus.authority.wrappers import AuthorityRetriever
from argus.errors import InputError

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


class Nodes(NodeRetriever):
    def __init__(self, found):
        super().__init__()
        self.found = found

    def _retrieve(self, query_bundle):
        return self.found


def document(text, **metadata):
    return Document(page_content=text, metadata=metadata)


def node(text, id_, score, **metadata):
    return NodeWithScore(node=TextNode(text=text, id_=id_, metadata=metadata), score=score)


def test_a_langchain_document_is_replaced_by_one_of_its_class(authority):
    chain = Chain(found=[document("The flaw is open.", id="open"), document("x", id="other")])
    found = AuthorityRetriever(chain, authority).invoke("is it fixed?")
    assert [d.metadata["id"] for d in found] == ["fixed", "other"]
    assert isinstance(found[0], Document) and found[0].id == "fixed"
    assert found[0].page_content == "Release 2.0 closes it."
    assert found[0].metadata["supersedes"] == ["open superseded by fixed (patch > disclosure)"]


def test_chunks_of_superseded_documents_are_replaced_once(authority):
    chain = Chain(
        found=[
            document("a", source="open"), document("b", source="other"),
            document("c", source="open"), document("d", source="other"),
        ]
    )  # fmt: skip
    found = AuthorityRetriever(chain, authority).invoke("q")
    assert [d.page_content for d in found][1:] == ["b", "d"]
    assert found[0].id == "fixed" and len(found) == 3


def test_what_controls_takes_its_place_though_retrieved_itself(
    authority,
):
    kept = document("the note as retrieved", id="fixed")
    chain = Chain(found=[document("x", id="open"), document("y", id="other"), kept])
    found = AuthorityRetriever(chain, authority, k=2).invoke("q")
    assert found[0] is kept and found[1].page_content == "y"


def test_documents_without_record_are_returned_as_they_are(authority):
    strange = [document("no id"), document("no id"), document("x", id="elsewhere")]
    known = document("y", id="other")
    with pytest.warns(UserWarning, match="no record of 3 of the 4 retrieved items"):
        found = AuthorityRetriever(Chain(found=[*strange, known]), authority).invoke("q")
    assert found == [*strange, known]
    with pytest.warns(UserWarning, match="none of the 3 retrieved items has a record"):
        assert AuthorityRetriever(Chain(found=strange), authority).invoke("q") == strange


def test_what_is_not_in_force_yet_is_left_out():
    records = [
        Record("old", "law", parse_moment("2001"), {"a": "1"}, "Old."),
        Record("new", "law", parse_moment("2005"), {"a": "1"}, "New."),
    ]
    authority = Authority(records, [Rule("law", "law", "a")]).as_of(parse_moment("2003"))
    chain = Chain(found=[document("New.", id="new"), document("Old.", id="old")])
    assert [d.metadata["id"] for d in AuthorityRetriever(chain, authority).invoke("q")] == ["old"]


def test_asynchronous_calls_give_the_same(authority):
    chain = Chain(found=[document("The flaw is open.", id="open")])
    found = asyncio.run(AuthorityRetriever(chain, authority).ainvoke("q"))
    assert [d.id for d in found] == ["fixed"]
    nodes = Nodes([node("The flaw is open.", "open", 0.9)])
    found = asyncio.run(AuthorityRetriever(nodes, authority).aretrieve("q"))
    assert [n.node.node_id for n in found] == ["fixed"]


def test_it_stands_in_a_chain_and_answers_in_batches(authority):
    wrapped = AuthorityRetriever(Chain(found=[document("The flaw is open.", id="open")]), authority)
    chain = RunnablePassthrough() | wrapped
    assert [d.id for d in chain.invoke("q")] == ["fixed"]
    both = {"context": wrapped, "question": RunnablePassthrough()} | RunnableLambda(dict)
    assert [d.id for d in both.invoke("q")["context"]] == ["fixed"]
    assert [[d.id for d in found] for found in wrapped.batch(["q", "r"])] == [["fixed"]] * 2


def test_llamaindex_nodes_are_replaced_with_their_score(authority):
    nodes = Nodes(
        [node("The flaw is open.", "open", 0.9), node("x", "chunk-7", 0.5, doc_id="other")]
    )
    found = AuthorityRetriever(nodes, authority).retrieve("is it fixed?")
    assert isinstance(found[0], NodeWithScore) and found[0].score == 0.9
    assert found[0].node.node_id == "fixed" and "closes it" in found[0].node.get_content()
    assert found[1].node.node_id == "chunk-7"


def test_ids_can_be_found_by_a_function(authority):
    chain = Chain(found=[document("x", path="/docs/open.md")])
    wrapped = AuthorityRetriever(
        chain, authority, id_of=lambda d: d.metadata["path"].rsplit("/")[-1].removesuffix(".md")
    )
    assert [d.id for d in wrapped.invoke("q")] == ["fixed"]


def test_a_retriever_of_another_shape_is_refused(authority):
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
    rows = corpus_of(RECORDS)
    wrapped = AuthorityRetriever(Words(rows), authority)
    assert Words(rows).retrieve("flaw open", rows, 2) == ["open", "other"]
    assert wrapped.retrieve("flaw open", rows, 2) == ["fixed", "other"]
    assert wrapped.retrieve("flaw open", rows, k=1) == ["fixed"]
    assert wrapped.retrieve("flaw open") == ["fixed", "other"]  # fixed stands where open was
    assert wrapped.name == "authority(words)"


def test_a_class_is_made_with_the_records(authority):
    assert AuthorityRetriever(Words, authority).retrieve("flaw open", k=1) == ["fixed"]

    class Bare:
        def retrieve(self, query, corpus, k):
            return [row["doc_id"] for row in corpus if row["event_type"] == "disclosure"][:k]

    assert AuthorityRetriever(Bare, authority, k=1).retrieve("?") == ["fixed"]


def test_functions_pairs_and_unknown_ids_pass(authority):
    def ids(query, corpus, k):
        return ["elsewhere", "open"]

    with pytest.warns(UserWarning, match="no record of 1 of the 2 retrieved items"):
        assert AuthorityRetriever(ids, authority).retrieve("q", [], 5) == ["elsewhere", "fixed"]
    pairs = AuthorityRetriever(lambda query: [("open", 0.9), ("other", 0.2)], authority)
    assert pairs.invoke("q") == [("fixed", 0.9), ("other", 0.2)]
    assert pairs.batch(["q", "r"]) == [[("fixed", 0.9), ("other", 0.2)]] * 2


def test_a_class_that_needs_more_than_the_corpus_is_refused(authority):
    class Needy:
        def __init__(self, corpus, key):
            raise AssertionError

        def retrieve(self, query, corpus, k): ...

    with pytest.raises(InputError, match="with the corpus alone"):
        AuthorityRetriever(Needy, authority)
    with pytest.raises(InputError, match="needs user"):
        AuthorityRetriever(lambda query, user: [], authority)


def test_ids_that_are_whole_numbers_are_compared_as_their_text():
    records = [Record(id_, "note", text=f"Text {id_}.") for id_ in ("1", "2")]
    numbered = Authority(records, edges=[Edge("2", "1")])
    chain = Chain(found=[document("old", id=1)])
    (found,) = AuthorityRetriever(chain, numbered).invoke("q")
    assert (found.id, found.page_content) == ("2", "Text 2.")
    for ids in ([1], np.array([1]), np.array(["1"])):
        assert AuthorityRetriever(lambda query, ids=ids: ids, numbered).invoke("q") == ["2"]
    pairs = AuthorityRetriever(lambda query: [(1, 0.9)], numbered)
    assert pairs.invoke("q") == [("2", 0.9)]


def test_what_comes_one_by_one_is_taken(authority):
    def ids(query):
        yield "open"
        yield "other"

    class Lazy:
        def invoke(self, query, config=None):
            return (document("x", id=id_) for id_ in ids(query))

    assert AuthorityRetriever(ids, authority).invoke("q") == ["fixed", "other"]
    found = AuthorityRetriever(Lazy(), authority).invoke("q")
    assert [d.metadata["id"] for d in found] == ["fixed", "other"]
    with pytest.raises(InputError, match="None from the retriever; expected a list"):
        AuthorityRetriever(lambda query: None, authority).invoke("q")
    with pytest.raises(InputError, match=r"k=0; expected a whole number from 1"):
        AuthorityRetriever(ids, authority, k=0)
