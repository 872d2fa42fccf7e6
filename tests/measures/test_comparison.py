from argus.measures import compare, evaluate

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
BEFORE = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"b": 1.0}, "q3": {"x": 1.0}}
AFTER = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"x": 1.0}, "q3": {"c": 1.0}}


def test_every_measure_is_compared():
    first, second = evaluate(BEFORE, QRELS, ["RR", "R@1"]), evaluate(AFTER, QRELS, ["RR", "R@1"])
    found = compare(first, second, seed=0)
    assert set(found) == {"RR", "R@1"}
    assert (found["RR"].improved, found["RR"].harmed, found["RR"].unchanged) == (1, 2, 0)
    assert found["RR"].mean_difference == (0.5 - 1 + 0 - 1 + 1 - 0) / 3
