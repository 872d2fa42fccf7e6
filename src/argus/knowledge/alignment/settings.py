"""What alignment is told."""

from __future__ import annotations

from dataclasses import dataclass

from argus.errors import InputError

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
    sample: int | None = None
    seed: int = 0
    min_words: int = 1
    memory_bytes: int = 2 << 30

    def __post_init__(self) -> None:
        if self.sample is not None and self.sample < 1:
            raise InputError(
                f"a sample of {self.sample} entities",
                expected="at least 1",
                fix="Give a larger --sample, or none for all entities.",
            )
        if self.min_words < 1:
            raise InputError(
                f"{self.min_words} words of a paragraph",
                expected="at least 1",
                fix="Give a larger --min-words.",
            )
        if self.memory_bytes < MIN_MEMORY_BYTES:
            raise InputError(
                f"{self.memory_bytes} bytes of memory for alignment",
                expected=f"at least {MIN_MEMORY_BYTES} (128 MiB)",
                fix="Allow more memory.",
            )
