"""Ask a language model whether passages that nobody annotated answer their questions.

Part of `generative analyse --llm`. Every answer is kept in the ledger as it comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from argus.errors import ArgusError
from argus.generative.failures.judge import (
    ANSWERS_PARTED_BY,
    FAILED,
    NO,
    PARTIAL,
    VERDICTS,
    YES,
    Candidate,
    Judgement,
    best,
    prompts,
)
from argus.generative.failures.summary import (
    JudgedRow,
    JudgeSummary,
    NoVerdict,
    SystemVerdicts,
)
from argus.jobs.recorded_model import Answers, RecordedModel
from argus.llm import (
    ChatConfig,
    Estimate,
    Ledger,
    LocalConfig,
    Outcome,
    State,
    estimate,
    open_model,
)
from argus.llm.ledger import ledger_to_read

LEDGER = "answers.sqlite"
NOT_ASKED = "not asked: "
_MOST_REASONS = 20
_TEXTS = (
    "system", "query_id", "question", "answers", "passage_id", "title", "text",
    "state", "verdict", "explanation", "reason",
)  # fmt: skip
SCHEMA = pa.schema([*((name, pa.string()) for name in _TEXTS), ("rank", pa.int64())])


@dataclass(frozen=True)
class Verdicts:
    """The judge's verdicts.

    best: by system, then by question: the best verdict over its passages (`failed`: there is none).
    open: also by question, how many of its passages have none.
    table: one row per passage, in the order in which they came. `verdict` is null where there is
    none, and `reason` says why. summary: counts, tokens and cost.
    """

    best: dict[str, dict[str, str]]
    open: dict[str, dict[str, int]]
    table: pa.Table
    summary: JudgeSummary


def judge_passages(
    candidates: Mapping[str, Iterable[Candidate]],
    config: ChatConfig | LocalConfig,
    ledger: Path | str,
) -> Verdicts:
    """Ask about all passages of all systems, each once, within one budget.

    candidates: by the system's name. Only they are kept in memory. ledger: the file of answers. The
    same call goes on where an earlier one was stopped, and asks only failed ones again. A passage
    without a verdict is counted. Raises ArgusError where none of them has one, LanguageModelError
    when the endpoint cannot be used. Nothing is opened where there is nothing to ask.
    """
    passages = _listed(candidates)
    outcomes: list[Outcome[Judgement]] = []
    spent: Answers | None = None
    if passages:
        with Ledger(Path(ledger)) as opened:
            model = RecordedModel(open_model(config, opened))
            answers = model.complete(prompts([c for _, c in passages]), schema=Judgement)
            outcomes = list(answers)
            spent = model.summary()
        _require_one(outcomes, config.label)
    rows = [_row(system, c, o) for (system, c), o in zip(passages, outcomes, strict=True)]
    verdicts = {system: _best_of(rows, system) for system in candidates}
    summary: JudgeSummary = {
        "model": config.label,
        "systems": {system: _counts(rows, verdicts[system], system) for system in candidates},
        "failures": _reasons(rows),
        "language_model": spent,
    }
    left = {system: _open(rows, system) for system in candidates}
    return Verdicts(verdicts, left, pa.Table.from_pylist(rows, schema=SCHEMA), summary)


def estimate_judging(
    candidates: Mapping[str, Iterable[Candidate]],
    config: ChatConfig | LocalConfig,
    ledger: Path | str,
) -> Estimate:
    """Estimate the questions and cost of `judge_passages`. Asks nothing, writes nothing."""
    questions = prompts([candidate for _, candidate in _listed(candidates)])
    with ledger_to_read(Path(ledger)) as opened:
        return estimate(questions, opened, config, schema=Judgement)


def _listed(candidates: Mapping[str, Iterable[Candidate]]) -> list[tuple[str, Candidate]]:
    return [(system, c) for system, of_system in candidates.items() for c in of_system]


def _require_one(outcomes: Sequence[Outcome[Judgement]], name: str) -> None:
    """Raise ArgusError where no passage has a verdict."""
    if any(outcome.state is State.OK for outcome in outcomes):
        return
    first = outcomes[0]
    why = _reason(first).rstrip(". ")
    mend = "raise the budget" if first.state is State.NOT_ASKED else "see what the model answers"
    raise ArgusError(
        f"none of {len(outcomes):,} passages got a verdict of {name}. The first reason: {why}. "
        f"To mend it, {mend} (or take another model), then run the same command: it asks only "
        "what has no verdict. Leave the model out to analyse without verdicts."
    )


def _row(system: str, candidate: Candidate, outcome: Outcome[Judgement]) -> JudgedRow:
    judgement = outcome.value if outcome.state is State.OK else None
    return {
        "system": system,
        "query_id": candidate.query_id,
        "passage_id": candidate.passage_id,
        "rank": candidate.rank,
        "question": candidate.question,
        "answers": ANSWERS_PARTED_BY.join(candidate.answers),
        "title": candidate.title,
        "text": candidate.text,
        "state": str(outcome.state),
        "verdict": None if judgement is None else judgement.verdict,
        "explanation": "" if judgement is None else judgement.explanation,
        "reason": "" if judgement is not None else _reason(outcome),
    }


def _reason(outcome: Outcome[Judgement]) -> str:
    return f"{NOT_ASKED if outcome.state is State.NOT_ASKED else ''}{outcome.reason}"


def _best_of(rows: Sequence[JudgedRow], system: str) -> dict[str, str]:
    """Return the best verdict on every question of a system of which a passage was judged."""
    by_question: dict[str, list[str | None]] = {}
    for row in rows:
        if row["system"] == system:
            by_question.setdefault(row["query_id"], []).append(row["verdict"])
    return {question: best(verdicts) for question, verdicts in by_question.items()}


def _open(rows: Sequence[JudgedRow], system: str) -> dict[str, int]:
    """Return how many passages of every question of a system have no verdict."""
    own = [row for row in rows if row["system"] == system]
    without = Counter(row["query_id"] for row in own if row["verdict"] is None)
    return {row["query_id"]: without[row["query_id"]] for row in own}


def _counts(rows: Sequence[JudgedRow], verdicts: Mapping[str, str], system: str) -> SystemVerdicts:
    """Return counts of questions by verdict, and of passages by state and by verdict.

    incomplete: questions that have a verdict below YES, and a passage without one.
    """
    own = [row for row in rows if row["system"] == system]
    questions, states = Counter(verdicts.values()), Counter(row["state"] for row in own)
    passages = Counter(row["verdict"] for row in own)
    open_ = {row["query_id"] for row in own if row["verdict"] is None}
    return {
        "questions": {
            "total": len(verdicts),
            "YES": questions[YES],
            "PARTIAL": questions[PARTIAL],
            "NO": questions[NO],
            "failed": questions[FAILED],
            "incomplete": sum(verdicts[q] in VERDICTS[1:] for q in open_),
        },
        "passages": {
            "total": len(own),
            "ok": states[State.OK],
            "failed": states[State.FAILED],
            "not_asked": states[State.NOT_ASKED],
            "YES": passages[YES],
            "PARTIAL": passages[PARTIAL],
            "NO": passages[NO],
        },
    }


def _reasons(rows: Sequence[JudgedRow]) -> list[NoVerdict]:
    """Return reasons for missing verdicts, commonest first, without the model's answers."""
    reasons = Counter(
        row["reason"].partition("; it begins ")[0] for row in rows if row["verdict"] is None
    )
    return [{"reason": r, "passages": n} for r, n in reasons.most_common(_MOST_REASONS)]
