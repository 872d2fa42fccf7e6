"""The section of summary.json on answers, key by key. Scores are from 0 to 100."""

from __future__ import annotations

from typing import Final

from typing_extensions import TypedDict

from argus.evaluation.summary import MissingDocuments
from argus.jobs.heard import Answers
from argus.llm.plan import EstimateFigures
from argus.measures.significance import DifferenceFigures

MEASURE: Final = "nDCG@10"
"""Of the rankings, where there are judgements."""

QuestionCounts = TypedDict(
    "QuestionCounts",
    {
        "total": int,
        "asked": int,
        "not applicable": int,
        "not drawn": int,
        "reasons": dict[str, int],
        "answers_without_query": int,
    },
)
"""Questions by what became of them; reasons: why they are not applicable."""

CaseStates = TypedDict("CaseStates", {"measured": int, "failed": int, "not applicable": int})
"""Questions in one arm, by state."""


class MeanScore(TypedDict):
    """Mean score with its 95% interval. None where there is no question, or no interval."""

    questions: int
    mean: float | None
    low: float | None
    high: float | None
    no_interval: str


class ArmScores(MeanScore):
    """What became of the questions in one arm.

    failed_at: questions by stage, failures: by kind, reasons: by words, the 20 most frequent.
    documents_cut, documents_left_out: shown in part or not at all, over all questions.
    documents_mean: of documents alone on the same questions.
    """

    arm: str
    states: CaseStates
    failed_at: dict[str, int]
    failures: dict[str, int]
    reasons: dict[str, int]
    documents_cut: int
    documents_left_out: int
    documents_mean: float | None


RankingMean = TypedDict("RankingMean", {"nDCG@10": float | None})
"""MEASURE over questions, from 0 to 1; None where nothing is ranked or judged."""


class ArmSummary(ArmScores, RankingMean):
    """One arm."""


class ArmComparison(TypedDict):
    """Two arms on the questions that were measured in both; `found` is None without any."""

    before: str
    after: str
    found: DifferenceFigures | None


class RankingDifference(DifferenceFigures):
    """The fused ranking against that of documents alone, by a measure from 0 to 1."""

    measure: str


class VotesAgreement(TypedDict):
    """How far votes on the same answers agree; see `agreement.Agreement`."""

    answers: int
    votes: int
    mean_difference: float | None
    alpha: float | None
    no_alpha: str


class StageUsage(Answers):
    """One stage, and the model that was asked in it; tokens are those of the stage alone."""

    model: str


class QASummary(TypedDict):
    """The comparison of answers. reasoned: who reformulated the questions, "" for nobody.

    gold: relevant documents that the index lacks, None without judgements. language_model: by
    stage. unanswered: prompts without an answer.
    """

    index: str
    scenarios: int
    reasoned: str
    votes: int
    k: int
    weight: float
    max_chars: int
    questions: QuestionCounts
    arms: list[ArmSummary]
    comparisons: list[ArmComparison]
    retrieval: RankingDifference | None
    gold: MissingDocuments | None
    agreement: VotesAgreement
    language_model: dict[str, StageUsage]
    unanswered: int
    notes: list[str]


class QAEstimate(TypedDict):
    """What a comparison would ask and cost, by stage and in all.

    exact: whether all that is asked is known already.
    """

    stages: dict[str, EstimateFigures]
    total: EstimateFigures
    exact: bool
