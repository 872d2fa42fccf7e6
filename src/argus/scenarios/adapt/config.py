"""How a correction of queries is learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from argus.settings import Ge, Gt, Le, Option, Seed, check_settings
from argus.training.settings import WeightDecay

ADAPT = "adapt"
# Text of documents that serves as queries where nobody wrote needs.
Unlabelled = Literal["titles", "sentences"]


@dataclass(frozen=True, kw_only=True)
class AdaptConfig:
    """Settings of the learning.

    Of the settings that the study measured (docs/results.md) these had the highest gain on needs
    that were held out. Each fold is held out of one learning. All folds together stop
    them, and the mean of the learnings, cut back to `rank`, is kept.

    Attributes:
        rank: Directions of the correction.
        learning_rate: Of AdamW.
        temperature: Of the contrastive loss, in cosines.
        negatives: Random documents beside those of the batch.
        batch_size: Needs at once.
        epochs: Most passes over the needs.
        patience: Epochs without a better rank of held-out needs that end it.
        folds: Parts of the documents with needs, each held out once.
    """

    rank: Annotated[int, Ge(1)] = 16
    learning_rate: Annotated[float, Gt(0), Le(1), Option(panel="Training")] = 1e-3
    weight_decay: WeightDecay = 0.01
    temperature: Annotated[float, Gt(0), Option(panel="Training")] = 0.05
    negatives: Annotated[int, Ge(0), Option(panel="Training")] = 1024
    batch_size: Annotated[int, Ge(2), Option(("--batch",), panel="Training")] = 64
    epochs: Annotated[int, Ge(1), Option(panel="Training")] = 100
    patience: Annotated[int, Ge(1), Option(panel="Training")] = 5
    folds: Annotated[int, Ge(2)] = 5
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
