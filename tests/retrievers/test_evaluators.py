"""What adapters ask, without the packages that they are for."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from argus.data.runs import ranking
from argus.data.types import Document, Query
from argus.errors import InputError
from argus.extras import MissingPackage
from argus.indexes.retriever import open_retriever
from argus.retrievers.evaluators import (
    Backend,
    as_beir,
    as_mteb,
    as_pyterrier,
    strictly_decreasing_float32,
)
from tests.support.retrievable import DOCUMENTS, word_index
from tests.support.word_encoder import WordEncoder

QUERIES = [Query("q1", "hot leaves"), Query("q2", "reggae Jamaica")]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return word_index(tmp_path_factory.mktemp("indexes") / "index")


@pytest.fixture
def retriever(index):
    return open_retriever(index, WordEncoder())


def test_scores_fall_in_32_bits():
    scores = {"b": 1.0, "a": 1.0, "c": 1.0 - 1e-12, "d": 0.5}
    lower = strictly_decreasing_float32(scores)
    assert list(lower) == ["a", "b", "c", "d"] and lower["d"] == 0.5
    values = [np.float32(score) for score in lower.values()]
    assert values == sorted(set(values), reverse=True)
    assert max(abs(lower[d] - scores[d]) for d in scores) < 1e-6


@pytest.mark.parametrize(
    "scores",
    [
        {"a": 1.0, "d": -1e300, "c": -1e301, "b": -1e301},
        {"a": 1e300, "b": 1e300, "c": 1e299},
        {"b": -3e38, "c": -3.4e38, "d": -3.4e38, "e": -3.4028234e38, "f": -3.4028235e38},
    ],
)
def test_scores_that_32_bits_do_not_hold_fall_too(scores):
    lower = strictly_decreasing_float32(scores)
    values = [np.float32(score) for score in lower.values()]
    assert list(lower) == ranking(scores) and np.isfinite(values).all()
    assert values == sorted(set(values), reverse=True)


@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf, None])
def test_a_score_that_ranks_nowhere_is_refused(score):
    class Odd:
        name = "odd"

        def search(self, queries, k):
            return {query.id: {"a": score, "b": 1.0} for query in queries}

    with pytest.raises(InputError, match=r"odd\['q1'\]\['a'\]: .*expected a finite number"):
        Backend(Odd()).run(QUERIES, 2)


def test_an_index_has_to_be_of_the_corpus(retriever):
    backend = Backend(retriever)
    backend.bind_corpus(DOCUMENTS)
    backend.bind_corpus(
        [*DOCUMENTS, Document("empty", " ")]
    )  # an index leaves out what has no text
    with pytest.raises(InputError, match="lacks 1 documents, such as 'more'") as error:
        backend.bind_corpus([*DOCUMENTS, Document("more", "another text")])
    assert error.value.where == retriever.index.path
    with pytest.raises(InputError, match="holds beside it"):
        backend.bind_corpus(DOCUMENTS[:1])


def test_a_function_makes_a_retriever_of_each_corpus(retriever):
    corpora = []

    def made(documents):
        corpora.append([document.id for document in documents])
        return retriever

    backend = Backend(made)
    with pytest.raises(InputError, match="no corpus yet"):
        backend.run(QUERIES, 1)
    backend.bind_corpus(DOCUMENTS)
    assert corpora == [[document.id for document in DOCUMENTS]] and backend.run(QUERIES, 1)["q1"]


def test_candidates_are_ranked_among_all_documents(retriever):
    ids = {document.id for document in DOCUMENTS}
    candidates = {"q1": ids - {"tea"}}
    run = Backend(retriever).rerank(QUERIES, candidates, 1, len(DOCUMENTS))
    assert len(run["q1"]) == 1 and "tea" not in run["q1"] and run["q2"] == {}


@pytest.mark.parametrize("source", [None, 7, object()])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(InputError, match="PATH@STATE") as error:
        Backend(source)
    assert error.value.where == "source"


@pytest.mark.parametrize(
    ("adapter", "package"), [(as_beir, "beir"), (as_mteb, "mteb"), (as_pyterrier, "pyterrier")]
)
def test_a_missing_package_names_its_extra(adapter, package, retriever, monkeypatch):
    for name in [n for n in sys.modules if n.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"argus-retrieval\\[{package}\\]"):
        adapter(retriever)
