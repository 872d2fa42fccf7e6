"""The shapes of retrievers: which method is called, and with what."""

from __future__ import annotations

import pytest

from argus.data.types import Query
from argus.errors import InputError
from argus.retrievers.opening import opened
from tests.retrievers.conftest import by_words

QUERIES = [Query("q1", "hot leaves"), Query("q2", "jamaica, reggae")]


class Car:
    def retrieve(self, query, corpus, k):
        assert {d["doc_id"] for d in corpus} == {"tea", "coffee", "ska"}
        return [id_ for id_, _ in by_words(query, k)]


class MadeWithCorpus:
    def __init__(self, corpus):
        self.ids = [d["_id"] for d in corpus]

    def retrieve(self, query: str, k: int = 3) -> list[str]:
        return [id_ for id_, _ in by_words(query, k) if id_ in self.ids]


class Txtai:
    def search(self, query, limit=3):
        return [{"id": id_, "score": score} for id_, score in by_words(query, limit)]


class Haystack:
    def run(self, query: str, top_k: int | None = None):
        return {"documents": [{"id": id_, "content": ""} for id_, _ in by_words(query, top_k or 3)]}


class Beir:
    def search(self, corpus, queries, top_k):
        assert corpus["tea"]["title"] == "Tea"
        return {i: dict(by_words(text, top_k)) for i, text in queries.items()}


class Argus:
    name = "words"

    def search(self, queries, k):
        return {q.id: dict(by_words(q.text, k)) for q in queries}


class Asynchronous:
    async def retrieve(self, query, top_k):
        return by_words(query, top_k)


class Store:
    def similarity_search_with_score(self, query, k=4, **options):
        return [({"doc_id": id_}, 1 - score) for id_, score in by_words(query, k)]  # a distance


def function(query):
    return by_words(query, 3)


async def coroutine(question, n_results):
    return by_words(question, n_results)


@pytest.mark.parametrize(
    "retriever",
    [
        Car, Car(), MadeWithCorpus, Txtai(), Haystack(), Beir(), Argus(), Asynchronous(), Store(),
        function, coroutine,
    ],
    ids=lambda r: getattr(r, "__name__", type(r).__name__),
)  # fmt: skip
def test_a_retriever_of_each_shape_answers(retriever, documents):
    with opened(retriever, documents=documents) as source:
        answers = source.ask(QUERIES, 2)
        assert not answers.failed
        assert [next(iter(answers.run[q.id])) for q in QUERIES] == ["tea", "ska"]
        assert all(len(scores) <= 3 for scores in answers.run.values())
        assert source.search(QUERIES, 2) == answers.run


def test_what_it_cannot_be_given_is_told(documents):
    def needs_more(query, user, k):
        raise AssertionError

    with pytest.raises(InputError, match="needs user"), opened(needs_more):
        pass
    with pytest.raises(InputError, match="takes no query"), opened(lambda: []):
        pass
    with pytest.raises(InputError, match="without a method that retrieves"), opened(17):
        pass

    class Unmade:
        def __init__(self, address):
            raise AssertionError

        def retrieve(self, query):
            raise AssertionError

    with pytest.raises(InputError, match="Unmade\\(\\) raised TypeError"), opened(Unmade):
        pass


class SynchronousStore(Store):
    async def asimilarity_search_with_score(self, *args, **options):
        raise AssertionError


def test_a_twin_that_tells_no_parameters_is_passed_by():
    with opened(SynchronousStore()) as source:
        assert next(iter(source.search(QUERIES, 2)["q1"])) == "tea"


@pytest.mark.parametrize("retriever", [Car, MadeWithCorpus, Beir()])
def test_a_corpus_that_is_needed_and_absent_is_told(retriever):
    with pytest.raises(InputError, match="--corpus"), opened(retriever):
        pass


def test_langchain_and_llama_index_are_asked_as_they_are(documents):
    from langchain_core.documents import Document as Page
    from langchain_core.retrievers import BaseRetriever as LangChain
    from llama_index.core.retrievers import BaseRetriever as LlamaIndex
    from llama_index.core.schema import NodeWithScore, TextNode

    texts = {d.id: d.text for d in documents}

    class Pages(LangChain):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Page(page_content=texts[id_]) for id_, _ in by_words(query, 3)]

    class Nodes(LlamaIndex):
        def _retrieve(self, query_bundle):
            return [
                NodeWithScore(node=TextNode(text=texts[id_], metadata={"source": id_}), score=s)
                for id_, s in by_words(query_bundle.query_str, 3)
            ]

    for retriever in (Pages(), Nodes()):
        with opened(retriever, documents=documents) as source:
            run = source.search(QUERIES, 3)
            assert [next(iter(run[q.id])) for q in QUERIES] == ["tea", "ska"]
