"""What a diagnosis writes as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.corpora.stored import OfStore
from argus.data.types import StateCounts


class FinderFigures(TypedDict):
    """What found the mentions, and how many names it did not look for, by reason.

    name: what finds mentions.
    left_out: names that it does not look for, by reason.
    """

    name: str
    left_out: dict[str, int]


class UnreadCounts(TypedDict):
    """Entities that stand only beyond what the encoder reads, and their documents.

    entities: entities that stand only beyond what the encoder reads.
    documents: documents that name them.
    """

    entities: int
    documents: int


class RiskHistogram(TypedDict):
    """Entities per step of predicted RPS.

    edges: borders of the steps of predicted RPS.
    entities: entities per step.
    """

    edges: list[float]
    entities: list[int]


class DiagnosisFigures(TypedDict):
    """The figures of the report.

    tau: threshold τ: predicted RPS below it is a risk.
    documents: documents that were read.
    documents_with_entities: documents that name an entity.
    documents_at_risk: documents with an entity at risk.
    entities: entities by what became of them, once per document.
    flagged: entities at risk, once per document.
    share_flagged: these as a share of the entities that were measured.
    mean_rps: mean predicted RPS; None where none was predicted.
    """

    tau: float
    finder: FinderFigures
    documents: int
    documents_with_entities: int
    documents_at_risk: int
    entities: StateCounts
    unread: UnreadCounts
    flagged: int
    share_flagged: float | None
    mean_rps: float | None
    histogram: RiskHistogram


class DiagnosisSummary(DiagnosisFigures, OfStore):
    """Summary of a diagnosis, and of what was left out of it.

    documents_without_text: documents without a text.
    """

    documents_without_text: int


def headline(summary: DiagnosisSummary) -> Iterator[str]:
    """Yield how many entities are at risk, and what is not known of the others."""
    counts, share, unread = summary["entities"], summary["share_flagged"], summary["unread"]
    yield (
        f"{counts['total']:,} entities in {summary['documents_with_entities']:,} of "
        f"{summary['documents']:,} documents: {counts['measured']:,} scored, "
        f"{counts['not applicable']:,} beyond the probe's region, {counts['failed']:,} failed"
    )
    if share is not None:
        yield (
            f"at risk (predicted RPS below {summary['tau']:g}): {share:.1%} of the scored, in "
            f"{summary['documents_at_risk']:,} documents"
        )
    if not counts["total"]:
        yield (
            "no document names an entity: give a knowledge base of this corpus (--kb), take names "
            "in any case (--ignore-case) or common words, too (--common-words), or find them "
            "without one (--mentions capitals, ner:MODEL)"
        )
    if left_out := summary["finder"]["left_out"]:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in left_out.items())
        yield (
            f"{sum(left_out.values()):,} names of the knowledge base were not looked for "
            f"({reasons}): see --common-words, --min-length"
        )
    if unread["entities"]:
        yield (
            f"{unread['entities']:,} entities in {unread['documents']:,} "
            "documents stand only beyond what the model reads of a document: its vector knows "
            "nothing of them"
        )
