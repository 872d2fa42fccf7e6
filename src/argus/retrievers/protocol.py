"""What every job speaks to: queries in, ranked ids out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from argus.data.types import Query, Run


@runtime_checkable
class Retriever(Protocol):
    """Ranks documents for queries. An Argus index is one, and so is what `open_retriever` opens."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return at most k documents per query; a query that failed is not in the run."""


@dataclass(frozen=True)
class Answers:
    """What a retriever said to some queries: every one is answered or failed."""

    run: Run
    """Query id to document id to score; a query that brought nothing back has no document."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Query id to why it was not answered. It is never counted as a query without results."""
    kept: int = 0
    """Answers that an earlier run got, and that were not asked for again."""


class RetrievalError(Exception):
    """One query was not answered, or with what is no ranking; the message says why."""


class AskLater(RetrievalError):
    """The server asked for a pause, of all that is sent; the same query may fare better then."""

    def __init__(self, reason: str, wait_s: float) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


def kept_note(kept: int, n: int) -> str:
    """Return what a reader must know of `kept` of n answers."""
    return f"{kept:,} of {n:,} answers are kept from an earlier run: --fresh asks again"
