"""A model on this machine, asked in the workers of an engine; here the worker is this process."""

import pytest
from pydantic import BaseModel

from argus.errors import ArgusError
from argus.llm import Ledger, LocalConfig, Prompt, TransformersModel
from argus.llm.local import begin_answering
from tests.support.in_process_engine import InProcessEngine, Lost
from tests.support.tiny_llama import make_tokenizer, save_llama, teach

WINDOW = 160
N, TAUGHT = 24, 5
PROMPTS = [Prompt(("word " * (1 + 7 * i % 23)).strip() + f" {i}", system="s") for i in range(N)]
PROMPTS += [PROMPTS[4], PROMPTS[0], Prompt("far " * 100, system="s")]  # repeated; too long


class Colour(BaseModel):
    name: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = save_llama(tmp_path_factory.mktemp("models") / "tiny", make_tokenizer(), window=WINDOW)
    return teach(
        made, [("s", prompt.text, f"answer {i}") for i, prompt in enumerate(PROMPTS[:TAUGHT])]
    )


@pytest.fixture(scope="module")
def config(folder):
    return LocalConfig(model=str(folder), batch_size=3, max_tokens=12)


def answers(outcomes):
    return [(o.prompt, o.state, o.value, o.reason, o.tokens_in, o.tokens_out, o.cached)
            for o in outcomes]  # fmt: skip


def asked(path, config, engine=None, prompts=PROMPTS, **options):
    with Ledger(path) as ledger:
        model = TransformersModel(config, ledger, engine)
        return answers(model.complete(prompts, **options)), model.spent


@pytest.mark.parametrize("options", [{}, {"schema": Colour}])
def test_answers_are_the_same_in_the_order_of_the_prompts(config, tmp_path, options):
    engine = InProcessEngine(ahead=4)
    expected, spent = asked(tmp_path / "here", config, **options)
    found, as_much = asked(tmp_path / "there", config, engine, **options)
    assert found == expected and as_much == spent
    assert engine.setups == ["answering"] and engine.blocks >= N / config.batch_size
    assert [answer[0] for answer in found] == PROMPTS
    assert "leaves no room" in found[-1][3]
    if not options:
        assert [answer[2] for answer in found[:TAUGHT]] == [f"answer {i}" for i in range(TAUGHT)]


def test_an_engine_that_is_lost_costs_what_was_under_way(config, tmp_path):
    engine = InProcessEngine()
    engine.fail_at = 6
    settled = LocalConfig(model=config.model, batch_size=3, max_tokens=12, retry_failed=False)
    with Ledger(tmp_path / "there") as ledger:
        with pytest.raises(Lost):
            list(TransformersModel(settled, ledger, engine).complete(PROMPTS))
        kept = len(ledger)
    assert kept == 6 * settled.batch_size
    found, _ = asked(tmp_path / "there", settled)  # goes on in this process
    expected, _ = asked(tmp_path / "here", settled)
    assert [a[:3] for a in found] == [a[:3] for a in expected]
    assert sum(a[-1] for a in found) >= kept


def test_a_worker_with_another_model_is_refused(config):
    with pytest.raises(ArgusError, match=r"A worker has another model at .+tiny than"):
        begin_answering((config, "local:other", None))
