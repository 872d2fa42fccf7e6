import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.errors import InputError
from argus.indexes.fusion import fuse, fuse_with_bm25, question_weights

IDS = st.integers(0, 9).map(str)
SCORES = st.integers(-100, 100).map(lambda tenths: tenths / 10)
DENSE = {"q": {"a": 0.9, "b": 0.5, "c": 0.1}}
LEXICAL = {"q": {"b": 12.0, "d": 4.0}, "other": {"x": 1.0}}


def test_reciprocal_ranks_add_up():
    run = fuse([DENSE, LEXICAL], 10, "rrf")
    assert run["q"] == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "d": 1 / 62, "c": 1 / 63})
    assert list(run["q"]) == ["b", "a", "d", "c"]
    assert list(run["other"]) == ["x"]


def test_min_max_scales_each_run_and_absent_documents_get_0():
    run = fuse([DENSE, LEXICAL], 10, "min-max")
    assert run["q"] == pytest.approx({"b": 0.5 + 1, "a": 1.0, "c": 0.0, "d": 0.0})
    assert list(run["q"]) == ["b", "a", "c", "d"]  # a tie of the last two, by id


def test_bm25_counts_a_fifth_unless_told_otherwise():
    run = fuse_with_bm25(DENSE, LEXICAL, 10)
    assert run["q"] == pytest.approx({"a": 0.8, "b": 0.8 * 0.5 + 0.2, "c": 0.0, "d": 0.0})
    half = fuse_with_bm25(DENSE, LEXICAL, 10, weight=0.5)
    assert half["q"]["b"] == pytest.approx(0.5 * 0.5 + 0.5)
    assert fuse_with_bm25(DENSE, LEXICAL, 10, "rrf") == fuse([DENSE, LEXICAL], 10, "rrf")


@given(runs=st.lists(st.dictionaries(IDS, SCORES, min_size=1), min_size=2, max_size=2))
def test_dbsf_scores_as_qdrant_does(runs):
    from qdrant_client.hybrid.fusion import distribution_based_score_fusion
    from qdrant_client.models import ScoredPoint

    expected = distribution_based_score_fusion(
        [[ScoredPoint(id=int(doc), version=0, score=s) for doc, s in r.items()] for r in runs], 20
    )
    fused = fuse([{"q": run} for run in runs], 20, "dbsf")["q"]
    assert fused == pytest.approx({str(point.id): point.score for point in expected})


def test_wrong_settings_are_named():
    with pytest.raises(InputError, match="fusion 'sum'; expected one of min-max, rrf, rrf-2, dbsf"):
        fuse([DENSE], 1, "sum")
    with pytest.raises(InputError, match="k=0"):
        fuse([DENSE], 0)


@pytest.mark.parametrize(
    ("weight", "coverage", "expected"),
    [(0.2, 0, 0.1), (0.2, 1 / 6, 0.2), (0.2, 0.5, 0.4), (0.2, 1, 0.4), (0.8, 1, 1), (0, 1, 0)],
)
def test_bm25_counts_more_where_a_document_covers_the_question(weight, coverage, expected):
    assert question_weights(weight, ["q"], [coverage]) == {"q": pytest.approx(expected)}
