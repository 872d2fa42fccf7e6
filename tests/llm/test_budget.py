import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.llm import ChatConfig, Prompt, State, approximate_tokens, estimate
from argus.llm.model import most_tokens, tokens_in
from argus.llm.openai import Budget

OK, FAILED, NOT_ASKED = State.OK, State.FAILED, State.NOT_ASKED
PRICES = {"input_price": 2.0, "output_price": 10.0}


def prompts(n):
    return [Prompt(f"question {i}") for i in range(n)]


def states(outcomes):
    return [outcome.state for outcome in outcomes]


def bound_of_one(max_tokens):
    """Tokens that a request for one of `prompts` may use."""
    return tokens_in(Prompt("question 0"), None, most_tokens) + max_tokens


@pytest.mark.parametrize(
    ("text", "n"), [("", 0), ("four", 1), ("fours", 2), ("мир", 3), ("東京", 3), ("a\ud800", 3)]
)
def test_tokens_are_counted_as_documented(text, n):
    assert approximate_tokens(text) == n


@given(st.text(st.characters(codec=None)))
def test_the_expected_count_is_never_above_the_bound(text):
    assert approximate_tokens(text) <= most_tokens(text)


def test_a_run_stops_before_it_might_pass_the_budget(model, endpoint, ledger):
    most = bound_of_one(10)  # each really uses 3 + 2
    asking = model(max_tokens=10, max_total_tokens=most + 5, concurrency=1)
    outcomes = list(asking.complete(prompts(5)))
    assert states(outcomes) == [OK, OK, NOT_ASKED, NOT_ASKED, NOT_ASKED]
    assert len(endpoint.requests) == 2
    assert asking.spent.tokens_in + asking.spent.tokens_out == 10
    assert outcomes[2].reason == (
        f"the next request might pass the budget: {most + 5} tokens; spent 6 tokens in, 4 out"
    )
    assert (outcomes[2].value, outcomes[2].cached, outcomes[2].tokens_in) == (None, False, None)
    assert ledger.counts() == {OK: 2, FAILED: 0}


@pytest.mark.parametrize("concurrency", [1, 4])
def test_money_is_never_overspent_whatever_answers_cost(model, endpoint, concurrency):
    endpoint.behave = lambda text, n: {"content": endpoint.chat("x", usage=(26, 10))}
    asking = model(**PRICES, budget=0.001, max_tokens=10, concurrency=concurrency)
    outcomes = list(asking.complete(prompts(40)))
    n = len(endpoint.requests)
    assert states(outcomes) == [OK] * n + [NOT_ASKED] * (40 - n)
    assert 0 < asking.spent.cost <= 0.001
    assert asking.spent.cost == pytest.approx(n * (26 * 2 + 10 * 10) / 1e6)
    assert asking.spent.cost + (26 * 2 + 10 * 10) / 1e6 > 0.001


def test_a_retry_beyond_the_budget_is_not_sent(model, endpoint, ledger):
    endpoint.behave = lambda text, n: {"drop": True}
    asking = model(max_tokens=10, max_total_tokens=bound_of_one(10))
    asked, behind = asking.complete(prompts(2))
    assert len(endpoint.requests) == 1
    assert (asked.state, asked.unanswered, behind.state) == (FAILED, True, NOT_ASKED)
    assert asked.reason.startswith(
        "no answer in 1 attempts, and the next request might pass the budget: "
    )
    assert "; last: RemoteProtocolError" in asked.reason
    assert ledger.counts() == {OK: 0, FAILED: 1}  # it was sent, and is booked


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_prompt_too_large_does_not_hold_up_smaller_ones(model, endpoint, concurrency):
    small = prompts(6)
    large = Prompt("question " * 100)
    asking = model(max_tokens=10, max_total_tokens=bound_of_one(10) * 6, concurrency=concurrency)
    outcomes = list(asking.complete([small[0], large, *small[1:], large]))
    assert states(outcomes) == [OK, NOT_ASKED, OK, OK, OK, OK, OK, NOT_ASKED]
    assert sorted(endpoint.texts) == [p.text for p in small]
    assert "the next request might pass the budget" in outcomes[1].reason
    assert outcomes[7].reason == outcomes[1].reason and not outcomes[7].cached


def test_the_estimate_says_what_a_run_then_does(model, endpoint, ledger):
    asking = model(**PRICES, max_tokens=10, concurrency=2)
    list(asking.complete(prompts(3)))
    endpoint.behave = lambda text, n: {"content": "garbage"} if text == "bad" else None
    list(asking.complete([Prompt("bad")]))
    n_before = len(endpoint.requests)
    todo = [*prompts(6), Prompt("bad"), Prompt("question 5"), Prompt("long", max_tokens=100)]
    before = estimate(todo, ledger, asking.config)
    assert (before.prompts, before.to_ask, before.cached) == (9, 5, 3)
    assert (before.repeated, before.failed_before) == (1, 1)
    assert before.tokens_out_at_most == 4 * 10 + 100
    assert before.cost == pytest.approx((before.tokens_in * 2 + 140 * 10) / 1e6)
    assert len(endpoint.requests) == n_before  # an estimate sends nothing
    endpoint.behave = lambda text, n: {
        "content": endpoint.chat("x", usage=(tokens_in(Prompt(text), None, len), 10))
    }
    fresh = model(**PRICES, max_tokens=10, budget=before.cost_at_most)
    outcomes = list(fresh.complete(todo))
    assert states(outcomes) == [OK] * 9
    assert len(endpoint.requests) - n_before == before.to_ask
    assert fresh.spent.cost <= before.cost_at_most
    assert fresh.spent.tokens_in == before.tokens_in_at_most  # one token per byte: the worst case
    after = estimate(todo, ledger, asking.config)
    assert (after.to_ask, after.cached, after.cost) == (0, 8, 0)


def test_threads_together_never_reserve_more_than_there_is():
    budget = Budget(ChatConfig(model="m", max_total_tokens=100))
    taken = []

    def take():
        taken.extend(1 for _ in range(50) if budget.reserve(1, 1))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 50 and not budget.idle
    for _ in taken:
        budget.settle((1, 1), (1, 0))
    assert budget.idle and budget.spent.tokens_in == 50 and budget.spent.tokens_out == 0
