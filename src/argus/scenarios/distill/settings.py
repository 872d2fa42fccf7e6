"""The settings of a training: by default those of SPIKE §C.2.2."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from argus.errors import InputError
from argus.llm.config import DTYPES
from argus.settings import Choices, Ge, Gt, Lt, Option, check_settings
from argus.training.settings import LoopConfig

MAX_LENGTH = 4_096  # Tokens of prompt and answer. The released training data was cut to as many.
VALIDATION_SHARE = 0.1
_PANEL = "Training"


@dataclass(frozen=True, kw_only=True)
class TrainConfig(LoopConfig):
    """How an adapter is trained, beside the settings of every training (see `LoopConfig`).

    LoRA is on all linear layers but the output. The paper names a linear warm-up and no ratio, and
    no bound of gradients. 0.1 and 1 are usual.

    Attributes:
        rank: Of LoRA.
        alpha: Of LoRA.
        dropout: Of LoRA.
        gradient_checkpointing: A sixth of the memory, half more time (measured).
    """

    rank: Annotated[int, Ge(1), Option(panel=_PANEL)] = 32
    alpha: Annotated[float, Gt(0), Option(panel=_PANEL)] = 64
    dropout: Annotated[float, Ge(0), Lt(1), Option(panel=_PANEL)] = 0.1
    gradient_checkpointing: Annotated[bool, Option(panel=_PANEL)] = False

    PACE: ClassVar[frozenset[str]] = LoopConfig.PACE | {"gradient_checkpointing"}


@dataclass(frozen=True, kw_only=True)
class DistillConfig:
    """Settings of a distillation.

    max_length: no example may pass the model's window either. dtype: of the base model's weights.
    "auto" is bfloat16 on a GPU that has it, float32 on the CPU.

    Attributes:
        base: Causal language model with tokenizer: a folder, or a name.
        merge: Also write the model with the adapter in its weights.
        max_length: Longer examples (in tokens) are left out.
        validation_share: Documents kept for evaluation.
        dtype: auto, float32, bfloat16, float16.
    """

    base: str
    merge: bool = False
    max_length: Annotated[int, Ge(1)] = MAX_LENGTH
    validation_share: Annotated[float, Gt(0), Lt(1)] = VALIDATION_SHARE
    dtype: Annotated[str, Choices(DTYPES)] = "auto"
    training: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.base.strip():
            raise InputError(
                repr(self.base),
                expected="the folder of a language model",
                fix="See argus research scenarios distill --help.",
                where="--base",
            )
