"""The training loop: AdamW, stopped by the evaluation loss, by the epochs or by the clock."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from argus.data.provenance import peak_memory_bytes
from argus.devices import is_out_of_memory
from argus.errors import ArgusError
from argus.progress import progress
from argus.training.checkpoint import Checkpoint, Progress
from argus.training.passes import epoch_order, in_passes, step_seed
from argus.training.settings import LoopConfig
from argus.training.task import Examples, Task

if TYPE_CHECKING:
    import torch

E = TypeVar("E")


@dataclass(frozen=True)
class Trained:
    """How a training went. The network holds the weights of the best evaluation.

    device_memory_bytes: the most that tensors took on a GPU; None on the CPU. tokens_per_s: of
    training, all that is read, evaluations apart.
    """

    progress: Progress
    peak_memory_bytes: int
    device_memory_bytes: int | None

    @property
    def tokens_per_s(self) -> float | None:
        """Tokens read per second of training; None where none was timed."""
        done = self.progress
        return done.tokens / done.seconds if done.seconds else None


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
    """Train the weights of `network` that want gradients; it is left in evaluation mode.

    network: on `device`. folder: where the state is kept; a run that was killed goes on from there
    and ends at the same weights on a CPU, unless a time budget is too little for all epochs. One
    that ran out of time goes on when it is given more. key: hash of all that is trained, and how;
    the state of another is refused. Every step seeds its own dropout, so that none depends on what
    ran before it. Raises ArgusError when the loss is no number, and when memory does not suffice
    for one example.
    """
    import torch

    weights = {n: p for n, p in network.named_parameters() if p.requires_grad}
    optimizer = torch.optim.AdamW(
        weights.values(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    checkpoint = Checkpoint(folder, key)
    state = checkpoint.load(weights, optimizer)
    run = _Run(network, task, weights, optimizer, config, checkpoint, device)
    gpus = _gpus(device)
    for gpu in gpus:
        torch.cuda.reset_peak_memory_stats(gpu)  # of what this process trained before
    with torch.random.fork_rng(devices=gpus):
        run.go(state, examples, validation)
    checkpoint.load_best(weights)
    network.eval()
    used = torch.cuda.max_memory_allocated(device) if gpus else None
    return Trained(state, peak_memory_bytes(), used)


class _Run(Generic[E]):
    """What stays the same from step to step."""

    def __init__(
        self,
        network: torch.nn.Module,
        task: Task[E],
        weights: Mapping[str, torch.nn.Parameter],
        optimizer: torch.optim.Optimizer,
        config: LoopConfig,
        checkpoint: Checkpoint,
        device: str,
    ) -> None:
        self.network, self.task = network, task
        self.weights, self.optimizer = dict(weights), optimizer
        self.config, self.checkpoint, self.device = config, checkpoint, device

    def go(self, state: Progress, examples: Examples[E], validation: Sequence[E]) -> None:
        """Train until the last epoch, until the loss no longer falls, or until time is up."""
        config = self.config
        per_step = config.batch_size * config.accumulation
        per_epoch = math.ceil(len(examples) / per_step)
        steps, saved = per_epoch * config.epochs, time.monotonic()
        if state.out_of_time and _spent(state) < config.max_seconds:
            state.stopped, state.out_of_time = "", False
        if not state.evaluations:
            self.record(state, 0, validation)
        order: tuple[int, list[int]] = (-1, [])
        with progress("training", steps, done=state.step) as on:
            while not state.stopped:
                epoch, place = divmod(state.step, per_epoch)
                if order[0] != epoch:
                    order = epoch, epoch_order(len(examples), config.seed, epoch)
                numbers = order[1][place * per_step : (place + 1) * per_step]
                self.step(state, examples, epoch, numbers, self.rate(state, steps))
                on(1)
                evaluated = self.after_step(state, per_epoch, validation)
                if evaluated or time.monotonic() - saved >= config.checkpoint_every_s:
                    self.checkpoint.save(state, self.weights, self.optimizer)
                    saved = time.monotonic()

    def rate(self, state: Progress, steps: int) -> float:
        """Return the learning rate of the next step."""
        return self.config.rate(state.step, steps, _spent(state) / self.config.max_seconds)

    def step(
        self,
        state: Progress,
        examples: Examples[E],
        epoch: int,
        numbers: Sequence[int],
        rate: float,
    ) -> None:
        """Take one step; its gradient is that of the mean over all learnt tokens of the batch."""
        import torch

        start = time.monotonic()
        batch = examples.batch(epoch, numbers)
        learnt = sum(map(self.task.learnt, batch))

        def restart() -> None:
            torch.manual_seed(step_seed(self.config.seed, state.step))
            self.optimizer.zero_grad()

        def one_pass(part: Sequence[E]) -> float:
            loss = self.task.summed_loss(self.network, part, self.device) / learnt
            loss.backward()  # type: ignore[no-untyped-call]
            return float(loss.detach())

        restart()
        self.network.train()
        total = in_passes(one_pass, batch, self.config.batch_size, state, restart)
        self.update(state, total, rate)
        state.step += 1
        state.tokens += sum(map(self.task.read, batch))
        state.learnt += learnt
        state.seconds += time.monotonic() - start
        state.steps.append({"step": state.step, "loss": total, "learning_rate": rate})

    def update(self, state: Progress, loss: float, rate: float) -> None:
        """Change the weights by their gradients."""
        import torch

        for group in self.optimizer.param_groups:
            group["lr"] = rate
        norm = torch.nn.utils.clip_grad_norm_(self.weights.values(), self.config.max_grad_norm)
        if not (math.isfinite(loss) and math.isfinite(float(norm))):
            raise _no_number(state.step + 1)
        try:
            self.optimizer.step()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise ArgusError(
                "not enough memory for the state of AdamW, two numbers per weight. Use a smaller "
                "model, or a machine with more memory."
            ) from error
        self.optimizer.zero_grad()

    def after_step(self, state: Progress, per_epoch: int, validation: Sequence[E]) -> bool:
        """Evaluate when it is time to, and say whether that was all; return whether it was time."""
        config = self.config
        epoch, inside = divmod(state.step, per_epoch)
        state.out_of_time = _spent(state) >= config.max_seconds
        often = config.evaluate_every is not None and state.step % config.evaluate_every == 0
        if inside and not often and not state.out_of_time:
            return False
        self.record(state, round(state.step / per_epoch, 4) if inside else epoch, validation)
        if not inside and epoch == config.epochs:
            state.stopped, state.out_of_time = f"{epoch} epochs", False
        if state.out_of_time:
            state.stopped = f"the time budget of {config.max_minutes:g} minutes"
        if state.stale >= config.patience:
            kind = "epochs" if config.evaluate_every is None else "evaluations"
            state.stopped = f"no lower evaluation loss in {state.stale} {kind}"
            state.out_of_time = False
        return True

    def record(self, state: Progress, epoch: float, validation: Sequence[E]) -> None:
        """Evaluate, and keep the weights where they are the best since training began."""
        start = time.monotonic()
        loss = self.evaluate(state, validation)
        state.evaluations.append({"epoch": epoch, "step": state.step, "loss": loss})
        if state.step and not state.stale:
            self.checkpoint.save_best(self.weights)
        state.evaluation_seconds += time.monotonic() - start

    def evaluate(self, state: Progress, validation: Sequence[E]) -> float:
        """Return the mean loss per learnt token, without dropout."""
        import torch

        def one_pass(part: Sequence[E]) -> float:
            return float(self.task.summed_loss(self.network, part, self.device))

        self.network.eval()
        ordered = sorted(validation, key=lambda e: -self.task.read(e))
        with torch.inference_mode():
            total = in_passes(one_pass, ordered, self.config.batch_size, state, lambda: None)
        loss = total / sum(map(self.task.learnt, validation))
        if not math.isfinite(loss):
            raise _no_number(None if state.step == 0 else state.step)
        return loss


def _spent(state: Progress) -> float:
    """Return the seconds that count against a time budget."""
    return state.seconds + state.evaluation_seconds


def _gpus(device: str) -> list[torch.device]:
    import torch

    return [torch.device(device)] if device.startswith("cuda") else []


def _no_number(step: int | None) -> ArgusError:
    when = "before it could learn anything" if step is None else f"in step {step}"
    return ArgusError(
        f"the loss is not finite {when}: the weights cannot be trained like this. Use a lower "
        "--learning-rate or --dtype float32 (float16 overflows); what an earlier epoch reached is "
        "kept."
    )
