"""The loop on a tiny regression-like network: what is learnt, kept, resumed and refused."""

import dataclasses
import math
from types import SimpleNamespace

import pytest
import torch

from argus.errors import InputError
from argus.training import loop
from argus.training.loop import BEST, STATE, Fixed, LoopConfig, Task, train

CONFIG = LoopConfig(
    learning_rate=0.05, weight_decay=0.0, batch_size=4, accumulation=2, epochs=4, patience=9
)
WORDS = 7


class Network(torch.nn.Module):
    """Tells the next word from the one before, with dropout."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.table = torch.nn.Embedding(WORDS, 8)
        self.drop = torch.nn.Dropout(0.2)
        self.out = torch.nn.Linear(8, WORDS)

    def forward(self, words):
        return self.out(self.drop(self.table(words)))


class Small(Network):
    """One that has memory for so many examples at once."""

    def __init__(self, most, error=None):
        super().__init__()
        self.most, self.seen = most, []
        self.error = error or torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    def forward(self, words):
        self.seen.append(len(words))
        if len(words) > self.most:
            raise self.error
        return super().forward(words)


def summed_loss(network, batch, device):
    before, after = torch.tensor(batch).T
    return torch.nn.functional.cross_entropy(network(before), after, reduction="sum")


TASK = Task(summed_loss=summed_loss, read=lambda e: 2, learnt=lambda e: 1)
PAIRS = [(i % WORDS, (i * 3 + 1) % WORDS) for i in range(19)]
VALIDATION = [(i, (i * 3 + 1) % WORDS) for i in range(WORDS)]


@pytest.fixture
def run(tmp_path):
    def go(config=CONFIG, folder="state", network=None, key="k", validation=VALIDATION):
        network = network or Network()
        trained = train(
            network, TASK, Fixed(PAIRS), validation, config,
            folder=tmp_path / folder, key=key, device="cpu",
        )  # fmt: skip
        return network, trained

    return go


class Killed(Exception):
    pass


def equal(a, b):
    other = b.state_dict()
    return all(torch.equal(p, other[n]) for n, p in a.state_dict().items())


def test_all_weights_learn_and_the_best_are_kept(run, tmp_path):
    network, trained = run(dataclasses.replace(CONFIG, epochs=12))
    state, begun = trained.progress, Network()
    pairs = zip(network.parameters(), begun.parameters(), strict=True)
    assert not any(torch.equal(p, q) for p, q in pairs)
    assert [e["epoch"] for e in state.evaluations] == list(range(13))
    assert state.best["loss"] < state.evaluations[0]["loss"] / 2
    assert state.learnt == 12 * len(PAIRS) and state.tokens == 2 * state.learnt
    assert not network.training and (tmp_path / "state" / BEST).is_file()
    with torch.inference_mode():
        loss = float(summed_loss(network, VALIDATION, "cpu")) / len(VALIDATION)
    assert loss == pytest.approx(state.best["loss"], rel=1e-5)


@pytest.mark.parametrize("evaluate_every", [None, 2])
def test_a_run_killed_at_any_step_ends_at_the_same_weights(
    run, monkeypatch, evaluate_every, tmp_path
):
    config = dataclasses.replace(CONFIG, checkpoint_every_s=0.0, evaluate_every=evaluate_every)
    whole, trained = run(config, folder="whole")
    assert trained.progress.step == 4 * math.ceil(len(PAIRS) / 8)
    real = loop._Run.step

    def dying(self, state, *given):
        if state.step == step:
            raise Killed
        real(self, state, *given)

    for step in (1, 7, 11):
        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(loop._Run, "step", dying)
            run(config, folder=f"killed{step}")
        torch.manual_seed(step)  # what ran in between is of no account
        again, resumed = run(config, folder=f"killed{step}")
        assert resumed.progress.evaluations == trained.progress.evaluations
        assert equal(whole, again)


def test_time_that_is_up_ends_it_and_more_time_goes_on(run, monkeypatch):
    clock = iter(range(10**6))
    with monkeypatch.context() as patch:
        looks = SimpleNamespace(monotonic=lambda: next(clock))  # a second goes by at each look
        patch.setattr(loop, "time", looks)  # its own: other threads keep theirs
        config = dataclasses.replace(CONFIG, max_minutes=3.5 / 60)
        short, trained = run(config)
        state = trained.progress
        assert state.stopped == f"the time budget of {config.max_minutes:g} minutes"
        assert state.out_of_time and 0 < state.step < 12
        assert state.evaluations[-1]["step"] == state.step and state.best is not None
        same, again = run(config)  # nothing more to do
        assert again.progress.step == state.step and equal(short, same)
        longer = run(dataclasses.replace(config, max_minutes=7 / 60))[1].progress
        assert state.step < longer.step < 12 and longer.out_of_time
    last = run(dataclasses.replace(config, max_minutes=None))[1].progress
    assert (last.stopped, last.out_of_time, last.step) == ("4 epochs", False, 12)


def test_the_rate_falls_to_0_by_whichever_end_comes_first():
    config = LoopConfig(warmup_ratio=0.1, learning_rate=1.0)
    assert [config.rate(s, 100) for s in (0, 9, 10, 55)] == pytest.approx([0.1, 1, 1, 0.5])
    assert config.rate(10, 100, spent=0.56) == pytest.approx(0.5)
    assert config.rate(55, 100, spent=0.1) == config.rate(55, 100) == pytest.approx(0.5)
    assert config.rate(3, 100, spent=1.2) == 0


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
        MemoryError(),
    ],
)
def test_a_batch_too_large_is_halved_and_teaches_the_same(run, error):
    config = dataclasses.replace(CONFIG, accumulation=1, batch_size=8)
    calm, tight = Small(99), Small(1, error)
    calm.drop.p = tight.drop.p = 0.0
    _, easy = run(config, folder="easy", network=calm)
    _, hard = run(config, folder="hard", network=tight)
    assert easy.progress.halved == 0 and hard.progress.halved == 2
    assert hard.progress.passes == 1 and set(tight.seen[10:]) == {1}
    for name, weights in calm.state_dict().items():
        assert torch.allclose(weights, tight.state_dict()[name], atol=1e-4)


def test_another_training_and_a_broken_state_are_refused(run, tmp_path):
    run(dataclasses.replace(CONFIG, epochs=1))
    with pytest.raises(InputError, match=r"holds another training.*--fresh"):
        run(dataclasses.replace(CONFIG, epochs=1), key="other")
    path = tmp_path / "state" / STATE
    state = torch.load(path, weights_only=True)
    torch.save({name: state[name] for name in ("key", "progress")}, path)
    with pytest.raises(InputError, match="the state of the training cannot be read") as error:
        run(dataclasses.replace(CONFIG, epochs=1))
    assert error.value.where == path
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="the state of the training cannot be read"):
        run(dataclasses.replace(CONFIG, epochs=1))


def test_a_training_that_only_warms_up_or_has_no_end_is_refused():
    with pytest.raises(
        InputError, match=r"--warmup-ratio: 1\.0; expected a number from 0, below 1"
    ):
        LoopConfig(warmup_ratio=1.0)
    with pytest.raises(InputError, match="max_minutes: inf; expected a number above 0"):
        LoopConfig(max_minutes=math.inf)
