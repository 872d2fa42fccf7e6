"""How documents are profiled."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from argus.llm.config import AcceptUnanswered, ChatConfig, LocalConfig
from argus.scenarios.openings import Form, FormSetting
from argus.settings import Ge, check_settings

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
    form: FormSetting = Form.WRITTEN

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
            "form": str(self.form),
        }
