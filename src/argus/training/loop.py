"""Train network weights with AdamW, and resume a killed training at the very same weights.

The loop of `research scenarios distill` and `research generative train` and `tune`. `train` takes a
network, a `Task` (examples to a summed loss and a number of learnt tokens), `Examples` and a
`LoopConfig`, the options of every training command. It ends by the evaluation loss, by the epochs
or by the clock. A folder keeps how far it is and the best weights so far. Examples come in an order
that the seed decides, in passes that fit into memory. `training_lines` prints losses, pace and
memory.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np

from argus.data.provenance import peak_memory_bytes
from argus.data.reading import damage, parse_json, reading
from argus.data.writing import folder_aside, remove, replacing, writable, write_whole
from argus.devices import is_out_of_memory
from argus.errors import ArgusError, InputError
from argus.progress import announce, progress
from argus.settings import Doc, Ge, Gt, Lt, Option, Seed, check_settings

if TYPE_CHECKING:
    import torch


_PANEL = "Training"

WeightDecay = Annotated[float, Ge(0), Doc("Of AdamW."), Option(panel=_PANEL)]
WarmupRatio = Annotated[float, Ge(0), Lt(1), Doc("Share of the steps."), Option(panel=_PANEL)]


@dataclass(frozen=True, kw_only=True)
class LoopConfig:
    """How weights are learnt with AdamW.

    The learning rate rises over `warmup_ratio` of all steps and then falls to 0, both linearly.
    evaluate_every: steps between evaluations, besides those that end an epoch. `patience` of them
    in a row without a lower loss end a training. max_minutes: time for steps and evaluations
    together, all runs of a training counted. Where it is too little for all epochs, the rate falls
    to 0 by its end, so that steps depend on the clock. max_grad_norm: gradients are scaled to it.
    checkpoint_every_s: so much is lost at most when a run is killed.

    Attributes:
        learning_rate: The highest.
        batch_size: Examples at once.
        accumulation: Batches per step.
        epochs: At most.
        patience: Epochs without a lower evaluation loss that end it.
    """

    learning_rate: Annotated[float, Gt(0), Option(panel=_PANEL)] = 2e-5
    weight_decay: WeightDecay = 0.1
    warmup_ratio: WarmupRatio = 0.1
    batch_size: Annotated[int, Ge(1), Option(("--batch",), panel=_PANEL)] = 4
    accumulation: Annotated[int, Ge(1), Option(("--accumulate",), panel=_PANEL)] = 2
    epochs: Annotated[int, Ge(1), Option(panel=_PANEL)] = 10
    patience: Annotated[int, Ge(1), Option(panel=_PANEL)] = 4
    evaluate_every: Annotated[int | None, Ge(1)] = None
    max_minutes: Annotated[float | None, Gt(0)] = None
    max_grad_norm: Annotated[float, Gt(0)] = 1.0
    seed: Seed = 0
    checkpoint_every_s: Annotated[float, Ge(0)] = 300.0

    PACE: ClassVar[frozenset[str]] = frozenset({"max_minutes", "checkpoint_every_s"})
    """Settings that decide how far and how safely a training goes, not its result."""

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def max_seconds(self) -> float:
        """The time budget. Infinite where there is none."""
        return math.inf if self.max_minutes is None else 60 * self.max_minutes

    def described(self) -> dict[str, object]:
        """Return the settings that change the outcome, by name: every training has its own."""
        settings = asdict(self).items()
        return {
            name: value for name, value in settings if name not in self.PACE and value is not None
        }

    def rate(self, step: int, steps: int, spent: float = 0.0) -> float:
        """Return the learning rate of a step, counted from 0, of so many.

        spent: share of the time budget that is used up. Where more of it is gone than of the
        steps, the next included, it says how far the training is.
        """
        warmup = math.ceil(self.warmup_ratio * steps)
        place = min(max(step, spent * steps - 1), steps)
        if place < warmup:
            return self.learning_rate * (place + 1) / warmup
        return self.learning_rate * (steps - place) / max(1, steps - warmup)


def training_lines(summary: Mapping[str, Any], count: Literal["epoch", "step"]) -> Iterator[str]:
    """Yield the evaluations, the pace and the memory.

    count: key of an evaluation. 0 is before training.

    Keys of a summary that every training has:
    evaluations: losses in validation, in their order: epoch (so far, a fraction inside of one),
    step (so far) and loss, in nats.
    best: evaluation whose weights are kept.
    training_loss: of the first and of the last step, in nats.
    dtype: type of the numbers that were computed with.
    device: device that it ran on.
    steps: steps of training.
    stopped: why it ended.
    seconds: seconds of training, without validating.
    tokens_per_s: tokens per second, of training alone. None where none was timed.
    peak_memory_bytes: peak memory of the process, in bytes.
    device_memory_bytes: peak memory of the device, in bytes. None on the CPU.
    """
    for evaluation in summary["evaluations"]:
        name = f"epoch {evaluation['epoch']:g}" if evaluation[count] else "before training"
        best = " (best, kept)" if evaluation[count] == summary["best"][count] else ""
        yield f"evaluation loss, {name}: {evaluation['loss']:.4f}{best}"
    memory = summary["device_memory_bytes"] or summary["peak_memory_bytes"]
    yield (
        f"stopped after {summary['stopped']}, {summary['steps']:,} steps; "
        f"{summary['tokens_per_s'] or 0:,.0f} tokens per second in {summary['dtype']} on "
        f"{summary['device']}; peak memory {memory / 2**30:.2f} GiB"
    )


E = TypeVar("E")
STATE, BEST = "state.pt", "best.safetensors"


class Examples(Protocol[E]):
    """Examples of a training: as many in every epoch, made when they are needed.

    The same epoch and numbers give the same examples, whatever came before.
    """

    def __len__(self) -> int: ...

    def batch(self, epoch: int, numbers: Sequence[int]) -> list[E]:
        """Return the examples of those numbers (0 to n - 1) in an epoch, counted from 0."""
        ...


@dataclass(frozen=True)
class Fixed(Generic[E]):
    """Examples that are the same in every epoch."""

    examples: Sequence[E]

    def __len__(self) -> int:
        return len(self.examples)

    def batch(self, epoch: int, numbers: Sequence[int]) -> list[E]:
        """Return the examples of those numbers."""
        return [self.examples[i] for i in numbers]


@dataclass(frozen=True)
class Task(Generic[E]):
    """How examples teach.

    summed_loss: (network, examples, device) to the loss summed over all learnt tokens, a scalar
    tensor. Where the network is not in training mode, the loss to evaluate by. read, learnt: tokens
    of an example that the network reads, and that it learns.
    """

    summed_loss: Callable[[torch.nn.Module, Sequence[E], str], torch.Tensor]
    read: Callable[[E], int]
    learnt: Callable[[E], int]


@dataclass
class Progress:
    """How far a training is. Losses are means over learnt tokens, in nats.

    steps: step (from 1), loss and learning_rate of each. tokens: read in training. learnt: those
    of them that were learnt. seconds, evaluation_seconds: spent on steps, and on evaluations.
    halved: how often a pass was halved for want of memory. passes: examples in a pass since then, 0
    for as many as the settings say. stopped: why it ended. "" while it has not. out_of_time:
    whether it ended for want of time, and goes on with more.
    """

    step: int = 0
    tokens: int = 0
    learnt: int = 0
    seconds: float = 0.0
    steps: list[dict[str, Any]] = field(default_factory=list)
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    evaluation_seconds: float = 0.0
    halved: int = 0
    passes: int = 0
    stopped: str = ""
    out_of_time: bool = False

    @property
    def best(self) -> dict[str, Any] | None:
        """The evaluation with the lowest loss after training began. The first of equals."""
        return min(self.evaluations[1:], key=lambda e: e["loss"], default=None)

    @property
    def stale(self) -> int:
        """How many evaluations in a row, the last included, brought no lower loss."""
        if self.best is None:
            return 0
        return len(self.evaluations) - 1 - self.evaluations.index(self.best, 1)

    @property
    def spent(self) -> float:
        """The seconds that count against a time budget."""
        return self.seconds + self.evaluation_seconds


@dataclass(frozen=True)
class Checkpoint:
    """Two files in a folder: the state after a step, and the best weights so far.

    key: hash of the data and the settings. A folder that holds another training is refused. The
    state has the key, `Progress` as JSON, the learnt weights by name, and the optimizer's state.
    """

    folder: Path
    key: str

    def load(
        self, weights: dict[str, torch.nn.Parameter], optimizer: torch.optim.Optimizer
    ) -> Progress:
        """Set weights and optimizer to where a run was stopped. Return how far that was.

        Raises InputError for the state of another training, and a file that cannot be read.
        """
        import torch

        path = self.folder / STATE
        if not path.is_file():
            return Progress()
        expected, fix = "the file as it was written", "Start over with --fresh."
        with reading(path, "the state of the training cannot be read", expected=expected, fix=fix):
            state = torch.load(path, map_location="cpu", weights_only=True)
            if state["key"] == self.key:
                _set(weights, state["weights"])
                optimizer.load_state_dict(state["optimizer"])
                return Progress(**parse_json(state["progress"]))
        raise InputError(
            "holds another training: of other data, base model or settings",
            expected="the same command as before, or an empty folder",
            fix="Give another --out, or start over with --fresh.", where=self.folder,
        )  # fmt: skip

    def save(
        self,
        progress: Progress,
        weights: dict[str, torch.nn.Parameter],
        optimizer: torch.optim.Optimizer,
    ) -> None:
        """Write the state, whole or not at all."""
        import torch

        state = {
            "key": self.key,
            "progress": json.dumps(asdict(progress)),
            "weights": {name: p.detach().cpu() for name, p in weights.items()},
            "optimizer": optimizer.state_dict(),
        }
        with replacing(self.folder / STATE) as temporary:
            torch.save(state, temporary)

    def save_best(self, weights: dict[str, torch.nn.Parameter]) -> None:
        """Write the weights as the best so far."""
        from safetensors.torch import save  # its save_file leaves files of its own after a kill

        tensors = {name: p.detach().cpu().contiguous() for name, p in weights.items()}
        write_whole(self.folder / BEST, save(tensors))

    def load_best(self, weights: dict[str, torch.nn.Parameter]) -> None:
        """Set the weights to the best."""
        from safetensors.torch import load_file

        _set(weights, load_file(self.folder / BEST))


def _set(weights: dict[str, torch.nn.Parameter], values: dict[str, torch.Tensor]) -> None:
    for name, parameter in weights.items():
        parameter.data.copy_(values[name])


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path` that takes its place, whole, when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with writable(path), folder_aside(path) as aside:
        yield aside
        remove(path)
        aside.rename(path)


@dataclass(frozen=True)
class Trained:
    """How a training went. The network holds the weights of the best evaluation.

    device_memory_bytes: the most that tensors took on a GPU. None on the CPU.
    """

    progress: Progress
    peak_memory_bytes: int
    device_memory_bytes: int | None

    def figures(self, dtype: str, device: str) -> dict[str, Any]:
        """Return the part of a summary that every training has (see `training_lines`).

        Losses are to six digits.
        """
        state = self.progress
        assert state.best is not None
        evaluations = [{**one, "loss": round(one["loss"], 6)} for one in state.evaluations]
        first, last = (round(state.steps[i]["loss"], 6) for i in (0, -1))
        return {
            "dtype": dtype,
            "device": device,
            "steps": state.step,
            "stopped": state.stopped,
            "evaluations": evaluations,
            "best": evaluations[state.evaluations.index(state.best, 1)],
            "training_loss": {"first": first, "last": last},
            "seconds": round(state.seconds, 2),
            "tokens_per_s": round(state.tokens / state.seconds, 1) if state.seconds else None,
            "peak_memory_bytes": self.peak_memory_bytes,
            "device_memory_bytes": self.device_memory_bytes,
        }


def train(
    network: torch.nn.Module,
    task: Task[E],
    examples: Examples[E],
    validation: Sequence[E],
    config: LoopConfig,
    *,
    folder: Path,
    key: str,
    device: str,
) -> Trained:
    """Train the weights of `network` that want gradients. It is left in evaluation mode.

    network: on `device`. folder: where the state is kept. A run that was killed goes on from there
    and ends at the same weights on a CPU, unless a time budget is too little for all epochs. One
    that ran out of time goes on when it is given more. key: hash of all that is trained, and how.
    The state of another is refused. Every step seeds its own dropout, so that none depends on what
    ran before it. Raises ArgusError when the loss is no number, and when memory does not suffice
    for one example.
    """
    import torch

    weights = {n: p for n, p in network.named_parameters() if p.requires_grad}
    optimizer = torch.optim.AdamW(
        weights.values(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint = Checkpoint(folder, key)
    state = checkpoint.load(weights, optimizer)
    run = _Run(network, task, weights, optimizer, config, checkpoint, device)
    gpus = [torch.device(device)] if device.startswith("cuda") else []
    for gpu in gpus:
        torch.cuda.reset_peak_memory_stats(gpu)  # of earlier trainings in this process
    with torch.random.fork_rng(devices=gpus):
        run.go(state, examples, validation)
    checkpoint.load_best(weights)
    network.eval()
    on_device = torch.cuda.max_memory_allocated(device) if gpus else None
    return Trained(state, peak_memory_bytes(), on_device)


@dataclass(frozen=True)
class _Run(Generic[E]):
    """The parts of a training that stay the same from step to step."""

    network: torch.nn.Module
    task: Task[E]
    weights: dict[str, torch.nn.Parameter]
    optimizer: torch.optim.Optimizer
    config: LoopConfig
    checkpoint: Checkpoint
    device: str

    def go(self, state: Progress, examples: Examples[E], validation: Sequence[E]) -> None:
        """Train until the last epoch, until the loss no longer falls, or until time is up."""
        config = self.config
        per_step = config.batch_size * config.accumulation
        per_epoch = math.ceil(len(examples) / per_step)
        steps, saved = per_epoch * config.epochs, time.monotonic()
        if state.out_of_time and state.spent < config.max_seconds:
            state.stopped, state.out_of_time = "", False
        if not state.evaluations:
            self.evaluate(state, 0, validation)
        order: tuple[int, list[int]] = (-1, [])
        with progress("training", steps, done=state.step) as on:
            while not state.stopped:
                epoch, place = divmod(state.step, per_epoch)
                if order[0] != epoch:
                    rng = np.random.default_rng([config.seed, epoch])
                    order = epoch, rng.permutation(len(examples)).tolist()
                numbers = order[1][place * per_step : (place + 1) * per_step]
                rate = config.rate(state.step, steps, state.spent / config.max_seconds)
                self.step(state, examples, epoch, numbers, rate)
                on(1)
                evaluated = self.after_step(state, per_epoch, validation)
                if evaluated or time.monotonic() - saved >= config.checkpoint_every_s:
                    self.checkpoint.save(state, self.weights, self.optimizer)
                    saved = time.monotonic()

    def step(
        self,
        state: Progress,
        examples: Examples[E],
        epoch: int,
        numbers: Sequence[int],
        rate: float,
    ) -> None:
        """Take one step. Its gradient is that of the mean over all learnt tokens of the batch."""
        import torch

        start = time.monotonic()
        batch = examples.batch(epoch, numbers)
        learnt = sum(map(self.task.learnt, batch))

        def restart() -> None:
            seeds = np.random.SeedSequence([self.config.seed, state.step])
            torch.manual_seed(int(seeds.generate_state(1)[0]))
            self.optimizer.zero_grad()

        def one_pass(part: Sequence[E]) -> float:
            loss = self.task.summed_loss(self.network, part, self.device) / learnt
            loss.backward()
            return float(loss.detach())

        restart()
        self.network.train()
        total = _sum_in_passes(one_pass, batch, self.config.batch_size, state, restart)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        norm = torch.nn.utils.clip_grad_norm_(self.weights.values(), self.config.max_grad_norm)
        if not (math.isfinite(total) and math.isfinite(float(norm))):
            raise _not_finite(state.step + 1)
        self.optimizer.step()
        self.optimizer.zero_grad()
        state.step += 1
        state.tokens += sum(map(self.task.read, batch))
        state.learnt += learnt
        state.seconds += time.monotonic() - start
        state.steps.append({"step": state.step, "loss": total, "learning_rate": rate})

    def after_step(self, state: Progress, per_epoch: int, validation: Sequence[E]) -> bool:
        """Evaluate when it is time to, and say whether that was all. Return whether it was time."""
        config = self.config
        epoch, inside = divmod(state.step, per_epoch)
        state.out_of_time = state.spent >= config.max_seconds
        often = config.evaluate_every is not None and state.step % config.evaluate_every == 0
        if inside and not often and not state.out_of_time:
            return False
        self.evaluate(state, round(state.step / per_epoch, 4) if inside else epoch, validation)
        if not inside and epoch == config.epochs:
            state.stopped, state.out_of_time = f"{epoch} epochs", False
        if state.out_of_time:
            state.stopped = f"the time budget of {config.max_minutes:g} minutes"
        if state.stale >= config.patience:
            kind = "epochs" if config.evaluate_every is None else "evaluations"
            state.stopped = f"no lower evaluation loss in {state.stale} {kind}"
            state.out_of_time = False
        return True

    def evaluate(self, state: Progress, epoch: float, validation: Sequence[E]) -> None:
        """Record the mean loss per learnt token, without dropout. Keep the weights if the best."""
        import torch

        def one_pass(part: Sequence[E]) -> float:
            return float(self.task.summed_loss(self.network, part, self.device))

        start = time.monotonic()
        self.network.eval()
        ordered = sorted(validation, key=lambda e: -self.task.read(e))
        with torch.inference_mode():
            total = _sum_in_passes(one_pass, ordered, self.config.batch_size, state, lambda: None)
        loss = total / sum(map(self.task.learnt, validation))
        if not math.isfinite(loss):
            raise _not_finite(state.step)
        state.evaluations.append({"epoch": epoch, "step": state.step, "loss": loss})
        if state.step and not state.stale:
            self.checkpoint.save_best(self.weights)
        state.evaluation_seconds += time.monotonic() - start


def _sum_in_passes(
    one_pass: Callable[[Sequence[E]], float],
    examples: Sequence[E],
    size: int,
    state: Progress,
    restart: Callable[[], None],
) -> float:
    """Return the sum of `one_pass` over the examples, at most `size` of them at once.

    A pass that does not fit into memory makes all later passes half as large: `restart` undoes
    what passes did so far, and they are repeated. Raises ArgusError when one example is too many.
    """
    import torch

    while True:
        used = min(size, state.passes or size)
        try:
            return sum(one_pass(examples[i : i + used]) for i in range(0, len(examples), used))
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if used == 1:
                raise ArgusError(
                    f"not enough memory for a single example ({damage(error)}). Use a smaller "
                    "model, shorter examples, or a machine with more memory; what was reached is "
                    "kept."
                ) from error
        state.passes, state.halved = min(used, len(examples)) // 2 or 1, state.halved + 1
        announce(f"out of memory: {state.passes} examples at once instead of {used}")
        restart()  # outside of the handler, which keeps memory of the failed pass
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _not_finite(step: int) -> ArgusError:
    """Return the error of a loss that is no number. step: 0 before the first."""
    return ArgusError(
        f"the loss is not finite in step {step}: the weights cannot be trained like this. Use a "
        "lower --learning-rate or --dtype float32 (float16 overflows); what an earlier epoch "
        "reached is kept."
    )
