import math
import shutil
import sys

import ir_measures
import pytest

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
        ("RBP", "cannot be computed by what is installed"),
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
    assert str(caught.value).startswith(f"measure {name!r} {problem}; expected a name such as")


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is written in Perl")
def test_gdeval_takes_ids_that_are_no_numbers():
    run, qrels = {"q 1": {"d a": 2.0, "d b": 1.0}}, {"q 1": {"d b": 1}}
    assert evaluate(run, qrels, ["ERR@20"]).aggregate == {"ERR@20": 0.03125}


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="ir-measures' own parser reads ast.Num")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_are_read_as_ir_measures_reads_them():
    names = ("AP(rel=2)@100", "nDCG(dcg='exp-log2')@10", "nDCG(gains={0:0,1:5})@5", "IPrec@0.1",
             "SetF(beta=2.0)", "P(judged_only=True)@5", "Success@1", "Bpref")  # fmt: skip
    for name in names:
        assert measure_name(name) == str(ir_measures.parse_measure(name)), name
