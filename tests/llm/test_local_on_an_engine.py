"""A model on this machine, asked in the workers of an engine; here the worker is this process."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from argus.engine import EngineConfig, open_engine
from argus.errors import ArgusError
from argus.llm import Ledger, LocalConfig, Prompt, TransformersModel, open_model
from argus.llm.local import LoadedModel, begin_answering, shares
from tests.support.in_process_engine import InProcessEngine, Lost
from tests.support.tiny_llama import make_tokenizer, save_llama, teach

WINDOW = 160
PROMPTS = [Prompt(("word " * (1 + 7 * i % 23)).strip() + f" {i}", system="s") for i in range(40)]
PROMPTS += [PROMPTS[4], PROMPTS[0], Prompt("far " * 100, system="s")]  # repeated; too long


class Colour(BaseModel):
    name: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = save_llama(tmp_path_factory.mktemp("models") / "tiny", make_tokenizer(), window=WINDOW)
    return teach(made, [("s", prompt.text, f"answer {i}") for i, prompt in enumerate(PROMPTS[:9])])


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
    assert engine.setups == ["answering"] and engine.blocks >= 40 / config.batch_size
    assert [answer[0] for answer in found] == PROMPTS
    assert "leaves no room" in found[-1][3]
    if not options:
        assert [answer[2] for answer in found[:9]] == [f"answer {i}" for i in range(9)]


def test_a_worker_elsewhere_finds_folders_named_from_here(config, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder.parent)
    near = LocalConfig(model=folder.name, batch_size=3, max_tokens=12)
    engine = InProcessEngine(home=tmp_path)
    found, _ = asked(tmp_path / "there", near, engine, PROMPTS[:9])
    assert [answer[2] for answer in found] == [f"answer {i}" for i in range(9)]
    again, spent = asked(tmp_path / "there", config, None, PROMPTS[:9])  # the same keys
    assert all(answer[-1] for answer in again) and spent.tokens_out == 0
    adapted = LocalConfig(model=folder.name, adapter=Path("lora"))
    sent = adapted.to_send()
    assert (sent.model, sent.adapter) == (str(folder), folder.parent / "lora")
    assert (sent.label, LocalConfig(model="org/name").to_send().model) == (
        adapted.label, "org/name"
    )  # fmt: skip


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


def test_who_stops_listening_stops_the_workers(config, tmp_path):
    engine = InProcessEngine(ahead=1)
    with Ledger(tmp_path / "there") as ledger:
        outcomes = TransformersModel(config, ledger, engine).complete(PROMPTS)
        next(outcomes)
        outcomes.close()
        assert 0 < engine.blocks < 40 / config.batch_size
        assert len(ledger) >= engine.blocks


def test_the_local_engine_leaves_the_model_to_this_process(config, ledger):
    with open_engine(EngineConfig(workers=2)) as engine:
        assert open_model(config, ledger, engine).engine is None
    away = InProcessEngine()
    assert open_model(config, ledger, away).engine is away


def test_shares_are_the_batches_of_all_and_a_worker_with_less_memory_answers_the_same(config):
    prompts = {str(i): prompt for i, prompt in enumerate(PROMPTS[:20])}
    answer = begin_answering((config, config.identity, None))
    cut = list(shares(prompts, 24, config.batch_size))
    found = [answer(share) for share in cut]
    assert sorted(one.key for share in found for one in share) == sorted(prompts)
    assert [len(share) for share in found] == [3] * 6 + [2]
    model = LoadedModel(config)
    model.batch_size = 1
    batch = model.batches(model.questions(prompts, None), config.batch_size)[0]
    replies = {one.key: one.reply for one in found[0]}
    assert {one.key: one.reply for one in model.answer(batch)} == replies


def test_a_worker_with_another_model_is_refused(config):
    with pytest.raises(ArgusError, match=r"A worker has another model at .+tiny than"):
        begin_answering((config, "local:other", None))
