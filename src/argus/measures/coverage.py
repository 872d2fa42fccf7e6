"""Count the documents that have a remedy, and the relevant ones among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

Coverage = dict[str, int]
"""Documents that have a remedy, see `cover`."""


def cover(
    documents: Collection[str], with_remedy: Collection[str], relevant: Iterable[Iterable[str]]
) -> Coverage:
    """Count documents by their ids. relevant: the relevant documents of each question.

    documents: documents of the index.
    with_remedy: of these, documents that have the remedy.
    relevant: documents that are relevant to a judged question.
    relevant_with_remedy: of these, documents that have the remedy.
    """
    judged = {doc for docs in relevant for doc in docs}
    return {
        "documents": len(documents),
        "with_remedy": len(with_remedy),
        "relevant": len(judged),
        "relevant_with_remedy": len(judged.intersection(with_remedy)),
    }


def coverage_words(coverage: Coverage | None) -> str:
    """Return the coverage in words. "" if all documents have the remedy, or it is None."""
    if coverage is None or coverage["with_remedy"] >= coverage["documents"]:
        return ""
    return (
        f"{coverage['relevant_with_remedy']:,} of {coverage['relevant']:,} relevant documents have "
        f"it, {coverage['with_remedy']:,} of all {coverage['documents']:,}"
    )
