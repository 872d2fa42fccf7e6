"""A blend over a retriever's own results: its filters hold, and its objects come back."""

import asyncio

import numpy as np
import pytest

from argus.errors import InputError
from argus.indexes.retriever import IndexRetriever
from argus.retrievers.blended import BlendedRetriever
from tests.retrievers.conftest import langchain, llama_index
from tests.support.blended import defined, queries, same_ranking

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


def scored(query):
    return [(id_, 0.1) for id_ in shuffled(EVERY)]


def test_it_is_a_retriever_of_langchain_and_stands_in_chains(index):
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    text = QUERIES[0].text
    with BlendedRetriever(langchain(scored), index, k=3) as own:
        pages = own.invoke(text)
        real = own.as_langchain(tags=["blended"])
        assert isinstance(real, BaseRetriever)
        assert real.invoke(text) == pages == asyncio.run(real.ainvoke(text))
        assert real.batch([text, text]) == [pages, pages]
        count = RunnableLambda(len)
        assert (real | count).invoke(text) == (own | count).invoke(text) == 3
        both = {"context": own, "question": RunnablePassthrough()}
        assert (RunnablePassthrough() | both).invoke(text) == {"context": pages, "question": text}


def test_it_is_a_retriever_of_llama_index_and_of_its_engines(index):
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.response_synthesizers import get_response_synthesizer
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import QueryBundle

    text, expected = QUERIES[1].text, list(index.search([QUERIES[1]], 4)["q1"])
    with BlendedRetriever(llama_index(scored), index, k=4) as own:
        nodes = own.retrieve(text)
        assert [node.node_id for node in nodes] == expected
        assert [node.text for node in nodes] == [f"node {i}" for i in expected]
        scores = own.search([QUERIES[1]], 4)["q1"]
        assert [node.score for node in nodes] == list(scores.values())
        real = own.as_llama_index()
        assert isinstance(real, BaseRetriever)
        assert real.retrieve(QueryBundle(text)) == nodes == asyncio.run(real.aretrieve(text))
        engine = RetrieverQueryEngine(real, get_response_synthesizer(llm=MockLLM()))
        assert [node.node_id for node in engine.query(text).source_nodes] == expected


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


def test_bad_sources_are_refused(index, tmp_path):
    for arguments, options, message in [
        ((of_all,), {}, "and no index"),
        ((of_all, index), {"where": {"tenant": 7}}, "is said of a store"),
        ((17, index), {}, "without a method that retrieves"),
        (("nowhere", index), {}, "names no retriever"),
        ((str(tmp_path / "no.py"), index), {}, "no.py"),
    ]:
        with pytest.raises(InputError, match=message):
            BlendedRetriever(*arguments, **options)

    def broken(query):
        raise RuntimeError("out of order")

    with BlendedRetriever(broken, index) as own, pytest.raises(RuntimeError, match="out of order"):
        own.search(QUERIES, 3)
