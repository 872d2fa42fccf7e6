"""What is answered from, and who answers and judges."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from argus.authority.benchmarks.config import Served
from argus.llm.config import ChatConfig, LocalConfig
from argus.settings import Doc, Ge, Option, Seed, check_settings

AnyModel = ChatConfig | LocalConfig
ASK = "{question}"
MAX_CHARS = 24_000


@dataclass(frozen=True, kw_only=True)
class HarmSettings:
    """What is compared, whoever answers. seed: of a benchmark that is made."""

    k: Served = 5
    systems: Annotated[
        tuple[str, ...],
        Doc("Answer also from what this system serves; may be given again."),
        Option(("--system",), repeated=True),
    ] = ()
    ask: Annotated[
        str, Doc("What is asked; {question} stands for the benchmark's own question.")
    ] = ASK
    max_chars: Annotated[
        int, Ge(1_000), Doc("Characters of all documents of a context, shared alike.")
    ] = MAX_CHARS
    first: Annotated[int | None, Ge(1), Doc("Only the first so many questions.")] = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)

    def by(self, model: AnyModel, judge: AnyModel | None) -> HarmConfig:
        """Return what is compared of this model's answers, as this one judges them."""
        values = {f.name: getattr(self, f.name) for f in fields(HarmSettings)}
        return HarmConfig(model=model, judge=judge, **values)


@dataclass(frozen=True, kw_only=True)
class HarmConfig(HarmSettings):
    """What is compared, and who answers and judges. judge: None for whoever answers."""

    model: AnyModel
    judge: AnyModel | None = None

    def described(self) -> dict[str, object]:
        """Return the settings that change the outcome; no secret, no pace, no budget."""
        values: dict[str, object] = {f.name: getattr(self, f.name) for f in fields(HarmSettings)}
        judge = self.judge or self.model
        return values | {
            "systems": list(self.systems), "model": self.model.identity, "judge": judge.identity,
        }  # fmt: skip
