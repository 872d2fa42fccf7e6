"""The distillation's section of summary.json, and the note beside an adapter, key by key."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.llm.adapters import AdapterNote


class ExampleCounts(TypedDict):
    """What became of the profiles. noise: is in train and validation, too."""

    profiles: int
    train: int
    validation: int
    noise: int
    failed: int
    too_long: int
    without_document: int
    documents_without_profile: int
    documents_without_text: int


class TokenCounts(TypedDict):
    """Tokens of examples: the longest one, all of them, and the most that one may have."""

    longest: int
    total: int
    bound: int


class Evaluation(TypedDict):
    """A loss, in nats per learnt token. epoch: 0 is before training, a fraction inside of one."""

    epoch: float
    step: int
    loss: float


class TrainingLoss(TypedDict):
    """Loss of the first and of the last step, in nats per learnt token."""

    first: float
    last: float


class DistillSummary(TypedDict):
    """What a training comes to. teachers: who wrote how many of the examples.

    stopped: why. best: the evaluation whose weights are kept. device_memory_bytes: None on the CPU.
    """

    base: str
    dtype: str
    device: str
    examples: ExampleCounts
    teachers: dict[str, int]
    tokens: TokenCounts
    steps: int
    stopped: str
    evaluations: list[Evaluation]
    best: Evaluation
    training_loss: TrainingLoss
    seconds: float
    tokens_per_s: float | None
    peak_memory_bytes: int
    device_memory_bytes: int | None
    merged: bool


class DistillNote(AdapterNote):
    """distill.json: what an adapter is, and which base it belongs to. settings: of the training."""

    argus: str
    settings: dict[str, object]
    examples: ExampleCounts
    teachers: dict[str, int]
    dtype: str
    steps: int
    stopped: str
    evaluations: list[Evaluation]
    best: Evaluation
