"""recipe.json: what was exported, and how it is searched."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.indexes.recipes import BlendRecord


class Folds(TypedDict):
    """Whether views of a remedy are weighed, and not only the best view of a document.

    sentences: whether sentence views are weighed.
    scenarios: whether scenario views are weighed.
    """

    sentences: bool
    scenarios: bool


class ExportSummary(TypedDict):
    """What was exported of a remedy.

    fingerprint: encoder that made the vectors, and has to embed queries.
    similarity: similarity that vectors are ranked by.
    views: views that were written.
    kinds: views by kind.
    with_vectors: whether vectors were written, too.
    documents: documents that have numbers of their own.
    blend: settings of the blend; None without one.
    weight: weight λ of documents against scenarios; None without scenarios.
    corrects: whether queries are corrected.
    """

    remedy: str
    index: str
    fingerprint: str
    dim: int
    similarity: str
    views: int
    kinds: dict[str, int]
    with_vectors: bool
    documents: int
    blend: BlendRecord | None
    weight: float | None
    corrects: bool
    folds: Folds


def headline(summary: ExportSummary) -> Iterator[str]:
    """Yield what was written."""
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in summary["kinds"].items()) or "none"
    yield f"{summary['remedy']}: {summary['views']:,} views ({kinds})"
    if summary["documents"]:
        yield f"numbers of {summary['documents']:,} documents"
    if summary["corrects"]:
        yield "a correction of queries"
    yield "README.md says how any store serves them"
