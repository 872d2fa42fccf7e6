"""How the linkers of a latent scope are weighed (CAR Def. 8)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from argus.errors import InputError
from argus.settings import Doc, Ge, Le, Option


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
        Doc("Scores are divided by it: about 1 for BM25, 0.05 for cosines."),
        Option(("--scope-temperature",)),
    ] = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.names <= 1:
            raise InputError(
                f"names {self.names}",
                expected="a share from 0 to 1",
                fix="0 takes the anchors alone, 1 the names where there are any.",
            )
        if not (self.temperature > 0 and math.isfinite(self.temperature)):
            raise InputError(
                f"temperature {self.temperature}",
                expected="a number above 0",
                fix="Take about 1 for BM25 scores and 0.05 for cosines.",
            )
