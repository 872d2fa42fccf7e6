"""Settings of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.errors import InputError
from argus.settings import Option, Seed, check_settings

FAMILIES = ("ridge", "xgboost", "mlp", "distilled")
OF_THE_PAPER = ("ridge", "xgboost", "mlp")


@dataclass(frozen=True, kw_only=True)
class ProbeConfig:
    """Settings of a fit. families: in order of preference among equals. seed: of split and fit.

    Attributes:
        full: The paper's grid (hours), or a small one (minutes).
        families: Some of ridge,xgboost,mlp (the paper's) and distilled (small, taught by large
            ones).
    """

    full: Annotated[bool, Option(("--full/--quick",))] = False
    families: tuple[str, ...] = OF_THE_PAPER
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
        unknown = [family for family in self.families if family not in FAMILIES]
        if unknown or not self.families or len(set(self.families)) < len(self.families):
            raise InputError(
                f"{', '.join(self.families) or 'none'}",
                expected=f"some of {', '.join(FAMILIES)}, each once",
                fix="For example --families ridge,mlp.",
                where="--families",
            )
