"""Records of a training: its part of summary.json, and the note beside the model."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.training.checkpoint import EvaluationLoss, Losses


class TrainSummary(Losses):
    """What a training comes to.

    examples: counts by use, and by source and view. tokens_per_s: of training alone. halved: how
    often a batch was halved for want of memory; batch: examples at once in the end.
    """

    model: str
    weights: int
    dtype: str
    device: str
    examples: dict[str, int]
    views: list[str]
    steps: int
    stopped: str
    out_of_time: bool
    seconds: float
    evaluation_seconds: float
    tokens_per_s: float | None
    halved: int
    batch: int
    peak_memory_bytes: int
    device_memory_bytes: int | None


class TrainSettings(TypedDict):
    """The fields of `ExampleConfig` and of `LearningConfig`."""

    examples: dict[str, float | bool]
    training: dict[str, object]


class ModelNote(TypedDict):
    """argus.json beside a model: what it is, and what it may be asked for.

    vocabulary: fingerprint of the tokenizer. base: name and size of a model from scratch, or name
    and hash of the weights that training began with.
    """

    argus: str
    vocabulary: str
    base: dict[str, str | float]
    settings: TrainSettings
    views: list[str]
    examples: dict[str, int]
    steps: int
    stopped: str
    evaluations: list[EvaluationLoss]
    best: EvaluationLoss
