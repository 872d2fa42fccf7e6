"""Declare the settings by which `argus check` asks a vector store for its own records.

They are the depth k and the number of records. `argus.reachability.job` runs the check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.data.fields import By
from argus.settings import TOP_K, Ge, Gt, Lt, Seed, TopK, check_settings


@dataclass(frozen=True, kw_only=True)
class ReachConfig:
    """The depth of searches in a store, and the number of records asked for.

    Attributes:
        sample: Ask for so many records, drawn at random; default: for all.
        until_width: Ask for random records until the 95% interval of their share is this narrow.
        recall_sample: Records whose whole lists are compared with exact ones, for recall.
        batch: Records that are read, and searches sent, at once.
    """

    k: TopK = TOP_K
    sample: Annotated[int | None, Ge(1)] = None
    until_width: Annotated[float | None, Gt(0), Lt(1)] = None
    recall_sample: Annotated[int, Ge(1)] = 1_000
    batch: Annotated[int, Ge(1)] = 500
    seed: Seed = 0
    by: By = ()

    def __post_init__(self) -> None:
        check_settings(self)
