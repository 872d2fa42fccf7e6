"""What the receipt of a retriever measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.data.fields import ParentField
from argus.retrievability.exposure.config import ExposureConfig
from argus.settings import TOP_K, Doc, Ge, Seed, TopK, check_settings


@dataclass(frozen=True, kw_only=True)
class ServedReceiptConfig:
    """How deep lists count, and which probes ask where no question is judged."""

    k: TopK = TOP_K
    parent_field: ParentField = None
    sentences: Annotated[
        int, Ge(0), Doc("Without --queries: sentences of a document that ask.")
    ] = 2
    sample: Annotated[
        int | None, Ge(1),
        Doc("Without --queries: ask for so many documents, drawn at random; default: for all."),
    ] = None  # fmt: skip
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def probes(self) -> ExposureConfig:
        """Which titles and sentences ask."""
        return ExposureConfig(
            k=self.k,
            sentences=self.sentences,
            sample=self.sample,
            seed=self.seed,
            parent_field=self.parent_field,
        )
