import pytest

from argus.generative.failures.tables.annotation import annotation
from argus.measures.intervals import wilson

OUTCOMES = ["hit"] * 4 + ["unannotated"] * 5 + ["absent", None]
JUDGED = [None] * 4 + ["YES", "YES", "PARTIAL", "NO", "failed"] + [None, None]


def judged(rows, outcomes=OUTCOMES, verdicts=JUDGED):
    n = len(outcomes)
    columns = {"judged": verdicts} if verdicts else {}
    return annotation(
        rows(positives=[1] * n, answer_hit_1=[0] * n, answer_outcome=outcomes, **columns)
    )


def test_outcomes_are_of_questions_with_positives_and_answers(rows):
    found = judged(rows)["t09_outcomes"]
    assert found["n"] == 10
    assert [row[:3] for row in found["rows"]] == [
        ["hit", 4, 0.4], ["unannotated", 5, 0.5], ["absent", 1, 0.1],
    ]  # fmt: skip


def test_verdicts_are_counted_over_unannotated_cases(rows):
    found = judged(rows)["t10_verdicts"]
    assert found["n"] == 5
    low, high = wilson(0.4, 5)
    assert found["rows"][0] == ["YES", 2, 0.4, float(low), float(high)]
    assert [row[:3] for row in found["rows"][1:]] == [
        ["PARTIAL", 1, 0.2], ["NO", 1, 0.2], ["failed", 1, 0.2],
    ]  # fmt: skip


def test_adjusted_hits_add_verdicts_and_at_most_failed_ones(rows):
    found = judged(rows)["t11_adjusted_hits"]
    assert found["n"] == 10
    made = {row[0]: row[1:] for row in found["rows"]}
    low, high = wilson(0.6, 10)
    assert made["hit_k"][:2] + made["hit_k"][4:] == [4, 0.4, 4, 0.4]
    assert made["yes"] == [6, 0.6, float(low), float(high), 7, 0.7]
    assert made["yes_and_partial"][:2] + made["yes_and_partial"][4:] == [7, 0.7, 8, 0.8]


def test_a_case_without_a_judge_may_count_at_most(rows):
    found = judged(rows, ["hit", "unannotated", "unannotated"], [None, "NO", None])
    assert found["t10_verdicts"]["rows"][-1][:2] == ["not_judged", 1]
    assert found["t11_adjusted_hits"]["rows"][1][1] == 1
    assert found["t11_adjusted_hits"]["rows"][1][5:] == [2, pytest.approx(2 / 3)]


def test_a_passage_without_a_verdict_may_raise_the_best_one(rows):
    # YES stays; PARTIAL and NO may be YES, the NO that is not open may not; failed counts once.
    verdicts = ["YES", "PARTIAL", "NO", "NO", "failed", None, None]
    found = annotation(
        rows(
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


def test_without_a_judge_tables_10_and_11_say_so(rows):
    found = judged(rows, verdicts=None)
    assert found["t09_outcomes"]["n"] == 10
    for name in ("t10_verdicts", "t11_adjusted_hits"):
        assert found[name]["not_applicable"].endswith("Give one: --llm.")


def test_nothing_to_judge_is_not_a_missing_judge(rows):
    found = judged(rows, ["hit", "absent"], [None, None])
    assert found["t10_verdicts"]["not_applicable"].endswith("there is nothing to judge.")


def test_answers_and_positives_are_needed_together(rows):
    no_answers = annotation(rows(positives=[1]))
    assert "have no answers" in no_answers["t09_outcomes"]["not_applicable"]
    never_both = annotation(rows(positives=[1, None], answer_hit_1=[None, 1]))
    for table in never_both.values():
        assert table == {"not_applicable": "No question has both positives and answers."}
