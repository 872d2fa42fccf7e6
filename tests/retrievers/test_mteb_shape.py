"""A search as mteb has them: it indexes the corpus, and is asked in tables."""

from __future__ import annotations

import pytest

from argus.data.types import Query
from argus.errors import ArgusError, InputError
from argus.retrievers.opening import opened
from tests.retrievers.conftest import by_words

QUERIES = [Query("q1", "hot leaves"), Query("q2", "jamaica, reggae")]


class Search:
    """The methods of mteb 2.26 (SearchProtocol)."""

    def __init__(self):
        self.indexed = []

    def index(self, corpus, *, task_metadata, hf_split, hf_subset, encode_kwargs, num_proc=None):
        assert task_metadata.modalities == ["text"] and encode_kwargs == {}
        assert corpus["title"][0] == corpus[0]["title"] == "Tea"
        self.indexed.append({row["id"] for row in corpus})

    def search(
        self, queries, *, task_metadata, hf_split, hf_subset, top_k, encode_kwargs,
        top_ranked=None, num_proc=None,
    ):  # fmt: skip
        rows = zip(queries["id"], queries["text"], strict=True)
        assert queries.column_names == ["id", "text"]
        return {id_: dict(by_words(text, top_k)) for id_, text in rows}


def test_it_indexes_once_and_answers(documents):
    search = Search()
    with opened(search, documents=documents) as source:
        runs = [source.search(QUERIES, 2) for _ in range(2)]
    assert search.indexed == [{"tea", "coffee", "ska"}] and runs[0] == runs[1]
    assert [next(iter(runs[0][q.id])) for q in QUERIES] == ["tea", "ska"]


def test_it_needs_the_corpus_and_may_fail_on_it(documents):
    with pytest.raises(InputError, match="--corpus"), opened(Search()):
        pass

    class Broken(Search):
        def index(self, corpus, *, task_metadata, hf_split, hf_subset, encode_kwargs):
            raise MemoryError("too large")

    with (
        opened(Broken(), documents=documents) as source,
        pytest.raises(ArgusError, match="could not index the corpus: it raised MemoryError"),
    ):
        source.ask(QUERIES, 2)
