"""A blend over a retriever's own results: its filters hold, and its objects come back."""

from __future__ import annotations

import asyncio
import gc
import warnings

import numpy as np
import pytest

from argus.data.types import Query
from argus.errors import InputError
from argus.indexes.retriever import IndexRetriever
from argus.retrievers.blended import BlendedRetriever
from tests.support.blended import defined, numbered, queries, same_ranking
from tests.support.blended_stores import in_memory

QUERIES = queries()
EVERY = [f"d{i:03}" for i in range(60)]
SOME = EVERY[5:45:2]


def shuffled(ids, seed=3):
    return np.random.default_rng(seed).permutation(ids).tolist()


def of_all(query, k):
    return shuffled(EVERY)[:k]


def of_some(query, k):
    return shuffled(SOME)[:k]


def test_all_documents_are_ranked_as_the_index_does(index):
    with BlendedRetriever(of_all, index) as own:
        run = own.search(QUERIES, 60)
    for query, expected in index.search(QUERIES, 60).items():
        assert len(run[query]) == 60
        same_ranking(run[query], expected)
    dense = IndexRetriever(index.index, index.encoder, hybrid="dense")
    with BlendedRetriever(of_all, dense) as own:
        for query in QUERIES:
            same_ranking(own.search([query], 60)[query.id], defined(index, query))


def test_nothing_comes_back_that_the_retriever_did_not_return(index):
    with BlendedRetriever(of_some, index) as own:
        run = own.search(QUERIES, 60)
    assert all(set(scores) == set(SOME) for scores in run.values())
    for query in QUERIES:
        shown = [d for d in index.search([query], 60)[query.id] if d in SOME]
        assert next(iter(run[query.id])) in shown[:5]
    with BlendedRetriever(of_some, index, depth=4) as own:
        assert set(own.search(QUERIES[:1], 3)["q0"]) <= set(shuffled(SOME)[:4])


def test_unknown_documents_keep_their_order_and_are_told_once(index):
    def newer(query):
        return ["new-2", "d004", "new-1", "d003"]

    own = BlendedRetriever(newer, index)
    with pytest.warns(UserWarning, match="2 results are not in the index, such as 'new-2'") as told:
        scores = own.search(QUERIES, 4)["q0"]
        own.search(QUERIES, 4)
    assert set(list(scores)[:2]) == {"d003", "d004"} and list(scores)[2:] == ["new-2", "new-1"]
    assert list(scores.values()) == sorted(scores.values(), reverse=True) and len(told) == 1
    with BlendedRetriever(lambda query: [], index) as none:
        assert none.search(QUERIES, 4)["q0"] == {}


def langchain(ids):
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Pages(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(page_content=f"page {i}", metadata={"doc_id": i, "tenant": 7})
                    for i in ids]  # fmt: skip

    return Pages()


def llama_index(ids):
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Nodes(BaseRetriever):
        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=TextNode(text=f"node {i}", id_=i), score=0.1) for i in ids]

    return Nodes()


def firsts(index, query, n, among=EVERY):
    return [d for d in index.search([query], 60)[query.id] if d in among][:n]


def test_langchain_gets_its_own_documents_in_the_new_order(index):
    source = langchain(shuffled(EVERY))
    returned = {page.metadata["doc_id"]: page for page in source.invoke("anything")}
    expected = firsts(index, QUERIES[0], 5)
    with BlendedRetriever(source, index, k=5) as own:
        pages = own.invoke(QUERIES[0].text)
        assert [page.metadata["doc_id"] for page in pages] == expected
        assert pages[0] == returned[expected[0]]
        assert asyncio.run(own.ainvoke(QUERIES[0].text)) == pages
        assert own.batch([QUERIES[0].text, " "]) == [pages, []]


def test_it_is_a_retriever_of_langchain_and_stands_in_chains(index):
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    class Heard(BaseCallbackHandler):
        def on_retriever_end(self, documents, **_):
            self.documents = documents

    heard, text = Heard(), QUERIES[0].text
    with BlendedRetriever(langchain(EVERY), index, k=3) as own:
        pages = own.invoke(text)
        real = own.as_langchain(tags=["blended"])
        assert isinstance(real, BaseRetriever)
        assert real.invoke(text, {"callbacks": [heard]}) == pages == heard.documents
        assert asyncio.run(real.ainvoke(text)) == pages
        assert real.batch([text, text]) == [pages, pages]
        count = RunnableLambda(len)
        assert (real | count).invoke(text) == (own | count).invoke(text) == 3
        both = {"context": own, "question": RunnablePassthrough()}
        assert (RunnablePassthrough() | both).invoke(text) == {"context": pages, "question": text}


def test_it_is_a_retriever_of_llama_index_and_is_fused(index):
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.response_synthesizers import get_response_synthesizer
    from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
    from llama_index.core.schema import QueryBundle

    text, expected = QUERIES[1].text, firsts(index, QUERIES[1], 4)
    with BlendedRetriever(llama_index(shuffled(EVERY)), index, k=4) as own:
        nodes = own.retrieve(text)
        assert [node.node_id for node in nodes] == expected
        assert [node.text for node in nodes] == [f"node {i}" for i in expected]
        scores = own.search([QUERIES[1]], 4)["q1"]
        assert [node.score for node in nodes] == list(scores.values())
        real = own.as_llama_index()
        assert isinstance(real, BaseRetriever)
        assert real.retrieve(QueryBundle(text)) == nodes == asyncio.run(real.aretrieve(text))
        fused = QueryFusionRetriever(
            [real], llm=MockLLM(), num_queries=1, similarity_top_k=4, use_async=False
        )
        assert [node.node_id for node in fused.retrieve(text)] == expected
        engine = RetrieverQueryEngine(real, get_response_synthesizer(llm=MockLLM()))
        assert [node.node_id for node in engine.query(text).source_nodes] == expected


