"""`scenarios qa`: answers from documents, and from documents with scenarios (SPIKE §4.4)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa

from argus.data.documents import find_file
from argus.data.fields import CoerceIds
from argus.data.folders import ArtifactFolder
from argus.data.types import Qrels, Query
from argus.data.writing import one_writer
from argus.devices import Device
from argus.errors import ArgusError
from argus.indexes.header import parse_index_spec
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder
from argus.llm import Ledger
from argus.llm.options import with_models
from argus.measures import paired_difference
from argus.reports import write_report
from argus.scenarios.qa.cases import cases, ranking_measures, retrieve
from argus.scenarios.qa.compare import (
    Arm,
    Judged,
    answer_cases,
    arm_summaries,
    comparisons,
    judge_answers,
    votes_agreement,
)
from argus.scenarios.qa.config import MEASURE, QAConfig, QASettings
from argus.scenarios.qa.inputs import Inputs, read_inputs
from argus.scenarios.qa.section import headline
from argus.scenarios.qa.stages import LEDGER, Stages, reformulate
from argus.scenarios.tables import schema
from argus.settings import INDEX, Option, Options

JOB = "scenarios_qa"
# One row per question and arm, in the order in which they were asked.
#
# stage: where it failed: retrieval, answer or judgement. Empty where it did not.
# failure: kind of failure. Empty without one.
# score: mean of the votes, from 0 to 100.
# votes: votes as in "60; 70; unparsable".
# judgements: reason of each vote, as JSON.
# answer: answer of the model.
# reference: answer of the benchmark.
# documents: ids in the order in which they were shown, as JSON.
# documents_cut: documents that were shown in part.
# documents_left_out: documents that found no room.
# context_chars: characters of the context.
# nDCG@10: of the arm's ranking, from 0 to 1. Null where nothing is ranked or judged.
SCHEMA = schema(
    ("query_id question arm state stage failure reason", str), ("score", float),
    ("votes judgements answer reference documents", str),
    ("documents_cut documents_left_out context_chars", int), (MEASURE, float),
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class QAResult(Result):
    """Result of the comparison. Everything in it is also in `folder`.

    table: one row per question and arm.

    Keys of `summary`:

    scenarios: scenarios in the index.
    reasoned: who reformulated the questions. Empty for nobody.
    votes: votes on an answer.
    weight: weight λ of documents against scenarios.
    max_chars: most characters of a context.
    questions.total: questions that were read.
    questions.asked: questions that were asked.
    questions.not applicable: questions that cannot be compared.
    questions.not drawn: questions beyond the sample.
    questions.reasons: why they are not applicable, to how many.
    questions.answers_without_query: reference answers of no question.
    arms.questions: questions that it is over.
    arms.mean: mean score, from 0 to 100. None without a question.
    arms.arm: source of the answers.
    arms.failed_at: failed questions by stage.
    arms.failures: failed questions by kind of failure.
    arms.reasons: the same by reason, the 20 most frequent.
    arms.documents_cut: documents that were shown in part, over all questions.
    arms.documents_left_out: documents that found no room, over all questions.
    arms.documents_mean: mean score of documents alone on the same questions.
    arms.nDCG@10: nDCG@10 of the arm's ranking, 0 to 1. None where nothing is ranked or judged.
    comparisons: arms, two by two.
    comparisons.before: name of the arm.
    comparisons.after: name of the arm.
    comparisons.found: paired difference of the scores. None without a question measured in both.
    retrieval: fused ranking against that of documents alone. None without judgements.
    gold: relevant documents that the index lacks. None without judgements.
    agreement.answers: answers with more than one vote.
    agreement.votes: votes on them.
    agreement.mean_difference: mean difference of two votes on one answer. None without.
    agreement.alpha: Krippendorff's alpha of the votes. None where it is not defined.
    agreement.no_alpha: why it is not defined. Empty where it is.
    language_model: model and use, by stage.
    language_model.prompts: prompts that were needed.
    language_model.cached: of these, prompts that the ledger answers.
    language_model.unanswered: prompts without an answer.
    language_model.tokens_in: tokens of the prompts that were asked now.
    language_model.tokens_out: tokens of their answers.
    language_model.cost: cost of these, None without prices.
    language_model.model: model that was asked in this stage.
    unanswered: prompts without an answer.
    notes: caveats for the reader.
    """

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: dict[str, Any]
    table: pa.Table

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def compare_answers(
    index: Annotated[Path | str, Option(is_name=True), INDEX],
    queries: Path | str | Sequence[Query],
    *,
    config: Annotated[QAConfig, Options(with_models(QASettings, judge=True))],
    out: o.Out = o.OUT,
    answers: Path | str | Mapping[str, str] | None = None,
    qrels: Path | str | Qrels | None = None,
    reasoned: Path | str | Mapping[str, str] | None = None,
    encoder: o.IndexEncoder = None,
    device: Device = None,
    coerce_ids: Annotated[CoerceIds, Option()] = False,
    fresh: o.Fresh = False,
) -> QAResult:
    """Compare answers from documents, from documents with scenarios, and from relevant documents.

    Each answer gets a score from 0 to 100 against a reference answer (SPIKE §4.4). Answers are kept
    in OUT/answers.sqlite: a run that was stopped goes on, and nothing is paid for twice. Writes
    scenarios_qa.parquet and .csv, summary.json, manifest.json and report.html.

    index: `PATH[@STATE]` with scenarios. qrels: for the oracle arms and the rankings' own measure.
    reasoned: the question itself stays as it is. Nothing is paid for twice, not even after `fresh`.
    Raises InputError before anything is written, LanguageModelError when an endpoint cannot
    be used, and ArgusError when no answer of any arm got a score.

    Args:
        index: PATH, PATH@REMEDY: an index with scenarios.
        queries: Questions (JSONL, CSV, TSV, Parquet, BEIR folder).
        answers: Reference answers (query_id, answer); default: the queries' answer field.
        qrels: Judgements, for the oracle and the rankings' nDCG@10.
        reasoned: Reformulated queries (query_id, text) to search with, as BRIGHT's.
    """
    inputs = read_inputs(
        index, queries, config=config, answers=answers, qrels=qrels, reasoned=reasoned,
        encoder=encoder, device=device, coerce_ids=coerce_ids,
    )  # fmt: skip
    folder = ArtifactFolder(Path(out), fresh=fresh)
    named = {"queries": queries, "answers": answers, "qrels": qrels, "reasoned": reasoned}
    files = {k: Path(v) for k, v in named.items() if isinstance(v, (str, Path))}
    if "queries" in files and files["queries"].is_dir():
        files["queries"] = find_file(files["queries"], ["queries"]) or files["queries"]
    settings = config.described() | {"index": inputs.name, "weight": inputs.retriever.weight}
    model = {"fingerprint": inputs.retriever.encoder.fingerprint}
    record = Record(JOB, settings, dict(files), model)
    about = [parse_index_spec(index).path]
    check_folder(folder, record, about=about)
    with ExitStack() as stack:
        record.open(folder, about=about)
        ledger = stack.enter_context(Ledger(folder / LEDGER))
        stages = Stages(config.model, config.judging, ledger)
        sample = inputs.questions.sample
        with record.timed("retrieving"):
            texts, failed = {q.id: q.text for q in sample}, dict[str, str]()
            if inputs.reasoned is not None:
                texts = {id_: inputs.reasoned[id_] for id_ in texts}
            elif config.reason:
                texts, failed = reformulate(sample, stages.open("reformulating"))
            retrieved = retrieve(
                texts, failed, inputs.retriever, inputs.snapshot, folder / "embeddings", k=config.k
            )
        all_cases = list(
            cases(
                sample, retrieved, inputs.gold, inputs.snapshot, k=config.k,
                max_chars=config.max_chars,
            )
        )  # fmt: skip
        with record.timed("answering"):
            answered = answer_cases(all_cases, stages.open("answering"))
        with record.timed("judging"):
            judged = judge_answers(answered, stages.open("judging"), config.votes)
        if not any(j.score is not None for j in judged):
            first = next((j.reason for j in judged if j.reason), "no reason is known").rstrip(". ")
            again = " Run the same command again: it asks only the rest." if stages.missing else ""
            raise ArgusError(
                f"Nothing can be measured: no answer got a score. The first reason: {first}.{again}"
            )
        measures = ranking_measures(retrieved, inputs.gold)
        summary = _summary(judged, measures, inputs, config, stages)
    table = _table(judged, measures)
    folder.write_table(JOB, table, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["questions"]))
    return QAResult(folder.path, write_report(folder.path), summary, table)


def _table(judged: Sequence[Judged], measures: Mapping[Arm, Mapping[str, float]]) -> pa.Table:
    """Return one row per question and arm, in the order in which they were asked."""
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
                "failure": str(j.failure or ""),
                "reason": j.reason,
                "score": j.score,
                "votes": "; ".join(
                    str(v.failure) if v.score is None else f"{v.score:g}" for v in votes
                ),
                "judgements": json.dumps([vote.reason for vote in votes], ensure_ascii=False),
                "answer": j.answer,
                "reference": case.question.reference,
                "documents": json.dumps(case.documents, ensure_ascii=False),
                "documents_cut": case.cut,
                "documents_left_out": case.left_out,
                "context_chars": len(case.context),
                MEASURE: measures.get(case.arm, {}).get(case.question.id),
            }
        )
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _summary(
    judged: Sequence[Judged],
    measures: Mapping[Arm, Mapping[str, float]],
    inputs: Inputs,
    config: QAConfig,
    stages: Stages,
) -> dict[str, Any]:
    questions, options = inputs.questions, {"seed": config.seed, "resamples": config.resamples}
    arms, retrieval = arm_summaries(judged, **options), None
    for arm in arms:
        values = measures.get(Arm(arm["arm"]), {}).values()
        arm[MEASURE] = sum(values) / len(values) if values else None
    if measures:
        change = paired_difference(measures[Arm.DOCUMENTS], measures[Arm.FUSED], **options)
        retrieval = {"measure": MEASURE, **change.figures()}
    return {
        "index": inputs.name,
        "scenarios": inputs.scenarios,
        "reasoned": "by the model" if config.reason else "given" if inputs.reasoned else "",
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
        "arms": arms,
        "comparisons": comparisons(judged, **options),
        "retrieval": retrieval,
        "gold": inputs.gold.missing if inputs.gold else None,
        "agreement": votes_agreement(judged),
        "language_model": stages.summary(),
        "unanswered": stages.missing,
        "notes": _notes(inputs, config, stages),
    }


def _notes(inputs: Inputs, config: QAConfig, stages: Stages) -> list[str]:
    """Return the caveats of the figures."""
    notes = []
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
