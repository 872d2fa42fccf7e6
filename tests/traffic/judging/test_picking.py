"""Which questions are judged."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.traffic.judging.picking import FLOOR, extended, pick_to_judge

RISKS = {f"q{i}": i / 200 for i in range(200)}


def drawn(strata):
    return [id_ for stratum in strata for id_ in stratum.drawn]


def test_strata_are_of_like_risk_and_every_one_is_judged():
    strata = pick_to_judge(RISKS, 60)
    assert len(strata) == 5 and sum(len(s.order) for s in strata) == 200
    assert all(s.judged >= FLOOR for s in strata) and len(drawn(strata)) == 60
    bounds = [s.risk for s in strata]
    assert all(a[1] <= b[0] for a, b in pairwise(bounds))


def test_more_is_judged_where_judgements_may_differ():
    risks = {f"a{i}": 0.01 + i / 1e6 for i in range(100)} | {
        f"b{i}": 0.5 + i / 1e6 for i in range(100)
    }
    low, high = pick_to_judge(risks, 24)
    assert low.judged >= FLOOR and high.judged > low.judged


def test_a_budget_above_the_log_judges_all():
    assert sorted(drawn(pick_to_judge(RISKS, 1000))) == sorted(RISKS)


def test_one_question():
    (stratum,) = pick_to_judge({"q": 0.4}, 5)
    assert stratum.drawn == ("q",)


def test_equal_risks_are_one_stratum():
    assert len(pick_to_judge(dict.fromkeys(RISKS, 0.3), 60)) == 1


def test_questions_without_a_prediction_are_a_stratum_of_their_own():
    *_, last = pick_to_judge(RISKS | {f"u{i}": None for i in range(40)}, 60)
    assert last.risk is None and len(last.order) == 40 and last.judged >= FLOOR


def test_what_is_asked_most_is_judged_in_any_case():
    strata = pick_to_judge(RISKS, 40, times={"q7": 500, "q8": 3})
    certain = next(s for s in strata if s.certain)
    assert certain.drawn == ("q7",) and len(drawn(strata)) == 40


def test_the_draw_is_by_id_and_seed():
    backwards = dict(reversed(RISKS.items()))
    assert drawn(pick_to_judge(RISKS, 30)) == drawn(pick_to_judge(backwards, 30))
    assert drawn(pick_to_judge(RISKS, 30)) != drawn(pick_to_judge(RISKS, 30, seed=1))


def test_a_larger_budget_holds_the_smaller_one():
    strata = pick_to_judge(RISKS, 30)
    more = extended(strata, RISKS, 90)
    assert set(drawn(strata)) <= set(drawn(more)) and len(drawn(more)) == 90
    assert drawn(extended(more, RISKS, 10)) == drawn(more)  # never fewer


def test_no_budget_is_refused():
    with pytest.raises(ValueError, match="at least one question"):
        pick_to_judge(RISKS, 0)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=4),
        st.tuples(st.none() | st.floats(0, 1), st.integers(1, 50)),
        min_size=1,
        max_size=60,
    ),
    st.integers(1, 80),
)
def test_every_question_is_in_one_stratum_and_the_budget_is_kept(log, budget):
    strata = pick_to_judge(
        {id_: risk for id_, (risk, _) in log.items()}, budget,
        times={id_: n for id_, (_, n) in log.items()},
    )  # fmt: skip
    assert sorted(id_ for s in strata for id_ in s.order) == sorted(log)
    assert len(drawn(strata)) == min(budget, len(log))
