"""Records of an analysis of failures: its settings, its part of summary.json, and its tables."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.generative.failures.tables.records import Figures, Value
from argus.jobs.recorded_model import Answers


class FailureSettings(TypedDict):
    """How failures were analysed; replay: questions that are replayed at most."""

    k: int
    correct: str
    tokenizer: str | None
    strict: bool
    index: str | None
    model: str | None
    mode: str | None
    beams: int | None
    replay: int | None
    llm: str | None
    thresholds: dict[str, float] | None
    seed: int


class FileProblem(TypedDict):
    """What was amiss in a file: how often, and where first."""

    what: str
    count: int
    first: str


class QuestionCounts(TypedDict):
    """Questions by how they went: judged ones failed, came late or were found at once."""

    total: int
    judged: int
    failed: int
    late: int
    found: int


class ModeSummary(TypedDict):
    """How often a mode of failure holds in one system (see `Spread`).

    leading: failed questions whose diagnosis begins with it. not_applicable: why it is not
    measured.
    """

    id: str
    name: str
    category: str
    direct: bool
    threshold_text: str
    measured: int
    measured_failed: int
    measured_found: int
    among_failed: float | None
    among_found: float | None
    difference: float | None
    low: float | None
    high: float | None
    leading: int
    not_applicable: str | None


class SystemFigures(TypedDict):
    """What the rows of a system come to."""

    questions: QuestionCounts
    figures: Figures
    modes: list[ModeSummary]


class SystemSummary(SystemFigures):
    """One system. broken: where and why its file breaks off."""

    name: str
    file: str
    broken: str | None
    problems: list[FileProblem]


class Comparison(TypedDict):
    """Differences of two systems, over the questions that both have; second minus first."""

    questions: int
    only_first: int
    only_second: int
    columns: list[str]
    rows: list[list[Value]]


class TaxonomyMode(TypedDict):
    """A mode of failure as it is shown (see `FailureMode`)."""

    id: str
    category: str
    name: str
    definition: str
    indicator: str
    needs: str
    threshold_text: str
    reference: str
    direct: bool


class ReplaySummary(TypedDict):
    """How many questions with positives were replayed, and of those compared how many alike."""

    mode: str
    beams: int
    as_searched: bool
    questions: int
    of: int
    same: int
    compared: int


class VerdictCounts(TypedDict):
    """Questions by their best verdict; incomplete: those that might have a better one."""

    total: int
    YES: int
    PARTIAL: int
    NO: int
    failed: int
    incomplete: int


class PassageVerdicts(TypedDict):
    """Passages by what became of the question about them, and by verdict."""

    total: int
    ok: int
    failed: int
    not_asked: int
    YES: int
    PARTIAL: int
    NO: int


class SystemVerdicts(TypedDict):
    """What the judge said of one system's passages."""

    questions: VerdictCounts
    passages: PassageVerdicts


class NoVerdict(TypedDict):
    """Why passages have no verdict."""

    reason: str
    passages: int


class JudgeSummary(TypedDict):
    """What a judge said; language_model: what it took, None where nothing was asked."""

    model: str
    systems: dict[str, SystemVerdicts]
    failures: list[NoVerdict]
    language_model: Answers | None


class FailureSummary(TypedDict):
    """What an analysis comes to. needs: what was not measured, and what to give for it.

    unjudged: why no judge could be asked. replayed: by system.
    """

    k: int
    correct: str
    tokens: str
    systems: list[SystemSummary]
    comparison: Comparison | None
    taxonomy: list[TaxonomyMode]
    needs: list[str]
    replayed: list[ReplaySummary | None]
    judge: JudgeSummary | None
    unjudged: str | None


class DiagnosisRow(TypedDict):
    """A row of failure_diagnosis.parquet. pair: equal in both systems for one question."""

    system: str
    query_id: str
    question: str
    pair: str
    outcome: str
    first_correct: int | None
    modes: list[str]
    evidence: list[str]


class JudgedRow(TypedDict):
    """A row of judged.parquet: a passage, its verdict, or why it has none."""

    system: str
    query_id: str
    passage_id: str
    rank: int
    question: str
    answers: str
    title: str
    text: str
    state: str
    verdict: str | None
    explanation: str
    reason: str


class LostNgram(TypedDict):
    """What became of an n-gram that the beam dropped (see `Lost`)."""

    ngram: str
    view: str
    weight: float
    left_at: int | None
    rank: int | None
    kept_by: int | None


class PrunedNgram(LostNgram):
    """An n-gram of a question that the beam dropped."""

    query_id: str


class PrunedRow(PrunedNgram):
    """A row of pruned.parquet."""

    system: str
