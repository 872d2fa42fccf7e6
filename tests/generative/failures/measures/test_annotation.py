import pytest

from argus.generative.failures.measures.annotation import annotation
from tests.generative.failures.measures.making import found, made

ROME = "It was built in Rome."


def outcome(case, k=10):
    row = annotation(case, k)
    return row["answer_outcome"], row["answer_rank"]


def test_a_correct_passage_is_a_hit_whatever_its_text():
    case = made(found(False, text=ROME), found(True), positives=1, answers=["rome"])
    assert outcome(case) == ("hit", None)


def test_an_answer_in_an_unannotated_text_is_found_at_its_rank():
    case = made(
        found(False), found(False, text=ROME), found(False, text=ROME), found(True),
        positives=1, answers=["Paris", "rome"],
    )  # fmt: skip
    assert outcome(case, 3) == ("unannotated", 2)
    assert outcome(case, 2) == ("unannotated", 2)
    assert outcome(case, 1) == ("absent", None)


def test_nothing_found_is_absent():
    assert outcome(made(positives=1, answers=["rome"])) == ("absent", None)


@pytest.mark.parametrize("answers", [[], ["-"]])
def test_without_answers_not_even_a_hit_counts(answers):
    assert outcome(made(found(True), positives=1, answers=answers)) == (None, None)


def test_without_judgements_nothing_is_unannotated():
    assert outcome(made(found(None, text=ROME), answers=["rome"])) == (None, None)


def test_where_correctness_goes_by_answers_nothing_is_annotated():
    assert outcome(made(found(True, text=ROME), answers=["rome"])) == (None, None)
