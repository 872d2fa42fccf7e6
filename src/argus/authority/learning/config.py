"""Which pairs are proposed, and which of a reviewed file become edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import Doc, Ge, Le, Option, check_settings


@dataclass(frozen=True, kw_only=True)
class ProposeConfig:
    """Which pairs are proposed."""

    least: Annotated[
        float, Ge(0), Le(1), Doc("Least confidence of a proposal."), Option(("--at-least",))
    ] = 0.1
    similarity: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("Least share of runs of words that near-duplicates have in common."),
        Option(("--similarity",)),
    ] = 0.5

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class AcceptConfig:
    """Which proposals become edges besides those that a person accepted."""

    undecided_from: Annotated[
        float | None,
        Ge(0),
        Le(1),
        Doc("Take undecided proposals of at least this confidence, too; default: none."),
    ] = None

    def __post_init__(self) -> None:
        check_settings(self)
