"""A collection, and an index of it with a blend: what adapters hand to other evaluators."""

from __future__ import annotations

import pytest

from argus.data.types import Document, Query
from argus.indexes.job import build_index
from argus.indexes.retriever import open_retriever
from argus.remedies.blend.job import blend_index
from tests.support.word_encoder import WordEncoder

TEXTS = {
    "tea": "leaves in hot water . it comes from China .",
    "coffee": "roasted beans are ground . water runs through them .",
    "ska": "music of Jamaica . it came before reggae .",
    "reggae": "slow music of Jamaica . bass and drums .",
    "empty": "",
}
QUESTIONS = {"q1": "hot leaves", "q2": "music before reggae", "q3": "roasted beans"}
QRELS = {"q1": {"tea": 1}, "q2": {"ska": 1}, "q3": {"coffee": 1}}


class Repaired:
    """A blended index of TEXTS, open, and what Argus itself says of it."""

    def __init__(self, folder):
        self.documents = [Document(id_, text) for id_, text in TEXTS.items()]
        self.queries = [Query(id_, text) for id_, text in QUESTIONS.items()]
        build_index(self.documents, out=folder / "index", encoder=WordEncoder())
        blend_index(folder / "index", encoder=WordEncoder())
        self.retriever = open_retriever(folder / "index", WordEncoder())

    def ranks(self, k=10):
        """The documents of each query, best first."""
        from argus.data.runs import ranking

        run = self.retriever.search(self.queries, k)
        return {query: ranking(scores) for query, scores in run.items()}

    def scores(self, *measures):
        from argus.measures import evaluate

        return evaluate(self.retriever.search(self.queries, 10), QRELS, measures).aggregate


@pytest.fixture(scope="package")
def repaired(tmp_path_factory):
    return Repaired(tmp_path_factory.mktemp("repaired"))
