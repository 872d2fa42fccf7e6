"""`authority harm`: answers from superseded and from controlling context (CAR section 6.11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from argus.authority.benchmarks.metrics import share
from argus.authority.benchmarks.score import as_json
from argus.authority.benchmarks.source import open_benchmark
from argus.authority.benchmarks.types import Benchmark
from argus.authority.harm.config import AnyModel, HarmConfig
from argus.authority.harm.contexts import Context, contexts, serve, shown
from argus.authority.harm.prompts import Judgement, answer_prompt, judge_prompt
from argus.authority.harm.summary import ArmFigures, HarmSummary, harm_lines
from argus.data.folders import ArtifactFolder
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig
from argus.errors import ArgusError, InputError
from argus.jobs.recorded_model import RecordedModel
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.llm import ChatConfig, Ledger, Outcome, State, open_model
from argus.llm.structured import without_thoughts
from argus.reports import write_report

JOB = "harm"
TABLE = "authority_harm"
LEDGER = "answers.sqlite"


@dataclass(frozen=True, repr=False)
class HarmResult(Result):
    """What was answered; everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: HarmSummary
    table: pa.Table
    """One row per question and arm."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return harm_lines(self.summary)


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer and its class; verdict is "" where it failed, and `reason` says why."""

    context: Context
    answer: str = ""
    verdict: str = ""
    reason: str = ""


@one_writer
def measure_harm(
    benchmark: Benchmark | Path | str,
    *,
    config: HarmConfig,
    out: Path | str,
    queries: Path | str | None = None,
    encoder: Encoder | EncoderConfig | str | None = DEFAULT_MODEL,
    store: Path | None = None,
    fresh: bool = False,
) -> HarmResult:
    """Answer every question from superseded, from controlling and from served documents.

    Each answer is judged against the gold documents: correct, confidently wrong or uncertain.
    Answers are kept in `out/answers.sqlite` as they come: the same command goes on where an earlier
    one was stopped, and pays for nothing twice. A question that fails is counted apart. Raises
    InputError before anything is asked, LanguageModelError when an endpoint cannot be used, and
    ArgusError when no answer was judged.
    """
    if "{question}" not in config.ask:
        raise InputError(
            f"{config.ask!r}", expected="a text with {question} in it",
            fix='Such as "{question} Answer yes or no."', where="--ask",
        )  # fmt: skip
    source = open_benchmark(benchmark, queries, seed=config.seed)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    settings = config.described() | {"benchmark": source.benchmark.name}
    record = Record(JOB, settings, {"corpus": source.corpus, "queries": source.queries})
    served = serve(source.benchmark, config, encoder, record, folder, store)
    questions = source.benchmark.questions[: config.first]
    cases = contexts(source.benchmark, questions, served)
    with Ledger(folder / LEDGER) as ledger:
        judged, answering, judging = _ask(cases, source.benchmark, config, ledger, record)
    if not any(j.verdict for j in judged):
        first = next((j.reason for j in judged if j.reason), "no reason is known")
        raise ArgusError(
            f"No answer could be judged. The first reason: {first.rstrip('. ')}. Answers so far "
            "are kept: run the same command again, it asks only the rest."
        )
    arms = list(dict.fromkeys(case.arm for case in cases))
    summary: HarmSummary = {
        "benchmark": source.benchmark.name, "k": config.k, "model": answering.name,
        "judge": judging.name, "questions": len(questions),
        "arms": [_figures(arm, [j for j in judged if j.context.arm == arm]) for arm in arms],
        "answering": answering.summary(), "judging": judging.summary(),
    }  # fmt: skip
    return _keep(folder, record, summary, judged)


