"""Declare the settings of writing profiles, of the ablation's grid, and of the check by needs.

The options of `research scenarios write`, `ablate` and `needs`. A cell of the grid is a part of
scenarios (component) and a weight λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from argus.data.fields import By, ParentField
from argus.indexes.blend import check_weight
from argus.llm.config import AcceptUnanswered, ChatConfig, LocalConfig
from argus.scenarios.profile import COMPONENT, Component
from argus.settings import Doc, Ge, Option, Seed, check_settings

MAX_DOCUMENT_CHARS = 24_000  # More of a document is not shown: about 6,000 tokens of English.


class Role(StrEnum):
    """The model that is asked: a large one, told every step, or one distilled from it."""

    TEACHER = "teacher"
    STUDENT = "student"


@dataclass(frozen=True, kw_only=True)
class ProfileSettings:
    """How a generator is asked, whoever it is.

    role: a teacher is told every step, a student has the instruction that distilled models were
    trained on. accept_unanswered: such documents count as failed. Without it the job ends with an
    error.

    Attributes:
        role: teacher, or student: a model that was distilled.
        max_chars: More of a document is not shown.
    """

    role: Role = Role.TEACHER
    max_chars: Annotated[int, Ge(1)] = MAX_DOCUMENT_CHARS
    accept_unanswered: AcceptUnanswered = False

    def __post_init__(self) -> None:
        check_settings(self)

    def by(self, model: ChatConfig | LocalConfig) -> ProfileConfig:
        """Return how this model is asked."""
        return ProfileConfig(model=model, **vars(self))


@dataclass(frozen=True, kw_only=True)
class ProfileConfig(ProfileSettings):
    """How documents are profiled, and by whom."""

    model: ChatConfig | LocalConfig

    def described(self) -> dict[str, object]:
        """Return the settings that change the outcome. No secret, no pace, no budget."""
        return {
            "model": self.model.identity,
            "temperature": self.model.temperature,
            "extra": dict(self.model.extra),
            "role": str(self.role),
            "max_chars": self.max_chars,
        }


WEIGHTS = tuple(i / 10 for i in range(11))  # λ of the grid. SPIKE Table 7 has 0.5 to 0.9
AUTO: Final = "auto"  # in the place of a component or of λ: chosen by held-out needs
Components = Annotated[
    tuple[Component, ...],
    Doc("M, I, E, M+E, I+E; several with commas."),
    Option(("--component",)),
]
Weights = Annotated[
    tuple[float, ...],
    Doc("What a document's own score counts; several with commas."),
    Option(("--lambda",)),
]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the grid."""

    component: Component
    weight: float  # λ

    def __str__(self) -> str:
        return f"{self.component} at λ = {self.weight:g}"


@dataclass(frozen=True, kw_only=True)
class GridConfig:
    """Which cells a grid has."""

    components: Components = tuple(Component)
    weights: Weights = WEIGHTS

    def __post_init__(self) -> None:
        for weight in self.weights:
            check_weight(weight)
        object.__setattr__(self, "weights", tuple(sorted(set(map(float, self.weights)))))

    @property
    def cells(self) -> list[Cell]:
        """The grid, by component and λ."""
        return [Cell(c, weight) for c in self.components for weight in self.weights]


@dataclass(frozen=True, kw_only=True)
class NeedsConfig(GridConfig):
    """Settings of the audit. A retriever is asked for k results.

    Attributes:
        k: How far down a list counts as found.
    """

    components: Components = (COMPONENT,)
    weights: Weights = (0.5, 0.6, 0.7, 0.8, 0.9)  # as in SPIKE Table 7
    k: Annotated[int, Ge(1)] = 10
    parent_field: ParentField = None
    seed: Seed = 0
    by: By = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_settings(self)
        object.__setattr__(self, "components", tuple(dict.fromkeys(self.components)))
