"""The comparison as a summary and as a table of every question in every arm."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa

from argus.data.reading import record_of
from argus.measures import paired_difference
from argus.scenarios.qa.cases import Gold, Retrieved, ranking_measures
from argus.scenarios.qa.compare import Arm, Judged
from argus.scenarios.qa.config import QAConfig
from argus.scenarios.qa.findings import arm_summaries, comparisons, votes_agreement
from argus.scenarios.qa.judge import Vote
from argus.scenarios.qa.sources import Inputs
from argus.scenarios.qa.stages import Stages
from argus.scenarios.qa.summary import (
    MEASURE,
    ArmSummary,
    QASummary,
    RankingDifference,
    VotesAgreement,
)

SCHEMA = pa.schema(
    [
        ("query_id", pa.string()),
        ("question", pa.string()),
        ("arm", pa.string()),
        ("state", pa.string()),
        ("stage", pa.string()),
        ("failure", pa.string()),
        ("reason", pa.string()),
        ("score", pa.float64()),
        ("votes", pa.string()),
        ("judgements", pa.string()),
        ("answer", pa.string()),
        ("reference", pa.string()),
        ("documents", pa.string()),
        ("documents_cut", pa.int64()),
        ("documents_left_out", pa.int64()),
        ("context_chars", pa.int64()),
        (MEASURE, pa.float64()),
    ]
)
"""One row per question and arm, in the order in which they were asked.

stage: where it failed: retrieval, answer or judgement. Empty where it did not.
failure: kind of failure. Empty without one.
score: mean of the votes, from 0 to 100.
votes: votes as in "60; 70; unparsable".
judgements: reason of each vote, as JSON.
answer: answer of the model.
reference: answer of the benchmark.
documents: ids in the order in which they were shown, as JSON.
documents_cut: documents that were shown in part.
documents_left_out: documents that found no room.
context_chars: characters of the context.
nDCG@10: of the arm's ranking, from 0 to 1. Null where nothing is ranked or judged.
"""


def table_of(judged: Sequence[Judged], retrieved: Retrieved, gold: Gold | None) -> pa.Table:
    """Return one row per question and arm, in the order in which they were asked."""
    measures = ranking_measures(retrieved, gold)
    rows = []
    for j in judged:
        case, votes = j.case, j.verdict.votes if j.verdict else ()
        rows.append(
            {
                "query_id": case.question.id,
                "question": case.question.text,
                "arm": str(case.arm),
                "state": str(j.state),
                "stage": j.stage,
                "failure": str(j.failure) if j.failure else "",
                "reason": j.reason,
                "score": j.score,
                "votes": "; ".join(map(_vote, votes)),
                "judgements": _json([vote.reason for vote in votes]),
                "answer": j.answer,
                "reference": case.question.reference,
                "documents": _json(case.documents),
                "documents_cut": case.cut,
                "documents_left_out": case.left_out,
                "context_chars": len(case.context),
                MEASURE: measures.get(case.arm, {}).get(case.question.id),
            }
        )
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def summarise(
    judged: Sequence[Judged],
    retrieved: Retrieved,
    inputs: Inputs,
    config: QAConfig,
    stages: Stages,
) -> QASummary:
    """Return the job's section of summary.json."""
    questions, options = inputs.questions, {"seed": config.seed, "resamples": config.resamples}
    measures = ranking_measures(retrieved, inputs.gold)
    reasoned = "by the model" if config.reason else "given" if inputs.reasoned is not None else ""
    return {
        "index": inputs.name,
        "scenarios": inputs.scenarios,
        "reasoned": reasoned,
        "votes": config.votes,
        "k": config.k,
        "weight": inputs.retriever.weight,
        "max_chars": config.max_chars,
        "questions": {
            "total": len(questions.sample) + questions.not_drawn + len(questions.reasons),
            "asked": len(questions.sample),
            "not applicable": len(questions.reasons),
            "not drawn": questions.not_drawn,
            "reasons": dict(Counter(questions.reasons.values())),
            "answers_without_query": questions.unknown_answers,
        },
        "arms": _arms(judged, measures, options),
        "comparisons": comparisons(judged, **options),
        "retrieval": _retrieval(measures, options),
        "gold": inputs.gold.missing if inputs.gold else None,
        "agreement": record_of(VotesAgreement, votes_agreement(judged)),
        "language_model": stages.summary(),
        "unanswered": stages.missing,
        "notes": list(_notes(inputs, config, stages)),
    }


def _arms(
    judged: Sequence[Judged],
    measures: Mapping[Arm, Mapping[str, float]],
    options: Mapping[str, int],
) -> list[ArmSummary]:
    """Return the scores of every arm, and the mean of its ranking's measure."""
    arms: list[ArmSummary] = []
    for arm in arm_summaries(judged, **options):
        values = measures.get(Arm(arm["arm"]), {}).values()
        arms.append({**arm, "nDCG@10": sum(values) / len(values) if values else None})
    return arms


def _retrieval(
    measures: Mapping[Arm, Mapping[str, float]], options: Mapping[str, int]
) -> RankingDifference | None:
    """Return how the fused ranking does against documents alone. None without judgements."""
    if not measures:
        return None
    difference = paired_difference(measures[Arm.DOCUMENTS], measures[Arm.FUSED], **options)
    return {"measure": MEASURE, **difference.figures()}


def _notes(inputs: Inputs, config: QAConfig, stages: Stages) -> list[str]:
    """Return the caveats of the figures."""
    notes = []
    if inputs.retriever.warning:
        notes.append(inputs.retriever.warning)
    if inputs.gold is None:
        notes.append("no judgements were given, so there is no oracle and no measure of rankings")
    if config.votes > 1 and config.judging.temperature == 0:
        notes.append(
            "the votes were drawn at temperature 0, so they differ in their number alone: "
            "agreement is at most this high"
        )
    if inputs.questions.unknown_answers:
        n = inputs.questions.unknown_answers
        notes.append(f"{n:,} reference answers are for ids that are no query's")
    if stages.missing:
        notes.append(
            f"{stages.missing:,} prompts are without an answer; the same command asks only those"
        )
    return notes


def _vote(vote: Vote) -> str:
    return str(vote.failure) if vote.score is None else f"{vote.score:g}"


def _json(values: Sequence[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)
