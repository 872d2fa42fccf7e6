"""Settings of learning to rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from argus.errors import InputError
from argus.generative.jobs.settings import NgramSearchConfig
from argus.generative.training.settings import ExampleConfig
from argus.settings import Doc, Ge, Option, check_settings
from argus.training.settings import LoopConfig

_PANEL = "Ranking"
_VALIDATION_SHARE = 0.1


@dataclass(frozen=True, kw_only=True)
class GenerativeTuneConfig:
    """Settings of learning to rank. The defaults are LTRGR's, but for those of the training loop.

    search: model and settings of the search. Its k and formats are not used.
    rank_weight: 1 / lambda of the paper, whose lambda of 1,000 weighs the loss of writing.
    """

    search: NgramSearchConfig = field(default_factory=NgramSearchConfig)
    passages: Annotated[
        int, Ge(2), Doc("Of a question's list: those that rank first as yet."), Option(panel=_PANEL)
    ] = 200
    keys: Annotated[
        int, Ge(1), Doc("Of a passage, the weightiest: its score here."), Option(panel=_PANEL)
    ] = 40
    margin: Annotated[
        float, Ge(0), Doc("By which a right passage is to lead a wrong one."), Option(panel=_PANEL)
    ] = 500.0
    rank_weight: Annotated[
        float, Ge(0), Doc("Of the margins, beside the loss of writing."), Option(panel=_PANEL)
    ] = 0.001
    training: LoopConfig = field(default_factory=LoopConfig)

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.search.decoding.rescore:
            raise InputError(
                "a search without rescoring",
                expected="scores that are sums of weights by equation 2, of keys scored again",
                fix="Leave rescore as it is.",
                where="search",
            )

    @property
    def examples(self) -> ExampleConfig:
        """Texts written for questions meanwhile: spans, titles and queries of right passages."""
        return ExampleConfig(
            unsupervised=0, title_questions=False, validation_share=_VALIDATION_SHARE,
            seed=self.training.seed,
        )  # fmt: skip