def _ask(
    cases: Sequence[Context],
    benchmark: Benchmark,
    config: HarmConfig,
    ledger: Ledger,
    record: Record,
) -> tuple[list[JudgedAnswer], RecordedModel, RecordedModel]:
    texts = {r.id: r.document.content for r in benchmark.records}
    answering = RecordedModel(open_model(config.model, ledger))
    able = [case for case in cases if not case.failure]
    with record.timed("answering"):
        asked = [
            answer_prompt(
                config.ask.replace("{question}", case.question.text),
                shown(case.documents, texts, config.max_chars),
            )
            for case in able
        ]
        answers = dict(zip(map(id, able), answering.complete(asked), strict=True))
    judging = RecordedModel(open_model(_judge(config, answering), ledger))
    replies = [(case, *_answer(case, answers.get(id(case)))) for case in cases]
    prompts = [
        judge_prompt(
            case.question.text, answer,
            shown(case.question.gold, texts, config.max_chars // 2),
            shown([i for i in case.question.anchor if i not in case.question.gold], texts,
                  config.max_chars // 2),
        )
        for case, answer, _ in replies if answer
    ]  # fmt: skip
    with record.timed("judging"):
        outcomes = judging.complete(prompts, schema=Judgement)
        judged = [
            _judged(case, answer, next(outcomes)) if answer else JudgedAnswer(case, reason=why)
            for case, answer, why in replies
        ]
    return judged, answering, judging


def _judge(config: HarmConfig, answering: RecordedModel) -> AnyModel:
    """Return who judges; of one budget for both, what answering left."""
    judge = config.judge or config.model
    if not isinstance(judge, ChatConfig) or not isinstance(config.model, ChatConfig):
        return judge
    spent, budget, tokens = (
        answering.inner.spent,
        config.model.budget,
        config.model.max_total_tokens,
    )
    return replace(
        judge,
        budget=None if budget is None else max(0.0, budget - (spent.cost or 0.0)),
        max_total_tokens=(
            None if tokens is None else max(0, tokens - spent.tokens_in - spent.tokens_out)
        ),
    )


def _answer(case: Context, outcome: Outcome[str] | None) -> tuple[str, str]:
    """Return an answer, or why there is none."""
    if outcome is None:
        return "", case.failure
    if outcome.state is not State.OK or outcome.value is None:
        return "", outcome.reason
    return without_thoughts(outcome.value).strip(), "the answer holds thoughts alone"


def _judged(case: Context, answer: str, outcome: Outcome[Judgement]) -> JudgedAnswer:
    if outcome.state is not State.OK or outcome.value is None:
        return JudgedAnswer(case, answer, reason=f"judging: {outcome.reason}")
    return JudgedAnswer(case, answer, outcome.value.verdict, outcome.value.reason)


def _figures(arm: str, answers: Sequence[JudgedAnswer]) -> ArmFigures:
    judged = [a for a in answers if a.verdict]
    failed = [a for a in answers if not a.verdict]
    return {
        "arm": arm,
        "questions": len(answers),
        "failed": len(failed),
        "reasons": dict(Counter(a.reason for a in failed).most_common()),
        "controlling_hit": as_json(share(a.context.holds_gold for a in answers)),
        "correct": as_json(share(a.verdict == "correct" for a in judged)),
        "wrong": as_json(share(a.verdict == "wrong" for a in judged)),
        "uncertain": as_json(share(a.verdict == "uncertain" for a in judged)),
        "wrong_without": as_json(
            share(a.verdict == "wrong" for a in judged if not a.context.holds_gold)
        ),
        "correct_with": as_json(
            share(a.verdict == "correct" for a in judged if a.context.holds_gold)
        ),
    }


def _keep(
    folder: ArtifactFolder, record: Record, summary: HarmSummary, judged: Sequence[JudgedAnswer]
) -> HarmResult:
    table = harm_table(judged)
    folder.write_table(TABLE, table, csv=True)
    counts = {"questions": summary["questions"], "arms": len(summary["arms"])}
    folder.write_results(JOB, summary, record.manifest(counts))
    return HarmResult(folder.path, write_report(folder.path), summary, table)


def harm_table(judged: Sequence[JudgedAnswer]) -> pa.Table:
    """Return one row per question and context that it was answered from.

    arm: context, by what it was retrieved with.
    documents: ids of the documents that were shown, parted by "; ".
    controlling_shown: whether one that controls is among them.
    answer: answer of the model.
    verdict: correct, wrong (confidently) or uncertain; null where there is none.
    """
    return pa.table(
        {
            "arm": pa.array([j.context.arm for j in judged], pa.string()),
            "question_id": pa.array([j.context.question.id for j in judged], pa.string()),
            "question": pa.array([j.context.question.text for j in judged], pa.string()),
            "documents": pa.array(["; ".join(j.context.documents) for j in judged], pa.string()),
            "controlling_shown": pa.array([j.context.holds_gold for j in judged], pa.bool_()),
            "answer": pa.array([j.answer for j in judged], pa.string()),
            "verdict": pa.array([j.verdict or None for j in judged], pa.string()),
            "reason": pa.array([j.reason for j in judged], pa.string()),
        }
    )
