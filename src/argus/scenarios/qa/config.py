"""Settings of a comparison of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.indexes.blend import Weight
from argus.llm.config import ChatConfig, LocalConfig
from argus.measures import RESAMPLES, Resamples
from argus.settings import Ge, Option, Seed, check_settings

AnyConfig = ChatConfig | LocalConfig
LEAST_CONTEXT = 1_000
MEASURE = "nDCG@10"  # of the rankings, where there are judgements
MAX_CHARS = 48_000  # Characters of a whole block: about 12,000 tokens of English.


@dataclass(frozen=True, kw_only=True)
class QASettings:
    """Settings of the questions, whoever answers. seed: draws questions, too.

    Attributes:
        votes: Judgements per answer.
        reason: Have the model reformulate each question to search with.
        k: Documents in a context.
        max_chars: Characters of a context, shared alike.
        limit: Only so many questions, drawn at random.
    """

    votes: Annotated[int, Ge(1), Option(panel="Judge")] = 1
    reason: bool = False
    k: Annotated[int, Ge(1)] = 10
    weight: Weight = None
    max_chars: Annotated[int, Ge(LEAST_CONTEXT)] = MAX_CHARS
    limit: Annotated[int | None, Ge(1)] = None
    resamples: Resamples = RESAMPLES
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)

    def by(self, model: AnyConfig, judge: AnyConfig | None) -> QAConfig:
        """Return the settings with this model's answers and this judge."""
        return QAConfig(model=model, judge=judge, **vars(self))


@dataclass(frozen=True, kw_only=True)
class QAConfig(QASettings):
    """Settings of a comparison, with models.

    model: answers, and reformulates with `reason`. Its budget is that of all stages together.
    judge: None for the same.
    """

    model: AnyConfig
    judge: AnyConfig | None = None

    @property
    def judging(self) -> AnyConfig:
        """The model that judges."""
        return self.judge or self.model

    def described(self) -> dict[str, object]:
        """Return the settings that change the outcome. No secret, no pace, no budget."""
        return {
            "votes": self.votes,
            "k": self.k,
            "weight": self.weight,
            "reason": self.reason,
            "max_chars": self.max_chars,
            "resamples": self.resamples,
            "seed": self.seed,
            "questions": self.limit,
            "model": _described(self.model),
            "judge": _described(self.judging),
        }


def _described(model: AnyConfig) -> dict[str, object]:
    return {
        "model": model.identity,
        "temperature": model.temperature,
        "extra": dict(model.extra),
    }
