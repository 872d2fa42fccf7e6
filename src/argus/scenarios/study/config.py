"""Settings of a study: comparisons, criteria and people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from argus.errors import InputError
from argus.indexes.blend import Weight
from argus.measures import RESAMPLES, Resamples
from argus.settings import Doc, Ge, Seed, check_settings

LEAST_CHARS = 100


class Versus(StrEnum):
    """Rivals of documents with their scenarios (SPIKE §4.3, Figure 4)."""

    DOCUMENT = "document"  # Documents as a search without scenarios ranks and shows them.
    # The same documents, of whose scenarios the main topic alone is shown.
    MAIN_TOPIC = "main-topic"


class Criterion(StrEnum):
    """Answer of a rater on two results (SPIKE appendix C.4)."""

    SPECIFICITY = "specificity"
    COMPREHENSIBILITY = "comprehensibility"
    USEFULNESS = "usefulness"
    OVERALL = "overall"

    @property
    def question(self) -> str:
        """Question to the rater."""
        return QUESTIONS[self]


# In words of our own, after appendix C.4.
QUESTIONS = {
    Criterion.SPECIFICITY: "Which search result gives more specific, more detailed information?",
    Criterion.COMPREHENSIBILITY: "Which search result is easier to understand at a glance?",
    Criterion.USEFULNESS: "Which search result helps more to solve the problem or to decide?",
    Criterion.OVERALL: "Which search result do you prefer overall?",
}
Comparisons = Annotated[
    tuple[Versus, ...],
    Doc("What scenarios are compared with: document, main-topic; several with commas."),
]


@dataclass(frozen=True, kw_only=True)
class StudyConfig:
    """A study. questions, judges: the paper's. How many results a side shows it does not say.

    Attributes:
        questions: Questions that people see, drawn at random.
        judges: People who judge each pair.
        raters: Sheets, one for each person; default: as many as --judges.
        k: Results on each side.
        same_results: Show the same documents on both sides: only what is told of them differs.
        max_chars: Characters of each document.
    """

    versus: Comparisons = tuple(Versus)
    questions: Annotated[int, Ge(1)] = 100
    judges: Annotated[int, Ge(1)] = 3
    raters: Annotated[int | None, Ge(1)] = None
    k: Annotated[int, Ge(1)] = 3
    same_results: bool = False
    max_chars: Annotated[int, Ge(LEAST_CHARS)] = 1_500
    weight: Weight = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
        object.__setattr__(self, "versus", tuple(Versus(v) for v in dict.fromkeys(self.versus)))
        if not self.versus:
            raise InputError(
                "nothing to compare with",
                expected=f"one of {', '.join(Versus)}, or both",
                fix="Leave it out for both.",
                where="--versus",
            )
        if self.raters is not None and self.raters < self.judges:
            raise InputError(
                f"{self.raters} sheets for {self.judges} judges of each pair",
                expected="as many people as judge one pair, at least",
                fix=f"Use --raters {self.judges} or more, or fewer --judges.",
                where="--raters",
            )

    @property
    def sheets(self) -> int:
        """How many people there are."""
        return self.judges if self.raters is None else self.raters


@dataclass(frozen=True, kw_only=True)
class PreferenceConfig:
    """How answers are told."""

    resamples: Resamples = RESAMPLES
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
