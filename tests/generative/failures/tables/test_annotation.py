import pytest

from argus.generative.failures.tables import figures
from argus.measures.intervals import wilson

OUTCOMES = ["hit"] * 4 + ["unannotated"] * 5 + ["absent", None]
JUDGED = [None] * 4 + ["YES", "YES", "PARTIAL", "NO", "failed"] + [None, None]


def annotation(table):
    return figures(table, k=10, seed=0)["annotation"]


def judged(table, outcomes=OUTCOMES, verdicts=JUDGED):
    n = len(outcomes)
    columns = {"judged": verdicts} if verdicts else {}
    return annotation(
        table(positives=[1] * n, answer_hit_1=[0] * n, answer_outcome=outcomes, **columns)
    )


def test_outcomes_are_of_questions_with_positives_and_answers(table):
    found = judged(table)["t09_outcomes"]
    assert found["n"] == 10
    assert [row[:3] for row in found["rows"]] == [
        ["hit", 4, 0.4], ["unannotated", 5, 0.5], ["absent", 1, 0.1],
    ]  # fmt: skip


def test_adjusted_hits_add_verdicts(table):
    found = judged(table)["t11_adjusted_hits"]
    assert found["n"] == 10
    made = {row[0]: row[1:] for row in found["rows"]}
    low, high = wilson(0.6, 10)
    assert made["hit_k"][:2] == [4, 0.4]
    assert made["yes"] == pytest.approx([6, 0.6, float(low), float(high)])
    assert made["yes_and_partial"][:2] == [7, 0.7]


def test_a_case_without_a_judge_is_counted_apart(table):
    found = judged(table, ["hit", "unannotated", "unannotated"], [None, "NO", None])
    assert found["t10_verdicts"]["rows"][-1][:2] == ["not_judged", 1]
    assert found["t11_adjusted_hits"]["rows"][1][1] == 1
