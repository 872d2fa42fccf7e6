"""What is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from argus.errors import InputError
from argus.settings import Doc, Option, Seed, check_settings

FAMILIES = ("ridge", "xgboost", "mlp", "kernel", "distilled")
OF_THE_PAPER = ("ridge", "xgboost", "mlp")
MlpInputs = Literal["standardized", "raw", "both"]
MLP_INPUTS: MlpInputs = "standardized"


@dataclass(frozen=True, kw_only=True)
class ProbeConfig:
    """What is fitted. families: in order of preference among equals. seed: of split and fit."""

    full: Annotated[
        bool,
        Doc("The paper's grid (hours), or a small one (minutes)."),
        Option(("--full/--quick",)),
    ] = False
    families: Annotated[
        tuple[str, ...],
        Doc(
            "Some of ridge,xgboost,mlp (the paper's), kernel (keeps its training vectors) and "
            "distilled (small, taught by large ones)."
        ),
    ] = OF_THE_PAPER
    mlp_inputs: Annotated[
        MlpInputs,
        Doc("What networks read: standardized vectors, raw ones (ARGUS C.1), or both in turn."),
    ] = MLP_INPUTS
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
