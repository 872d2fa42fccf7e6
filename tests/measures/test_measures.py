import math
import sys

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.errors import InputError
from argus.measures import evaluate, measure_name, wilson


def test_ndcg_recall_and_rank_by_hand():
    # DCG = 1/log2(3) with the one relevant document second; the ideal is 1.
    run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d3": 1.0}}
    result = evaluate(run, {"q1": {"d2": 1}, "q2": {"d9": 1}}, ["nDCG@10", "R@1", "RR"])
    assert result.per_query["q1"]["nDCG@10"] == pytest.approx(1 / math.log2(3))
    assert result.per_query["q1"] | {"nDCG@10": 0} == {"nDCG@10": 0, "R@1": 0, "RR": 0.5}
    assert result.aggregate["RR"] == 0.25


def test_wilson_interval_of_published_values():
    # 81 of 263, 95%: 0.2553 to 0.3662 (Newcombe, 1998, table I, method 3).
    low, high = wilson(81 / 263, 263)
    assert (round(float(low), 4), round(float(high), 4)) == (0.2553, 0.3662)
    # 0 of 20: 0 to 0.1611 (the same table).
    low, high = wilson(0, 20)
    assert float(low) == 0 and round(float(high), 4) == 0.1611


def test_equal_scores_rank_by_id_near_ones_by_float64():
    tied = evaluate({"q": {"b": 1.0, "a": 1.0}}, {"q": {"a": 1}}, ["RR"])
    assert tied.aggregate["RR"] == 1.0
    near = {"a": 1.0, "b": 1.0 + 1e-12}  # equal in float32
    assert evaluate({"q": near}, {"q": {"a": 1}}, ["RR"]).aggregate["RR"] == 0.5


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nDCG@0", "has the cutoff 0"),
        ("R", "needs a cutoff"),
        ("RBP", "is not known"),
        ("nDCG(rel=2)@10", "is not known"),
        ("Rprec@5", "is not known"),
        ("R(gains={1:2})@5", "is not known"),
        ("nDCG(dcg='log3')@5", "is not known"),
        ("P(**{})@3", "is not known"),
        ("nDCG@" + "-" * 3000 + "1", "is not known"),
        ("P(rel=2)@open('x')", "is not known"),
        ("R(rel=-1)@10", "has the least relevant grade -1"),
        ("nDCG(gains={1:-100000})@10", "has the gain -100000"),
        ("nDCG(gains={1: 0.5})@10", "has the gain 0.5"),
    ],
)
def test_a_measure_that_cannot_be_computed_is_refused(name, problem):
    with pytest.raises(InputError) as caught:
        evaluate({"q": {"d": 1.0}}, {"q": {"d": 1}}, [name])
    assert str(caught.value).startswith(f"measure {name!r} {problem}; expected one of nDCG, AP")


NAMES = (
    "nDCG", "nDCG@5", "nDCG(judged_only=True)@5", "AP", "AP@5",
    "AP(rel=2)@10", "P@5", "P(rel=2)@3", "P(judged_only=True)@5", "R@5", "R(rel=2)@10", "RR",
    "RR@3", "RR(rel=2)", "Rprec", "Success@1",
)  # fmt: skip
lists = st.lists(st.integers(0, 14), unique=True, max_size=12)
grades = st.dictionaries(st.integers(0, 14), st.integers(0, 3), min_size=1, max_size=9)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@given(st.dictionaries(st.sampled_from("abc"), st.tuples(lists, grades), min_size=1))
def test_values_are_those_of_ir_measures(asked):
    run = {
        q: {str(doc): -float(i) for i, doc in enumerate(found)} for q, (found, _) in asked.items()
    }
    qrels = {q: {str(doc): grade for doc, grade in of.items()} for q, (_, of) in asked.items()}
    own, reference = evaluate(run, qrels, NAMES), map(ir_measures.parse_measure, NAMES)
    for metric in ir_measures.iter_calc(list(reference), qrels, run):
        value = own.per_query[metric.query_id][str(metric.measure)]
        assert value == pytest.approx(metric.value, abs=1e-9), metric


@pytest.mark.parametrize("name", ["nDCG(dcg='exp-log2')@10", "nDCG(gains={1:1,3:7})@10"])
def test_gain_may_be_exponential_or_named(name):
    run, qrels = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1, "b": 3}}
    expected = (1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))
    assert [*evaluate(run, qrels, [name]).aggregate.values()] == [pytest.approx(expected)]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="ir-measures' own parser reads ast.Num")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_are_read_as_ir_measures_reads_them():
    for name in (
        *NAMES,
        "nDCG(gains={1:3,2:7})@5",
        "NDCG@10",
        "MAP",
        "MRR@10",
        "Recall@5",
        "nDCG(dcg='exp-log2')@10",
    ):
        assert measure_name(name) == str(ir_measures.parse_measure(name)), name
