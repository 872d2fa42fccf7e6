"""Settings of the analysis of failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from argus.errors import InputError
from argus.generative.settings import Mode
from argus.llm.config import ChatConfig, LocalConfig
from argus.settings import Doc, Ge, Option, Seed, check_settings

MOST_QUESTIONS = 200
"""Replayed unless more are asked for. A question takes about a second."""
_REPLAY = "Replay"

Workers = Annotated[int | None, Ge(1), Doc("Processes; default: all cores.")]
"""A command's default. A script's is 1, since more need `if __name__ == "__main__":` there."""


class Correct(StrEnum):
    """When a passage is correct."""

    ANNOTATED = "annotated"
    ANSWER = "answer"


@dataclass(frozen=True, kw_only=True)
class ReplayConfig:
    """Settings of the search, to repeat it.

    Attributes:
        model: The seq2seq model that searched: shows what the beam dropped.
        mode: seal or minder; default: what the answers say, else seal.
        beams: Of the search; default: what the answers say, else 15.
        questions: At most so many questions, three quarters of them failed ones.
    """

    model: Annotated[Path, Option(panel=_REPLAY)]
    mode: Annotated[Mode | None, Option(panel=_REPLAY, default="")] = None
    beams: Annotated[int | None, Ge(1), Option(panel=_REPLAY, default="")] = None
    questions: Annotated[
        int, Ge(1), Option(("--replay",), panel=_REPLAY, default=str(MOST_QUESTIONS))
    ] = MOST_QUESTIONS

    def __post_init__(self) -> None:
        check_settings(self)

    @classmethod
    def from_options(
        cls,
        *,
        model: Path | None = None,
        mode: Mode | None = None,
        beams: int | None = None,
        questions: int = MOST_QUESTIONS,
    ) -> ReplayConfig | None:
        """Return how to search again. None without a model, which mode and beams need."""
        if model is not None:
            return cls(model=model, mode=mode, beams=beams, questions=questions)
        if mode is not None or beams is not None:
            raise InputError(
                f"--{'mode' if mode is not None else 'beams'} without --model",
                expected="--model DIR with it: a search is made again",
                fix="Give --model and --corpus-index, or leave it out.",
                where="--model",
            )
        return None


@dataclass(frozen=True, kw_only=True)
class FailureConfig:
    """Inputs besides the outputs. Without them less is measured, and the report says which.

    replay: searches again, with the index. llm: judges passages that nobody annotated. thresholds:
    of modes, by id. workers: processes. None for all cores where a file is large.

    Attributes:
        k: Passages that count as read.
        correct: A passage is correct when annotated, or when it holds an answer.
        tokenizer: Folder of the tokenizer that counts tokens; default: the index's, else words.
        strict: Count as the thesis does: its tokens, markers left in, and its deciles.
        index: Folder that argus research generative build wrote.
    """

    k: Annotated[int, Ge(1)] = 10
    correct: Correct = Correct.ANNOTATED
    tokenizer: Path | None = None
    strict: bool = False
    index: Annotated[Path | None, Option(("--corpus-index",))] = None
    replay: ReplayConfig | None = None
    llm: ChatConfig | LocalConfig | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    seed: Seed = 0
    workers: Workers = 1

    def __post_init__(self) -> None:
        check_settings(self)
        if self.strict and self.tokenizer is None and self.index is None:
            raise InputError(
                "--strict without a tokenizer",
                expected="the tokens that the thesis counts: GPT-2's, which are BART's",
                fix="Give --tokenizer DIR (of GPT-2 or BART), or --corpus-index.",
                where="--strict",
            )
        if self.replay is not None and self.index is None:
            raise InputError(
                "--model without --corpus-index",
                expected="both: a search is made again with the model over the index",
                fix="Give --corpus-index DIR, or leave --model out.",
                where="--model",
            )

    def described(self) -> dict[str, Any]:
        """Return it as plain values, for the manifest."""
        replay = self.replay
        return {
            "k": self.k,
            "correct": self.correct.value,
            "tokenizer": str(self.tokenizer) if self.tokenizer else None,
            "strict": self.strict,
            "index": str(self.index) if self.index else None,
            "model": str(replay.model) if replay else None,
            "mode": str(replay.mode) if replay and replay.mode else None,
            "beams": replay.beams if replay else None,
            "replay": replay.questions if replay else None,
            "llm": self.llm.label if self.llm else None,
            "thresholds": dict(self.thresholds) or None,
            "seed": self.seed,
        }
