"""A model that answers, and a judge of its answers."""

import pytest

from argus.jobs.answers import open_judge
from argus.jobs.options import Models
from argus.llm import ChatConfig, Prompt, open_model


def test_a_budget_is_that_of_answers_and_judgements_together(endpoint, ledger):
    asked = ChatConfig(
        model="m", base_url=endpoint.url, backoff_s=0.001, budget=1.0, input_price=1.0,
        output_price=1.0, max_total_tokens=5_000,
    )  # fmt: skip
    judge = ChatConfig(
        model="j", base_url=endpoint.url, budget=1.0, input_price=7.0, output_price=1.0
    )
    answering = open_model(asked, ledger)
    assert len(list(answering.complete([Prompt("x"), Prompt("y")]))) == 2
    left = open_judge(Models(model=asked, judge=judge), answering, ledger).config
    assert left.max_total_tokens == 5_000 - 2 * 5
    assert left.budget == pytest.approx(1 - 2 * 5 / 1e6)
    assert (left.model, left.input_price) == ("j", 7.0)
