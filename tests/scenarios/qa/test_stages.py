import pytest

from argus.llm import ChatConfig, Prompt
from argus.scenarios.qa.stages import Stages


@pytest.fixture
def chat(endpoint):
    def config(**options):
        usual = {
            "model": "m", "base_url": endpoint.url, "backoff_s": 0.001, "budget": 1.0,
            "input_price": 1.0, "output_price": 1.0, "max_total_tokens": 5_000,
        }  # fmt: skip
        return ChatConfig(**usual | options)

    return config


def test_a_budget_is_that_of_all_stages_together(chat, ledger):
    stages = Stages(chat(), chat(model="j", input_price=7.0), ledger)
    assert len(list(stages.open("answering").complete([Prompt("x"), Prompt("y")]))) == 2
    left = stages.open("judging").inner.config
    assert left.max_total_tokens == 5_000 - 2 * 5
    assert left.budget == pytest.approx(1 - 2 * 5 / 1e6)
    assert (left.model, left.input_price) == ("j", 7.0)


def test_a_stage_counts_its_own_tokens_and_equal_prompts_once(chat, ledger, endpoint):
    stages = Stages(chat(attempts=1), chat(), ledger)
    list(stages.open("answering").complete([Prompt("x"), Prompt("y")]))
    list(stages.open("judging").complete([Prompt("x"), Prompt("z")]))
    found = stages.summary()
    assert found["answering"]["tokens_in"] == 2 * 3
    assert (found["judging"]["tokens_in"], found["judging"]["cached"]) == (3, 1)
    assert stages.missing == 0
    endpoint.behave = lambda p, n: {"drop": True}
    list(stages.open("reformulating").complete([Prompt("u"), Prompt("u")]))
    assert stages.missing == 1
