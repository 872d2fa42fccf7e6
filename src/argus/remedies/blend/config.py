"""How a blend makes its views, and how it is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import Doc, Ge, Seed, check_settings


@dataclass(frozen=True, kw_only=True)
class SentenceSettings:
    """Which sentences become views, and which of them measure hubness."""

    max_views: Annotated[
        int,
        Ge(2),
        Doc("Most sentence views of a document; of more sentences, neighbours are joined."),
    ] = 100
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
