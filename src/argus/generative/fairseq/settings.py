"""What a checkpoint of fairseq may leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import Choices, Doc, Ge, check_settings

ACTIVATIONS = {
    "gelu": "gelu", "relu": "relu", "gelu_accurate": "gelu_new", "gelu_fast": "gelu_new",
}  # fmt: skip
"""Names of transformers by those of fairseq; its accurate and fast ones are both the tanh form."""


@dataclass(frozen=True, kw_only=True)
class ConvertConfig:
    """What is taken where a checkpoint does not say. None: as BART was released."""

    heads: Annotated[
        int | None, Ge(1), Doc("Attention heads, where the checkpoint has no settings: 1 per 64.")
    ] = None
    activation: Annotated[
        str | None,
        Choices(tuple(ACTIVATIONS)),
        Doc("Of its layers, where the checkpoint has no settings: gelu."),
    ] = None

    def __post_init__(self) -> None:
        check_settings(self)
