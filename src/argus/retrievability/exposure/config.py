"""Settings of an exposure run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.data.fields import By, ParentField
from argus.settings import TOP_K, Ge, Seed, TopK, check_settings


@dataclass(frozen=True, kw_only=True)
class ExposureConfig:
    """How many probes a document is asked for by, and how far down a list counts.

    Attributes:
        sentences: Sentences held out per document.
        sample: Ask for so many documents, drawn at random, in the whole corpus; default: for all.
    """

    k: TopK = TOP_K
    sentences: Annotated[int, Ge(0)] = 2
    sample: Annotated[int | None, Ge(1)] = None
    seed: Seed = 0
    parent_field: ParentField = None
    by: By = ()

    def __post_init__(self) -> None:
        check_settings(self)
