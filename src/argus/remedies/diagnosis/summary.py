"""What a diagnosis writes as JSON."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.data.types import StateCounts


class FinderFigures(TypedDict):
    """What found the mentions, and how many names it did not look for, by reason."""

    name: str
    left_out: dict[str, int]


class UnreadCounts(TypedDict):
    """Entities that stand only beyond what the encoder reads, and their documents."""

    entities: int
    documents: int


class RiskHistogram(TypedDict):
    """Entities per step of predicted RPS."""

    edges: list[float]
    entities: list[int]


class DiagnosisFigures(TypedDict):
    """The figures of the report."""

    tau: float
    finder: FinderFigures
    documents: int
    documents_with_entities: int
    documents_at_risk: int
    entities: StateCounts
    """Once per document; why those without a prediction have none."""
    unread: UnreadCounts
    flagged: int
    share_flagged: float | None
    """Of the entities that were measured."""
    mean_rps: float | None
    histogram: RiskHistogram


class DiagnosisSummary(DiagnosisFigures):
    """Summary of a diagnosis, and of what was left out of it."""

    documents_without_text: int
