"""How a correction of queries is learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from argus.settings import Doc, Ge, Gt, Le, Option, Seed, check_settings
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
    """

    rank: Annotated[int, Ge(1), Doc("Directions of the correction.")] = 16
    learning_rate: Annotated[float, Gt(0), Le(1), Doc("Of AdamW."), Option(panel="Training")] = 1e-3
    weight_decay: WeightDecay = 0.01
    temperature: Annotated[
        float, Gt(0), Doc("Of the contrastive loss, in cosines."), Option(panel="Training")
    ] = 0.05
    negatives: Annotated[
        int, Ge(0), Doc("Random documents beside those of the batch."), Option(panel="Training")
    ] = 1024
    batch_size: Annotated[
        int, Ge(2), Doc("Needs at once."), Option(("--batch",), panel="Training")
    ] = 64
    epochs: Annotated[int, Ge(1), Doc("Most passes over the needs."), Option(panel="Training")] = (
        100
    )
    patience: Annotated[
        int, Ge(1), Doc("Epochs without a better rank of held-out needs that end it."),
        Option(panel="Training"),
    ] = 5  # fmt: skip
    folds: Annotated[int, Ge(2), Doc("Parts of the documents with needs, each held out once.")] = 5
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
