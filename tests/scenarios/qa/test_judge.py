import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.jobs.answers import Failure
from argus.scenarios.qa.judge import read_judgement


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("REASON:\nCovers most.\nSCORE:\n60", 60),
        ("**Score**: **60**", 60),
        ("SCORE: 60 out of 100.", 60),
        ("SCORE: 60 (three of five points)", 60),
        ("Final score: 60", 60),
        ('{\n"REASON": "covers it",\n"SCORE": 60\n}', 60),
        ("SCORE: 60\nSCORE: 60", 60),
        ("REASON: ok\nSCORE: 62.5\n", 62.5),
        ("SCORE: 62,5", 62.5),
        ("ＳＣＯＲＥ：６０", 60),
        ("SCORE: ٦٠", 60),
        ("<think>SCORE: 10? No.\nSCORE: 90</think>\nREASON: x\nSCORE: 60", 60),
    ],
)
def test_a_score_is_read_however_it_is_written(text, score):
    vote = read_judgement(text)
    assert (vote.value, vote.failure) == (score, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The answer is mostly right.", "no line 'SCORE: NUMBER'; it says 'The answer is mostly"),
        ("", "it says ''"),
        ("I give it a score: 60", "no line 'SCORE"),
        ("REASON: fine\nSCORE:", "no number from 0 to 100 after SCORE: ''"),
        ("SCORE: 60-70", "'60-70'"),
        ("SCORE: 6/10", "'6/10'"),
        ("SCORE: The score you give, e.g., 60", "e.g., 60"),
        ("SCORE: 60\nOn reflection:\nSCORE: 70", "several scores: 60 and 70"),
    ],
)
def test_what_leaves_doubt_is_no_score_and_no_zero(text, said):
    vote = read_judgement(text)
    assert (vote.value, vote.failure) == (None, Failure.UNPARSABLE)
    assert said in vote.reason


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that.",
        "I’m sorry, I cannot judge people.",
        "As an AI language model, I do not grade.",
    ],
)
def test_a_judge_that_refuses_in_words_is_told_apart(text):
    assert read_judgement(text).failure is Failure.REFUSED


@given(st.text(max_size=300))
def test_nothing_that_a_model_writes_raises(text):
    vote = read_judgement(text)
    assert (vote.value is None) == (vote.failure is not None)
    assert vote.value is None or 0 <= vote.value <= 100


def test_a_long_rule_of_dashes_takes_no_time():
    assert read_judgement("-\n" * 100_000 + "SCORE: 60").value == 60
