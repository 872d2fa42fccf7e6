"""What adapters ask, without the packages that they are for."""

from __future__ import annotations

import numpy as np
import pytest

from argus.data.runs import ranking
from argus.data.types import Document, Query
from argus.errors import InputError
from argus.indexes.retriever import open_retriever
from argus.retrievers.evaluators import (
    Backend,
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


@pytest.mark.parametrize("source", [None, 7, object()])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(InputError, match="PATH@STATE") as error:
        Backend(source)
    assert error.value.where == "source"
