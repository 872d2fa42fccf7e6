"""The training loop: AdamW on LoRA weights, stopped by the evaluation loss (SPIKE §C.2.2)."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.provenance import content_hash, peak_memory_bytes
from argus.errors import ArgusError
from argus.progress import progress
from argus.scenarios.distill.batches import chunks, epoch_order, step_seed, summed_loss
from argus.scenarios.distill.checkpoint import Checkpoint, Progress
from argus.scenarios.distill.examples import Example
from argus.scenarios.distill.settings import TrainConfig

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Trained:
    """How a training went. The model holds the weights of the best epoch.

    device_memory_bytes: the most that tensors took on a GPU; None on the CPU. tokens_per_s: of
    training, prompts included, evaluations apart.
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
    network: Any,
    train_examples: Sequence[Example],
    validation: Sequence[Example],
    config: TrainConfig,
    *,
    folder: Path,
    base: str,
    device: str,
) -> Trained:
    """Train the weights of `network` that want gradients; it is left in evaluation mode.

    network: a model with an adapter (see `adapter.with_lora`) on `device`. folder: where the state
    is kept; a run that was killed goes on from there and ends at the same weights on a CPU. base:
    hash of the model below. Every step seeds its own dropout, so that none depends on what ran
    before it. Raises ArgusError when the loss is no number.
    """
    import torch

    weights = {n: p for n, p in network.named_parameters() if p.requires_grad}
    optimizer = torch.optim.AdamW(
        weights.values(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    checkpoint = Checkpoint(folder, _key(train_examples, validation, config, base))
    state = checkpoint.load(weights, optimizer)
    run = _Run(network, weights, optimizer, config, checkpoint, device)
    with torch.random.fork_rng(devices=_gpus(device)):
        run.go(state, train_examples, validation)
    checkpoint.load_best(weights)
    network.eval()
    used = torch.cuda.max_memory_allocated(device) if device.startswith("cuda") else None
    return Trained(state, peak_memory_bytes(), used)


class _Run:
    """What stays the same from step to step."""

    def __init__(
        self,
        network: Any,
        weights: dict[str, torch.nn.Parameter],
        optimizer: torch.optim.Optimizer,
        config: TrainConfig,
        checkpoint: Checkpoint,
        device: str,
    ) -> None:
        self.network, self.weights, self.optimizer = network, weights, optimizer
        self.config, self.checkpoint, self.device = config, checkpoint, device

    def go(
        self, state: Progress, examples: Sequence[Example], validation: Sequence[Example]
    ) -> None:
        """Train until the last epoch, or until the evaluation loss no longer falls."""
        per_step = self.config.batch_size * self.config.accumulation
        per_epoch = math.ceil(len(examples) / per_step)
        steps, saved = per_epoch * self.config.epochs, time.monotonic()
        if not state.evaluations:
            state.evaluations.append({"epoch": 0, "loss": self.evaluate(validation)})
        with progress("training", steps, done=state.step) as on:
            while not state.stopped:
                epoch, place = divmod(state.step, per_epoch)
                order = epoch_order(len(examples), self.config.seed, epoch)
                batch = [examples[i] for i in order[place * per_step : (place + 1) * per_step]]
                self.step(state, batch, self.config.rate(state.step, steps))
                on(1)
                if ended := place + 1 == per_epoch:
                    self.end_epoch(state, epoch + 1, validation)
                if ended or time.monotonic() - saved >= self.config.checkpoint_every_s:
                    self.checkpoint.save(state, self.weights, self.optimizer)
                    saved = time.monotonic()

    def step(self, state: Progress, batch: Sequence[Example], rate: float) -> None:
        """Take one step; its gradient is that of the mean over all answer tokens of the batch."""
        import torch

        start = time.monotonic()
        torch.manual_seed(step_seed(self.config.seed, state.step))
        self.network.train()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        learnt = sum(e.completion for e in batch)
        total = 0.0
        for part in chunks(batch, self.config.batch_size):
            loss = summed_loss(self.network, part, self.device) / learnt
            loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        norm = torch.nn.utils.clip_grad_norm_(self.weights.values(), self.config.max_grad_norm)
        if not (math.isfinite(total) and math.isfinite(float(norm))):
            raise _no_number(state.step + 1)
        self.optimizer.step()
        self.optimizer.zero_grad()
        state.step += 1
        state.tokens += sum(len(e.tokens) for e in batch)
        state.learnt += learnt
        state.seconds += time.monotonic() - start
        state.steps.append({"step": state.step, "loss": total, "learning_rate": rate})

    def evaluate(self, validation: Sequence[Example]) -> float:
        """Return the mean loss per answer token, without dropout."""
        import torch

        self.network.eval()
        ordered = sorted(validation, key=lambda e: -len(e.tokens))
        with torch.inference_mode():
            parts = chunks(ordered, self.config.batch_size)
            total = sum(float(summed_loss(self.network, part, self.device)) for part in parts)
        loss = total / sum(e.completion for e in validation)
        if not math.isfinite(loss):
            raise _no_number(None)
        return loss

    def end_epoch(self, state: Progress, epoch: int, validation: Sequence[Example]) -> None:
        """Evaluate, keep the weights where they are the best, and say whether that was all."""
        state.evaluations.append({"epoch": epoch, "loss": self.evaluate(validation)})
        if not state.stale:
            self.checkpoint.save_best(self.weights)
        if state.stale >= self.config.patience:
            state.stopped = f"no lower evaluation loss in {state.stale} epochs"
        elif epoch == self.config.epochs:
            state.stopped = f"{epoch} epochs"


def _key(
    examples: Sequence[Example], validation: Sequence[Example], config: TrainConfig, base: str
) -> str:
    described = [f"{name}={value}" for name, value in sorted(config.described().items())]
    texts = [f"{e.doc_id} {e.completion} {e.tokens}" for e in (*examples, *validation)]
    parts = (str(len(examples)), base, *described, *texts)
    return content_hash(*parts).hex()


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
