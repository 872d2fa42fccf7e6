"""The distillation's section of summary.json, and the note beside an adapter, key by key."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.llm.adapters import AdapterNote
from argus.training.checkpoint import EvaluationLoss, Losses


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


class DistillSummary(Losses):
    """What a training comes to. teachers: who wrote how many of the examples.

    stopped: why. device_memory_bytes: None on the CPU.
    """

    base: str
    dtype: str
    device: str
    examples: ExampleCounts
    teachers: dict[str, int]
    tokens: TokenCounts
    steps: int
    stopped: str
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
    evaluations: list[EvaluationLoss]
    best: EvaluationLoss
