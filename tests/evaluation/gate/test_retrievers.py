"""The gate on figures that were measured with a retriever."""

from __future__ import annotations

import pytest

from argus.data.types import Query
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.gate import GateBounds, Verdict, gate
from argus.evaluation.job import evaluate
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.job import exposure
from tests.support.retrievable import DOCUMENTS

QUERIES = [Query(f"q{i}", f"{d.title} please") for i, d in enumerate(DOCUMENTS)]
QRELS = {query.id: {d.id: 1} for query, d in zip(QUERIES, DOCUMENTS, strict=True)}
MEASURES = EvaluateConfig(resamples=1000, measures=("R@10", "nDCG@10"), depth=10)


def by_title(query, k):
    """Bring back the document whose title a query begins with; fail on rain."""
    if query.startswith("Rain"):
        raise OSError("the shard is gone")
    return [d.id for d in DOCUMENTS if query.startswith(d.title) and d.id != "ska"][:k]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("results")
    exposure(DOCUMENTS, out=out, retriever=by_title, config=ExposureConfig(k=2, sentences=0))
    evaluate(QUERIES, QRELS, out=out, retrievers=[by_title], config=MEASURES)
    return out


@pytest.mark.parametrize(
    ("bound", "value", "verdict"),
    [
        ({"max_never_retrieved_share": 0.5}, 1 / 3, Verdict.PASS),
        ({"max_never_retrieved_share": 0.4}, 1 / 3, Verdict.NOT_MEASURED),
        ({"max_never_retrieved_share": 0.2}, 1 / 3, Verdict.FAIL),
        ({"min_self_retrieval": 0.5}, 2 / 3, Verdict.PASS),
        ({"min_self_retrieval": 0.6}, 2 / 3, Verdict.NOT_MEASURED),
        ({"min_recall": 0.5}, 2 / 3, Verdict.PASS),
        ({"min_recall": 0.6}, 2 / 3, Verdict.NOT_MEASURED),
        ({"min_ndcg": 0.8}, 2 / 3, Verdict.FAIL),
    ],
)
def test_a_failed_query_counts_as_the_worst(folder, bound, value, verdict):
    (outcome,) = gate([folder], GateBounds(**bound)).outcomes
    assert outcome.value == pytest.approx(value) and outcome.verdict is verdict
