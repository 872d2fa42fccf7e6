"""Records of a training: its part of summary.json, and the note beside the model."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.training.settings import EvaluationLoss, TrainingFigures, training_lines


class TrainSummary(TrainingFigures):
    """Summary of a training.

    model: folder of the model.
    weights: weights of the model.
    examples: examples by use, and by source and view.
    views: views that it learns to write: body, title, query.
    out_of_time: whether it ended for want of time. With more it goes on.
    evaluation_seconds: seconds that validating took.
    halved: how often a batch was halved for want of memory.
    batch: examples at once in the end.
    """

    model: str
    weights: int
    examples: dict[str, int]
    views: list[str]
    out_of_time: bool
    evaluation_seconds: float
    halved: int
    batch: int


class TrainSettings(TypedDict):
    """The fields of `ExampleConfig` and of `LearningConfig`.

    examples: fields of `ExampleConfig`.
    training: fields of `LearningConfig`.
    """

    examples: dict[str, float | bool]
    training: dict[str, object]


class ModelNote(TypedDict):
    """argus.json beside a model: its origin and its views.

    vocabulary: fingerprint of the tokenizer.
    base: name and size of a model from scratch, or name and hash of the weights it began with.
    views: views that it writes: body, title, query.
    examples: examples by use, and by source and view.
    stopped: why training ended.
    evaluations: losses in validation, in their order.
    best: the evaluation with the least loss.
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


def headline(summary: TrainSummary) -> Iterator[str]:
    """Yield lines on the examples learnt and the time they took."""
    counts = summary["examples"]
    yield (
        f"{counts['train']:,} examples an epoch, {counts['validation']:,} to validate with; "
        f"{counts['questions']:,} questions, {counts['held_out']:,} titles held out"
    )
    yield from training_lines(summary, "step")
    if summary["out_of_time"]:
        yield "give more --minutes, and it goes on"
    if summary["halved"]:
        yield f"out of memory {summary['halved']} times: {summary['batch']} examples at once"
