"""How the linkers of a latent scope are weighed (CAR Def. 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import Doc, Ge, Gt, Le, Option, check_settings


@dataclass(frozen=True, kw_only=True)
class LatentConfig:
    """How the two linkers are weighed.

    names: share of the names in the query, where it has any; the rest, or all, is the anchors'.
    temperature: in the units of the first stage's scores, which are divided by it before the
    softmax; about 1 for BM25, 0.05 for cosines.
    """

    names: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("Weight of the scopes that the question names; the rest is that of what is found."),
        Option(("--scope-names",)),
    ] = 0.5
    temperature: Annotated[
        float,
        Gt(0),
        Doc("Scores are divided by it: about 1 for BM25, 0.05 for cosines."),
        Option(("--scope-temperature",)),
    ] = 1.0

    def __post_init__(self) -> None:
        check_settings(self)
