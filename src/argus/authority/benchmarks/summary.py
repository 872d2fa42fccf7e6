"""What a scoring tells: a benchmark, and what every system is worth on it."""

from __future__ import annotations

from typing_extensions import TypedDict


class BenchmarkCounts(TypedDict):
    """A benchmark, and how many of what it holds."""

    name: str
    records: int
    questions: int
    edges: int
    rules: int
    gold_superseded: int
    """Questions with gold that the edges supersede: it controls nothing."""


class ShareFigures(TypedDict):
    """A mean of values in [0, 1] over n questions with its 95% Wilson interval."""

    value: float
    low: float
    high: float
    n: int


class Shares(TypedDict):
    """What is averaged over questions, all at k; None where it applies to none."""

    tca: ShareFigures | None
    answer_correct: ShareFigures | None
    no_ignored_superseder: ShareFigures | None
    controlling_hit: ShareFigures | None
    controlling_hit_equivalent: ShareFigures | None
    provenance_recall: ShareFigures | None
    recall: ShareFigures | None
    anchor_recall: ShareFigures | None


class QuestionCounts(TypedDict):
    """Questions by what became of them, and why some failed."""

    total: int
    measured: int
    failed: int
    reasons: dict[str, int]


class FactorFigures(TypedDict):
    """Proposition 1 measured, as `argus.authority.benchmarks.metrics.Factors`."""

    anchor: ShareFigures | None
    chain: ShareFigures | None
    frontier: ShareFigures | None
    product: float
    tca_without: float


class SystemShares(TypedDict):
    """What the outcomes of one system are worth."""

    questions: QuestionCounts
    overall: Shares
    hops: dict[str, Shares]
    """By hop type, where questions have one."""
    anchor_recall_at: dict[str, ShareFigures | None]
    """Of the first stage, by depth; empty without stages."""
    factors: FactorFigures | None
    """None without stages."""


class SystemFigures(SystemShares):
    """One system, scored."""

    name: str
    about: str


class ScoringSummary(TypedDict):
    """The figures of a scoring."""

    benchmark: BenchmarkCounts
    k: int
    tca_by: dict[str, int]
    """Questions by how TCA is judged: by answers, or by Theorem 4."""
    encoder: str
    """Its fingerprint, or what stands in its place."""
    systems: list[SystemFigures]
