"""Excluded documents are out of every system's results before anything is measured."""

import pytest

from argus.data import Document, Query
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.job import evaluate
from argus.indexes.job import build_index
from tests.support.word_encoder import WordEncoder

QUERIES = [Query("q1", "hot leaves"), Query("q2", "hot beans")]
QRELS = {"q1": {"tea": 1}, "q2": {"coffee": 1}}
CORPUS = [
    Document("post-1", "hot leaves"),
    Document("post-2", "hot leaves hot"),
    Document("tea", "leaves hot water"),
    Document("coffee", "beans hot"),
]
EXCLUDED = {"q1": ["post-1", "post-2"]}
ONE = EvaluateConfig(measures=("nDCG@1", "RR"), depth=1, resamples=1000)


@pytest.fixture
def index(tmp_path):
    build_index(CORPUS, out=tmp_path / "index", encoder=WordEncoder())
    return tmp_path / "index"


def scores(result):
    return {row["query_id"]: row["nDCG@1"] for row in result.table.to_pylist()}


@pytest.fixture
def judge(tmp_path):
    def measure(**options):
        folder = tmp_path / f"out-{len(list(tmp_path.iterdir()))}"
        return evaluate(QUERIES, QRELS, out=folder, config=ONE, **options)

    return measure


def test_an_index_is_searched_deep_enough(judge, index):
    asked = {"indexes": [str(index)], "encoder": WordEncoder()}
    before, after = judge(**asked), judge(**asked, excluded=EXCLUDED)
    assert scores(before) == {"q1": 0, "q2": 1} and scores(after) == {"q1": 1, "q2": 1}


def test_excluded_ids_of_another_task_are_refused(judge):
    with pytest.raises(InputError, match="none of the 1 queries") as error:
        judge(runs=[{"q1": {"tea": 1.0}}], excluded={"other": ["tea"]})
    assert error.value.where == "--excluded"
