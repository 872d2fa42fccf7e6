"""Settings of an n-gram index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.errors import InputError
from argus.settings import Doc, Option

TRAINED = "bpe:"
"""Begins the name of a tokenizer that is trained on the corpus."""


@dataclass(frozen=True, kw_only=True)
class NgramBuildConfig:
    """Settings of the build. titles: None means yes, or as in the index that you append to."""

    tokenizer: Annotated[
        str | None,
        Doc(
            "Folder of a tokenizer, or of the model that will search; or bpe:SIZE, a "
            "byte-level one of so many tokens trained on the corpus."
        ),
    ] = None
    titles: Annotated[
        bool | None,
        Doc("Whether titles stand in passages (the default, or as the index has them)."),
        Option(("--titles/--no-titles",), default=""),
    ] = None
    append: Annotated[
        bool, Doc("Add what is new in the corpus to the index in OUT, as a segment.")
    ] = False

    def __post_init__(self) -> None:
        if self.append and self.tokenizer is not None:
            raise InputError(
                f"{self.tokenizer!r} with --append",
                expected="none: an index keeps the tokenizer that it was built with",
                fix="Leave --tokenizer out.",
                where="--tokenizer",
            )
        if not self.append and not self.tokenizer:
            raise InputError(
                "no tokenizer",
                expected="the folder of the model that will search, or bpe:SIZE",
                fix="Without a model at hand, give bpe:8000 (small corpora) or bpe:50000: "
                "argus research generative train makes a model for it.",
                where="--tokenizer",
            )
