import pytest

from argus.evaluation.judged import rps_association

RUN = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q3": {}}
QRELS = {"q1": {"a": 1, "b": 2, "x": 0}, "q2": {"c": 1, "gone": 1}, "q3": {"d": 1, "blank": 1}}
RPS = {"a": 0.8, "b": 0.2, "c": 0.6, "d": 0.3, "x": 0.99}


def test_the_statistic_by_hand():
    (at_2,) = rps_association(
        RUN, QRELS, RPS, seed=0, ks=[2], indexed={"a", "b", "c", "d", "x", "blank"}
    )
    # Retrieved: a, c. Unretrieved: b (third), d. x is judged non-relevant.
    assert (at_2["retrieved"], at_2["unretrieved"]) == (2, 2)
    assert at_2["mean_retrieved"] == pytest.approx(0.7)
    assert at_2["mean_unretrieved"] == pytest.approx(0.25)
    assert at_2["difference"] == pytest.approx(0.45)
    assert (at_2["not_indexed"], at_2["without_rps"]) == (1, 1)


def test_pairs_of_one_query_stay_together_in_the_interval():
    """A group that hangs on one query is in too few draws: no interval, not a wrong one."""
    qrels = {"q0": {"d0": 1}} | {f"q{i}": {f"d{i}": 1} for i in range(1, 40)}
    run = {"q0": {"d0": 1.0}}
    rps = {f"d{i}": 0.5 for i in range(40)}
    (found,) = rps_association(run, qrels, rps, seed=0, ks=[10], resamples=500)
    assert found["retrieved"] == 1 and found["difference"] == 0 and found["low"] is None
