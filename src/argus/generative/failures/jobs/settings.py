"""How failures are analysed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from argus.errors import InputError
from argus.generative.failures.jobs.replaying import ReplayConfig
from argus.generative.failures.summary import FailureSettings

if TYPE_CHECKING:
    from argus.llm import ChatConfig, LocalConfig


class Correct(StrEnum):
    """When a passage is correct."""

    ANNOTATED = "annotated"
    ANSWER = "answer"


@dataclass(frozen=True, kw_only=True)
class FailureConfig:
    """What is known besides the outputs; without it less is measured, and the report says what.

    k: passages that a reader reads. correct: by annotation, or by holding an answer. tokenizer: a
    folder; None takes the index's, else words. index: of the passages. replay: searches again, with
    the index. llm: judges passages that nobody annotated. thresholds: of modes, by id. workers:
    processes; None for all cores where a file is large (a script then needs
    `if __name__ == "__main__":`).
    """

    k: int = 10
    correct: Correct = Correct.ANNOTATED
    tokenizer: Path | None = None
    index: Path | None = None
    replay: ReplayConfig | None = None
    llm: ChatConfig | LocalConfig | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    workers: int | None = 1

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(
                f"{self.k}", expected="a whole number from 1", fix="For example 10.", where="--k"
            )
        if self.replay is not None and self.index is None:
            raise InputError(
                "--model without --corpus-index",
                expected="both: a search is made again with the model over the index",
                fix="Give --corpus-index DIR, or leave --model out.",
                where="--model",
            )

    def described(self) -> FailureSettings:
        """Return it as plain values, for the manifest."""
        replay = self.replay
        return {
            "k": self.k,
            "correct": self.correct.value,
            "tokenizer": str(self.tokenizer) if self.tokenizer else None,
            "index": str(self.index) if self.index else None,
            "model": str(replay.model) if replay else None,
            "mode": str(replay.mode) if replay and replay.mode else None,
            "beams": replay.beams if replay else None,
            "replay": replay.questions if replay else None,
            "llm": self.llm.label if self.llm else None,
            "thresholds": dict(self.thresholds) or None,
            "seed": self.seed,
        }
