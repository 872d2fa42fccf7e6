"""`argus tune try`: try remedies on a copy of an index, keep the one that is proven to help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.errors import InputError
from argus.settings import Ge, Gt, Option, Seed, check_settings
from argus.tuning.written import NEEDS, Kind


@dataclass(frozen=True, kw_only=True)
class RepairConfig:
    """The numbers of folds and needs of a trial, and whether to add anything.

    Attributes:
        folds: Parts of the questions; what is chosen on the others is measured on each.
        max_needs: Most held-out needs that are asked, where no questions are judged.
        sample: Documents that a language model writes for, drawn at random.
        write: What it writes: needs, summary, context (a line before the text); repeatable.
        rerank_depth: First results that a reranker orders.
        arm_seconds: Seconds that a reranker may take for all questions.
        only_try: Measure on the copy and say what would be kept: add nothing.
        apply: Arm of the last trial to add as it was measured: try nothing again.
    """

    folds: Annotated[int, Ge(2)] = 5
    max_needs: Annotated[int, Ge(1)] = 500
    sample: Annotated[int, Ge(2)] = 500
    write: Annotated[tuple[Kind, ...], Option(repeated=True)] = (NEEDS,)
    rerank_depth: Annotated[int, Ge(1)] = 30
    arm_seconds: Annotated[float, Gt(0)] = 600.0
    seed: Seed = 0
    only_try: bool = False
    apply: str | None = None

    def __post_init__(self) -> None:
        check_settings(self)
        if self.only_try and self.apply is not None:
            raise InputError(
                "--only-try and --apply", expected="one of them: a trial adds nothing",
                fix="Leave one of them out.", where="--apply",
            )  # fmt: skip
