"""What an exposure run asks for."""

from __future__ import annotations

from dataclasses import dataclass

from argus.errors import InputError


@dataclass(frozen=True, kw_only=True)
class ExposureConfig:
    """k: how far down a list counts as brought back. sentences: held out per document."""

    k: int = 10
    sentences: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, least in (("--k", self.k, 1), ("--sentences", self.sentences, 0)):
            if value < least:
                raise InputError(
                    f"{value}",
                    expected=f"a whole number from {least}",
                    fix="For example 10.",
                    where=name,
                )
