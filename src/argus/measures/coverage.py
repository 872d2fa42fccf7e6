"""How many relevant documents have a remedy: a gain on their questions is a gain of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NotRequired

from typing_extensions import TypedDict


class Coverage(TypedDict):
    """How many documents have a remedy.

    documents: documents of the index.
    with_remedy: of these, documents that have the remedy.
    relevant: documents that are relevant to a question that was asked.
    relevant_with_remedy: of these, documents that have the remedy.
    """

    documents: int
    with_remedy: int
    relevant: int
    relevant_with_remedy: int


class Covered(TypedDict):
    """A receipt of a remedy.

    coverage: how many of the documents, and of those relevant to judged queries, have it; None
    without any.
    """

    coverage: NotRequired[Coverage | None]


def cover(
    documents: Collection[str], with_remedy: Collection[str], relevant: Iterable[Iterable[str]]
) -> Coverage:
    """Count them by their ids. relevant: documents, by question."""
    judged = {doc for docs in relevant for doc in docs}
    return {
        "documents": len(documents),
        "with_remedy": len(with_remedy),
        "relevant": len(judged),
        "relevant_with_remedy": len(judged.intersection(with_remedy)),
    }


def coverage_words(coverage: Coverage | None) -> str:
    """Return it in words; "" where all documents have the remedy, or none was told."""
    if coverage is None or coverage["with_remedy"] >= coverage["documents"]:
        return ""
    return (
        f"{coverage['relevant_with_remedy']:,} of {coverage['relevant']:,} relevant documents have "
        f"it, {coverage['with_remedy']:,} of all {coverage['documents']:,}"
    )
