"""How a table is reproduced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import Doc, Gt, Option, check_settings


@dataclass(frozen=True, kw_only=True)
class ReproduceConfig:
    """What it may take."""

    minutes: Annotated[
        float,
        Gt(0),
        Doc("Of training, where the thesis' tables are made of a model trained here."),
        Option(("--train-minutes",)),
    ] = 4.0

    def __post_init__(self) -> None:
        check_settings(self)
