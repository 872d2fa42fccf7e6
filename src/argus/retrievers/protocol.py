"""What every job speaks to: queries in, ranked ids out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NotRequired, Protocol, runtime_checkable

from typing_extensions import TypedDict

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
    warning: str | None = None
    """What is doubtful about all of them."""


class RetrieverNote(TypedDict):
    """A retriever's answers in a summary.

    name: name of the retriever.
    kept: answers that an earlier run got.
    failed: queries that failed.
    reasons: why queries failed, to how many, the first.
    warning: what is doubtful about all of them, if anything.
    """

    name: str
    kept: int
    failed: int
    reasons: dict[str, int]
    warning: NotRequired[str]


class RetrievalError(Exception):
    """One query was not answered, or with what is no ranking; the message says why."""


class AskLater(RetrievalError):
    """The server asked for a pause, of all that is sent; the same query may fare better then."""

    def __init__(self, reason: str, wait_s: float) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


REASONS = 20
"""Of failed queries, that a summary holds."""


def note_of(name: str, answers: Answers) -> RetrieverNote:
    """Return what a summary says of a retriever and its answers."""
    reasons = Counter(answers.failed.values())
    note: RetrieverNote = {
        "name": name,
        "kept": answers.kept,
        "failed": len(answers.failed),
        "reasons": dict(reasons.most_common(REASONS)),
    }
    if answers.warning:
        note["warning"] = answers.warning
    return note


def note_lines(note: RetrieverNote, n: int) -> Iterator[str]:
    """Yield what a person must know of them; n: queries in all."""
    if "warning" in note:
        yield f"WARNING: {note['warning']}"
    if note["failed"]:
        first = next(iter(note["reasons"]))
        yield f"{note['failed']:,} queries failed and are in no figure; most often: {first}"
    if note["kept"]:
        yield kept_note(note["kept"], n)


def kept_note(kept: int, n: int) -> str:
    """Return what a reader must know of `kept` of n answers."""
    return f"{kept:,} of {n:,} answers are kept from an earlier run: --fresh asks again"
