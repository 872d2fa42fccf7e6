import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.llm import Prompt, State, approximate_tokens
from argus.llm.model import most_tokens, tokens_in

OK, FAILED, NOT_ASKED = State.OK, State.FAILED, State.NOT_ASKED
PRICES = {"input_price": 2.0, "output_price": 10.0}
PROMPTS = [Prompt(f"question {i % 10}{i // 10}") for i in range(40)]


@pytest.mark.parametrize(
    ("text", "n"), [("", 0), ("four", 1), ("fours", 2), ("мир", 3), ("東京", 3), ("a\ud800", 3)]
)
def test_tokens_are_counted_as_documented(text, n):
    assert approximate_tokens(text) == n


@given(st.text(st.characters(codec=None)))
def test_the_expected_count_is_never_above_the_bound(text):
    assert approximate_tokens(text) <= most_tokens(text)


def test_a_run_stops_before_it_might_pass_the_budget(model, endpoint, ledger):
    most = tokens_in(PROMPTS[0], None, most_tokens) + 10  # each really uses 3 + 2
    asking = model(max_tokens=10, max_total_tokens=most + 5, concurrency=1)
    outcomes = list(asking.complete(PROMPTS[:4]))
    assert [o.state for o in outcomes] == [OK, OK, NOT_ASKED, NOT_ASKED]
    assert len(endpoint.requests) == 2
    assert asking.spent.tokens_in + asking.spent.tokens_out == 10
    assert outcomes[2].reason == (
        "the next request might pass the budget: spent 6 tokens in, 4 out"
    )
    assert (outcomes[2].value, outcomes[2].cached, outcomes[2].tokens_in) == (None, False, None)
    assert ledger.counts() == {OK: 2, FAILED: 0}


@pytest.mark.parametrize("concurrency", [1, 4])
def test_money_is_never_overspent_whatever_answers_cost(model, endpoint, concurrency):
    endpoint.behave = lambda text, n: {"content": endpoint.chat("x", usage=(26, 10))}
    asking = model(**PRICES, budget=0.001, max_tokens=10, concurrency=concurrency)
    outcomes = list(asking.complete(PROMPTS))
    n = len(endpoint.requests)
    assert [o.state for o in outcomes] == [OK] * n + [NOT_ASKED] * (40 - n)
    assert 0 < asking.spent.cost <= 0.001
    assert asking.spent.cost == pytest.approx(n * (26 * 2 + 10 * 10) / 1e6)
    assert asking.spent.cost + (26 * 2 + 10 * 10) / 1e6 > 0.001
