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


def test_adjusted_hits_add_verdicts_and_at_most_failed_ones(table):
    found = judged(table)["t11_adjusted_hits"]
    assert found["n"] == 10
    made = {row[0]: row[1:] for row in found["rows"]}
    low, high = wilson(0.6, 10)
    assert made["hit_k"][:2] + made["hit_k"][4:] == [4, 0.4, 4, 0.4]
    assert made["yes"] == pytest.approx([6, 0.6, float(low), float(high), 7, 0.7])
    assert made["yes_and_partial"][:2] + made["yes_and_partial"][4:] == [7, 0.7, 8, 0.8]


def test_a_case_without_a_judge_may_count_at_most(table):
    found = judged(table, ["hit", "unannotated", "unannotated"], [None, "NO", None])
    assert found["t10_verdicts"]["rows"][-1][:2] == ["not_judged", 1]
    assert found["t11_adjusted_hits"]["rows"][1][1] == 1
    assert found["t11_adjusted_hits"]["rows"][1][5:] == [2, pytest.approx(2 / 3)]


def test_a_passage_without_a_verdict_may_raise_the_best_one(table):
    # YES stays; PARTIAL and NO may be YES, the NO that is not open may not; failed counts once.
    verdicts = ["YES", "PARTIAL", "NO", "NO", "failed", None, None]
    found = annotation(
        table(
            positives=[1] * 7,
            answer_hit_1=[0] * 7,
            answer_outcome=["unannotated"] * 6 + ["hit"],
            judged=verdicts,
            judged_open=[1, 2, 1, 0, 3, None, None],
        )
    )["t11_adjusted_hits"]
    at_most = {row[0]: (row[1], row[5]) for row in found["rows"]}
    # hit 1; + YES 1, and PARTIAL, NO, failed, not judged; + PARTIAL, and NO, failed, not judged.
    assert at_most == {"hit_k": (1, 1), "yes": (2, 6), "yes_and_partial": (3, 6)}
