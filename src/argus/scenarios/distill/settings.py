"""The settings of a training: by default those of SPIKE §C.2.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from argus.settings import Doc, Ge, Gt, Lt, Option
from argus.training.settings import LoopConfig

_PANEL = "Training"


@dataclass(frozen=True, kw_only=True)
class TrainConfig(LoopConfig):
    """How an adapter is trained, beside what every training is told (see `LoopConfig`).

    LoRA is on all linear layers but the output. The paper names a linear warm-up and no ratio, and
    no bound of gradients; 0.1 and 1 are usual.
    """

    rank: Annotated[int, Ge(1), Doc("Of LoRA."), Option(panel=_PANEL)] = 32
    alpha: Annotated[float, Gt(0), Doc("Of LoRA."), Option(panel=_PANEL)] = 64
    dropout: Annotated[float, Ge(0), Lt(1), Doc("Of LoRA."), Option(panel=_PANEL)] = 0.1
    gradient_checkpointing: Annotated[
        bool, Doc("Less memory, about a third more time."), Option(panel=_PANEL)
    ] = False

    PACE: ClassVar[frozenset[str]] = LoopConfig.PACE | {"gradient_checkpointing"}