def test_a_store_serves_pages_and_nodes_with_its_fields(index):
    text, expected = QUERIES[0].text, firsts(index, QUERIES[0], 3)
    with BlendedRetriever(in_memory(numbered(index)), index, k=3) as own:
        pages, nodes = own.invoke(text), own.retrieve(text)
    assert [page.id for page in pages] == [node.node_id for node in nodes] == expected
    assert pages[0].page_content == nodes[0].text == f"text of {expected[0]}"
    assert pages[0].metadata["url"] == f"/{expected[0]}"
    assert not [name for page in pages for name in page.metadata if name.startswith("argus")]


def test_chunks_of_a_document_stay_together(index):
    from langchain_core.documents import Document

    def chunks(query, k):
        ids = [(i, part) for part in "ab" for i in EVERY[:6]]
        return [Document(page_content=f"{i} {part}", metadata={"source": i, "doc_id": i + part})
                for i, part in ids]  # fmt: skip

    with BlendedRetriever(chunks, index, k=5) as own:
        pages = own.invoke(QUERIES[0].text)
        ranked = list(own.search(QUERIES[:1], 6)["q0"])
    assert sorted(ranked) == EVERY[:6]
    order = [page.metadata["source"] for page in pages]
    assert order == [d for d in ranked for _ in "ab"][:5]
    assert [page.page_content[-1] for page in pages] == list("ababa")


async def asynchronous(query, k):
    await asyncio.sleep(0)
    return of_all(query, k)


class Batched:
    name = "batched"

    def search(self, queries, k):
        return {q.id: {d: -float(i) for i, d in enumerate(of_all(q.text, k))} for q in queries}


class Made:
    def __init__(self, corpus):
        self.ids = [row["_id"] for row in corpus]

    def retrieve(self, query, k):
        return shuffled(self.ids)[:k]


def generated(query, k):
    yield from of_all(query, k)


def in_dictionaries(query, top_k):
    return {"documents": [{"id": i, "content": i} for i in of_all(query, top_k)]}


@pytest.mark.parametrize(
    "source", [asynchronous, Batched(), Made, generated, in_dictionaries],
    ids=lambda s: getattr(s, "__name__", type(s).__name__),
)  # fmt: skip
def test_a_source_of_any_shape_will_do(source, index):
    with BlendedRetriever(source, index) as own:
        run = own.search(QUERIES, 10)

        async def within_a_loop():
            return own.search(QUERIES, 10), await own.ainvoke(QUERIES[0].text)

        again, pages = asyncio.run(within_a_loop())
    for query, expected in index.search(QUERIES, 60).items():
        same_ranking(run[query], expected)
    assert again == run and [page.metadata.get("id", page.id) for page in pages] == list(run["q0"])


def test_questions_from_several_threads_are_asked_in_turn(index):
    under_way = []

    def alone(query, k):
        under_way.append(query)
        assert len(under_way) == 1
        under_way.clear()
        return of_all(query, k)

    async def all_at_once(own):
        return await asyncio.gather(*(own.ainvoke(query.text) for query in QUERIES * 5))

    with BlendedRetriever(alone, index, k=3) as own:
        answers = asyncio.run(all_at_once(own))
    for query, pages in zip(QUERIES * 5, answers, strict=True):
        assert [page.id for page in pages] == firsts(index, query, 3)


def test_bad_sources_are_refused(index, tmp_path):
    with pytest.raises(InputError, match="and no index") as error:
        BlendedRetriever(of_all)
    assert error.value.where == "index"
    with pytest.raises(InputError, match="is said of a store") as error:
        BlendedRetriever(of_all, index, where={"tenant": 7})
    assert error.value.where == "where"
    with pytest.raises(InputError, match="without a method that retrieves"):
        BlendedRetriever(17, index)
    with pytest.raises(InputError, match="names no retriever"):
        BlendedRetriever("nowhere", index)
    with pytest.raises(InputError):
        BlendedRetriever(str(tmp_path / "no.py"), index)

    def broken(query):
        raise RuntimeError("out of order")

    with BlendedRetriever(broken, index) as own, pytest.raises(RuntimeError, match="out of order"):
        own.search(QUERIES, 3)


def test_a_package_that_is_absent_is_named(index, monkeypatch):
    import sys

    with warnings.catch_warnings(action="ignore"):  # connections that other tests' libraries left
        gc.collect()
    own = BlendedRetriever(of_all, index)
    for package, module, call in [
        ("langchain-core", "langchain_core.documents", own.invoke),
        ("llama-index-core", "llama_index.core.schema", own.retrieve),
    ]:
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(InputError, match=f"{package} is not installed"):
            call(QUERIES[0].text)
    assert own.search([Query("q", "river")], 3)["q"]
    own.close()
    del own
    with warnings.catch_warnings(action="error"):
        gc.collect()
