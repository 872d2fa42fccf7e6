"""Objects, functions and classes of any shape, here and in Python files of a user's own."""

from functools import partial

import pytest

from argus.data.types import Query
from argus.errors import InputError
from argus.retrievers.opening import opened
from tests.retrievers.conftest import by_words, langchain, llama_index

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


class Argus:
    name = "words"

    def search(self, queries, k):
        return {q.id: dict(by_words(q.text, k)) for q in queries}


class Store:
    def similarity_search_with_score(self, query, k=4, **options):
        return [({"doc_id": id_}, 1 - score) for id_, score in by_words(query, k)]  # a distance


class StoreWithAnInheritedTwin(Store):
    async def asimilarity_search_with_score(self, *args, **options):
        raise AssertionError


def function(query):
    return by_words(query, 3)


async def coroutine(question, n_results):
    return by_words(question, n_results)


@pytest.mark.parametrize(
    "retriever",
    [
        Car, Car(), MadeWithCorpus, Txtai(), Haystack(), Argus(),
        Store(), StoreWithAnInheritedTwin(), function, coroutine,
        partial(langchain, function), partial(llama_index, function),
    ],
    ids=lambda r: getattr(r, "__name__", type(r).__name__),
)  # fmt: skip
def test_a_retriever_of_each_shape_answers(retriever, documents):
    made = retriever() if isinstance(retriever, partial) else retriever
    with opened(made, documents=documents) as source:
        answers = source.ask(QUERIES, 2)
        assert not answers.failed
        assert [next(iter(answers.run[q.id])) for q in QUERIES] == ["tea", "ska"]
        assert all(len(scores) <= 3 for scores in answers.run.values())
        assert source.search(QUERIES, 2) == answers.run


class Unmade:
    def __init__(self, address):
        raise AssertionError

    def retrieve(self, query):
        raise AssertionError


@pytest.mark.parametrize(
    ("retriever", "problem"),
    [
        (lambda query, user, k: [], "needs user"),
        (lambda: [], "takes no query"),
        (17, "without a method that retrieves"),
        (Unmade, r"Unmade\(\) raised TypeError"),
        (MadeWithCorpus, "--corpus"),
    ],
)
def test_a_retriever_that_cannot_be_asked_is_refused(retriever, problem):
    with pytest.raises(InputError, match=problem) as error, opened(retriever):
        pass
    assert error.value.where == "retriever"


@pytest.mark.parametrize(
    ("text", "spec", "problem"),
    [
        ("x = 1", "", "nothing in it that retrieves"),
        ("def retrieve(q): ...\ndef search(q): ...", "", "2 things.*retrieve, search"),
        ("def retrieve(q): ...", ":other", "no other in it"),
        ("import nowhere_at_all", "", "raised ModuleNotFoundError when run"),
        ("def retrieve(", "", "is not Python"),
        ("raise SystemExit(3)", "", "raised SystemExit when run"),
    ],
)
def test_a_file_without_a_retriever_is_refused(tmp_path, text, spec, problem):
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(InputError, match=problem) as error, opened(f"{file}{spec}"):
        pass
    assert error.value.where == file
