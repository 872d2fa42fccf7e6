"""What `argus explain --json` prints, key by key."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.explanation.evidence import Evidence


class PlaceRecord(TypedDict):
    """See `argus.explanation.types.Place`."""

    rank: int | None
    score: float | None
    of: int


class ViewRecord(TypedDict):
    """See `argus.explanation.types.ScoredView`."""

    id: str
    kind: str
    score: float
    source: str


class StandingRecord(TypedDict):
    """See `argus.explanation.types.Standing`."""

    ranked_by: str
    rank: int | None
    came_back: bool
    dense: PlaceRecord
    approximate: PlaceRecord | None
    bm25: PlaceRecord
    fused: PlaceRecord
    fusion: str
    views: list[ViewRecord]
    kth_score: float | None
    gap: float | None


class FindingRecord(TypedDict):
    """See `argus.explanation.types.Finding`."""

    cause: str
    state: str
    summary: str
    evidence: Evidence
    advice: str
    decisive: bool | None


class ExplanationRecord(TypedDict):
    """See `argus.Explanation`."""

    query: str
    query_id: str | None
    doc_id: str
    chunk: str | None
    index: str
    encoder: str
    k: int
    verdict: str
    cause: str | None
    came_back: bool
    standing: StandingRecord
    findings: list[FindingRecord]


class AboveRecord(TypedDict):
    """See `argus.explanation.run.Above`."""

    rank: int
    id: str
    score: float | None
    title: str
    says: list[str]


class RunStandingRecord(TypedDict):
    """See `argus.explanation.run.RunStanding`."""

    rank: int | None
    came_back: bool
    run: PlaceRecord
    bm25: PlaceRecord | None
    fused: PlaceRecord | None
    fusion: str
    kth_score: float | None
    gap: float | None
    above: list[AboveRecord]


class RunExplanationRecord(TypedDict):
    """See `argus.explanation.run.RunExplanation`."""

    query: str | None
    query_id: str
    doc_id: str
    run: str
    corpus: str | None
    k: int
    verdict: str
    cause: str | None
    came_back: bool
    standing: RunStandingRecord
    findings: list[FindingRecord]
