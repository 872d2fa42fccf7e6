"""What alignment is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import Ge, check_settings

MIN_MEMORY_BYTES = 128 << 20


@dataclass(frozen=True, kw_only=True)
class AlignSettings:
    """How pages and items become a knowledge base.

    language: of the dumps, for messages. sample: how many entities are drawn as targets, None for
    all; seed: of the draw. min_words: an entity whose paragraph has fewer is dropped; 1 for dumps,
    whose pages are judged when they are read. memory_bytes: what the database may hold before it
    writes to disk; the process needs about 0.5 GB on top. Raises InputError.
    """

    language: str = "en"
    sample: Annotated[int | None, Ge(1)] = None
    seed: int = 0
    min_words: Annotated[int, Ge(1)] = 1
    memory_bytes: Annotated[int, Ge(MIN_MEMORY_BYTES)] = 2 << 30

    def __post_init__(self) -> None:
        check_settings(self)
