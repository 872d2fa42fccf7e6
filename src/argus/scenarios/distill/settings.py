"""The settings of a training: by default those of SPIKE §C.2.2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from argus.training.settings import ABOVE_0, SHARE, WHOLE, Check, LoopConfig


@dataclass(frozen=True, kw_only=True)
class TrainConfig(LoopConfig):
    """How an adapter is trained, beside what every training is told (see `LoopConfig`).

    rank, alpha, dropout: of LoRA, on all linear layers but the output. gradient_checkpointing: less
    memory for about a third more time. The paper names a linear warm-up and no ratio, and no bound
    of gradients; 0.1 and 1 are usual.
    """

    rank: int = 32
    alpha: float = 64
    dropout: float = 0.1
    gradient_checkpointing: bool = False

    CHECKS: ClassVar[Mapping[str, Check]] = MappingProxyType(
        {**LoopConfig.CHECKS, "rank": WHOLE, "alpha": ABOVE_0, "dropout": SHARE}
    )
    PACE: ClassVar[frozenset[str]] = LoopConfig.PACE | {"gradient_checkpointing"}
