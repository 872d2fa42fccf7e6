"""Define a retriever (queries in, ranked ids and scores out), its answers, and its errors.

Every job that asks a retriever uses these types. Any retriever of `argus.retrievers.opening` is
one, and so is an index (`argus.indexes.retriever`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from argus.data.types import Query, Run

# Reasons of failed queries in a summary.
MAX_REASONS = 20


@runtime_checkable
class Retriever(Protocol):
    """Ranks documents for queries. An Argus index is one, and so is whatever `opened` yields."""

    @property
    def name(self) -> str:
        """Name in reports."""

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return at most k documents per query. A query that failed is not in the run."""


@dataclass(frozen=True)
class Answers:
    """Answers of a retriever to some queries. Every query is answered or failed."""

    # Query id to document id to score. A query that brought nothing back has no document.
    run: Run
    # Query id to the reason of its failure. It never counts as a query without results.
    failed: Mapping[str, str] = field(default_factory=dict)
    # Answers read from the cache of an earlier run.
    kept: int = 0
    # A doubt about all of them.
    warning: str | None = None
    # Milliseconds by query that was asked now, a mean of those that were asked together.
    ms: Mapping[str, float] = field(default_factory=dict)


# A retriever's answers in a summary, as `note_of` makes it.
RetrieverNote = dict[str, Any]


class RetrievalError(Exception):
    """A query has no answer, or one that is no ranking. The message says why."""


class AskLater(RetrievalError):
    """The server asked for a pause of `wait_s` seconds. The same query may succeed afterwards."""

    def __init__(self, reason: str, wait_s: float) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


def note_of(name: str, answers: Answers) -> RetrieverNote:
    """Summarise a retriever and its answers.

    name: name of the retriever.
    kept: answers that an earlier run got.
    failed: queries that failed.
    reasons: why queries failed, to how many, the first.
    warning: a doubt about all of them. Missing without one.
    """
    reasons = dict(Counter(answers.failed.values()).most_common(MAX_REASONS))
    counts = {"kept": answers.kept, "failed": len(answers.failed), "reasons": reasons}
    return {"name": name, **counts} | ({"warning": answers.warning} if answers.warning else {})


def note_lines(note: RetrieverNote, n: int) -> Iterator[str]:
    """Yield warnings, failures and cached answers in words. n: queries in all."""
    if "warning" in note:
        yield f"WARNING: {note['warning']}"
    if note["failed"]:
        first = next(iter(note["reasons"]))
        yield f"{note['failed']:,} queries failed and are in no figure; most often: {first}"
    if note["kept"]:
        yield kept_note(note["kept"], n)


def kept_note(kept: int, n: int) -> str:
    """Say that `kept` of n answers come from the cache."""
    return f"{kept:,} of {n:,} answers are kept from an earlier run: --fresh asks again"
