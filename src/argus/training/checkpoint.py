"""The state of a training on disk: a killed run goes on to the very same weights."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from argus.data.artifacts import replacing, write_whole
from argus.data.records import parse_json
from argus.errors import InputError

if TYPE_CHECKING:
    import torch
    from torch.optim.optimizer import StateDict

STATE, BEST = "state.pt", "best.safetensors"


class StepLoss(TypedDict):
    """One row per step of a training.

    step: its number, from 1. loss: in nats. learning_rate: of the optimiser.
    """

    step: int
    loss: float
    learning_rate: float


class EvaluationLoss(TypedDict):
    """One evaluation.

    epoch: epochs of training so far, a fraction inside of one.
    step: steps of training so far.
    loss: loss in validation, in nats.
    """

    epoch: float
    step: int
    loss: float


class TrainingLoss(TypedDict):
    """Loss of the first and of the last step.

    first: loss of the first step, in nats.
    last: loss of the last step, in nats.
    """

    first: float
    last: float


class Losses(TypedDict):
    """The losses of a training in its summary.

    evaluations: losses in validation, in their order.
    best: evaluation whose weights are kept.
    """

    evaluations: list[EvaluationLoss]
    best: EvaluationLoss
    training_loss: TrainingLoss


class Stored(TypedDict):
    """What stands in STATE. progress: `Progress` as JSON; weights: by name, those learnt."""

    key: str
    progress: str
    weights: dict[str, torch.Tensor]
    optimizer: StateDict


@dataclass
class Progress:
    """How far a training is. Losses are means over learnt tokens, in nats.

    tokens: read in training; learnt: those of them that were learnt. seconds, evaluation_seconds:
    spent on steps, and on evaluations. halved: how often a pass was halved for want of memory;
    passes: examples in a pass since then, 0 for as many as the settings say.
    """

    step: int = 0
    tokens: int = 0
    learnt: int = 0
    seconds: float = 0.0
    steps: list[StepLoss] = field(default_factory=list)
    evaluations: list[EvaluationLoss] = field(default_factory=list)
    evaluation_seconds: float = 0.0
    halved: int = 0
    passes: int = 0
    stopped: str = ""
    """Why it ended; "" while it has not."""
    out_of_time: bool = False
    """Whether it ended for want of time: with more of it, it goes on."""

    @property
    def best(self) -> EvaluationLoss | None:
        """The evaluation with the lowest loss after training began; the first of equals."""
        return min(self.evaluations[1:], key=lambda e: e["loss"], default=None)

    def losses(self) -> Losses:
        """Return the losses of a training that was evaluated, to six digits."""
        assert self.best is not None
        return {
            "evaluations": [_rounded(evaluation) for evaluation in self.evaluations],
            "best": _rounded(self.best),
            "training_loss": {
                "first": round(self.steps[0]["loss"], 6),
                "last": round(self.steps[-1]["loss"], 6),
            },
        }

    @property
    def stale(self) -> int:
        """How many evaluations in a row, the last included, brought no lower loss."""
        if self.best is None:
            return 0
        return len(self.evaluations) - 1 - self.evaluations.index(self.best, 1)


def _rounded(evaluation: EvaluationLoss) -> EvaluationLoss:
    return {**evaluation, "loss": round(evaluation["loss"], 6)}


class Checkpoint:
    """Two files in a folder: the state after a step, and the best weights so far.

    key: hash of what is trained, and how; a folder that holds another training is refused.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.key = folder, key

    def load(
        self, weights: dict[str, torch.nn.Parameter], optimizer: torch.optim.Optimizer
    ) -> Progress:
        """Set weights and optimizer to where a run was stopped; return how far that was.

        Raises InputError for the state of another training, and a file that cannot be read.
        """
        path = self.folder / STATE
        if not path.is_file():
            return Progress()
        state = _read(path)
        if state["key"] != self.key:
            raise InputError(
                "holds another training: of other data, base model or settings",
                expected="the same command as before, or an empty folder",
                fix="Give another --out, or start over with --fresh.",
                where=self.folder,
            )
        _put(weights, state["weights"])
        optimizer.load_state_dict(state["optimizer"])
        return Progress(**parse_json(state["progress"]))

    def save(
        self,
        progress: Progress,
        weights: dict[str, torch.nn.Parameter],
        optimizer: torch.optim.Optimizer,
    ) -> None:
        """Write the state, whole or not at all."""
        import torch

        state: Stored = {
            "key": self.key,
            "progress": json.dumps(asdict(progress)),
            "weights": {name: p.detach().cpu() for name, p in weights.items()},
            "optimizer": optimizer.state_dict(),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(self.folder / STATE) as temporary:
            torch.save(state, temporary)

    def save_best(self, weights: dict[str, torch.nn.Parameter]) -> None:
        """Write the weights as the best so far."""
        from safetensors.torch import save  # its save_file leaves files of its own after a kill

        self.folder.mkdir(parents=True, exist_ok=True)
        tensors = {name: p.detach().cpu().contiguous() for name, p in weights.items()}
        write_whole(self.folder / BEST, save(tensors))

    def load_best(self, weights: dict[str, torch.nn.Parameter]) -> None:
        """Set the weights to the best."""
        from safetensors.torch import load_file

        _put(weights, load_file(self.folder / BEST))


def _read(path: Path) -> Stored:
    import pickle

    import torch

    try:
        state: Stored = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
        raise _unreadable(path, str(error).splitlines()[0][:120]) from error
    if not isinstance(state, dict) or not Stored.__required_keys__ <= state.keys():
        raise _unreadable(path, "a part of it is missing")
    return state


def _unreadable(path: Path, why: str) -> InputError:
    return InputError(
        f"the state of the training cannot be read ({why})",
        expected="the file as it was written",
        fix="Start over with --fresh.",
        where=path,
    )


def _put(weights: dict[str, torch.nn.Parameter], values: dict[str, torch.Tensor]) -> None:
    import torch

    with torch.no_grad():
        for name, parameter in weights.items():
            parameter.copy_(values[name])
