"""Which questions are judged: a random sample of what was asked."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from argus.traffic.judging.estimates import QuestionVerdict, estimate_failures
from argus.traffic.judging.sample import ServedQuestion, draw_sample

TIMES = {f"q{i}": 1 + i % 5 for i in range(200)}


def test_a_larger_budget_holds_the_smaller_one_and_a_seed_draws_another():
    small, large = draw_sample(TIMES, 30, 0), draw_sample(dict(reversed(TIMES.items())), 90, 0)
    assert large.questions[:30] == small.questions and len(large.questions) == 90
    assert draw_sample(TIMES, 30, 1).questions != small.questions


def test_a_question_is_drawn_as_often_as_it_was_asked():
    draws = [draw_sample({"often": 9, "once": 1}, 1, seed).questions[0] for seed in range(400)]
    assert 0.85 < draws.count("often") / 400 < 0.95


def test_a_question_that_is_nearly_the_whole_log_ends_the_draw():
    assert draw_sample({"often": 10**12, "once": 1}, 2, 0).questions == ["often"]


def test_what_is_passed_over_is_counted_and_its_asks_are_left_out():
    sample = draw_sample(TIMES, 10, 0)
    first, *rest = sample.questions
    judged = set(rest[:4])
    assert sample.skipped(judged) == 1 and first not in sample.judged_asks(judged)
    assert set(sample.judged_asks(judged)) == judged


def test_intervals_hold_the_rate_of_what_was_asked():
    rng = np.random.default_rng(0)
    failed = {id_: float(rng.random() < 0.3) for id_ in TIMES}
    log = [ServedQuestion(id_, "?", ("d",), times=n) for id_, n in TIMES.items()]
    truth = sum(failed[q.id] * q.times for q in log) / sum(q.times for q in log)
    inside = 0
    for seed in range(300):
        sample = draw_sample(TIMES, 50, seed)
        verdicts = {id_: QuestionVerdict(failed[id_], 0.0) for id_ in sample.questions}
        rate = estimate_failures(log, sample, verdicts)[0]
        inside += rate["low"] <= truth <= rate["high"]
    assert inside / 300 > 0.92


@given(
    st.dictionaries(st.text(min_size=1, max_size=4), st.integers(1, 20), min_size=1, max_size=40),
    st.integers(1, 60),
)
def test_the_budget_is_kept_and_all_asks_of_a_small_log_are_drawn(times, budget):
    sample = draw_sample(times, budget, 0)
    assert len(sample.questions) == min(budget, len(times))
    if budget >= len(times):
        assert {id_: sample.asks.count(id_) for id_ in times} == times
