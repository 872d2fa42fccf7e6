"""Compare answers from documents, and from documents with scenarios (SPIKE §4.4)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import pyarrow as pa

from argus.data.documents import find_file
from argus.data.fields import CoerceIds
from argus.data.folders import ArtifactFolder
from argus.data.runs import read_judgements
from argus.data.tables import read_table
from argus.data.types import Qrels, Query, State
from argus.data.writing import one_writer
from argus.devices import Device
from argus.encoders import Encoder, EncoderConfig
from argus.indexes.blend import Weight
from argus.indexes.header import parse_index_spec
from argus.indexes.retriever import IndexRetriever, open_retriever
from argus.indexes.snapshot import Snapshot
from argus.jobs import options as o
from argus.jobs.answers import ask_and_judge
from argus.jobs.result import TableResult
from argus.jobs.workspace import Record
from argus.llm import Estimate, Ledger, estimate
from argus.llm import State as PromptState
from argus.llm.config import with_models
from argus.llm.ledger import ledger_to_read
from argus.llm.model import answer_bound, request_keys, without_thoughts
from argus.measures import RESAMPLES, Resamples
from argus.measures.significance import interval_words
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, table
from argus.scenarios.qa.cases import (
    MAX_CHARS,
    REASONED_FIELDS,
    Gold,
    Questions,
    cases,
    gold_of,
    read_questions,
    read_texts,
    retrieve,
    scenarios_in,
)
from argus.scenarios.qa.judge import (
    Arm,
    Case,
    answer_prompt,
    arm_summaries,
    comparisons,
    judge_prompt,
    read_judgement,
)
from argus.scenarios.tables import headings
from argus.settings import INDEX, Ge, Option, Options, Seed, check_settings

JOB = "scenarios_qa"
LEDGER = "answers.sqlite"
LEAST_CONTEXT = 1_000
_CHARS_PER_TOKEN = 4
ARMS = {
    "documents": "documents alone",
    "fused": "ranked with scenarios",
    "fused + scenarios": "ranked and shown with scenarios",
    "oracle": "relevant documents",
    "oracle + scenarios": "relevant documents with scenarios",
}
_ARMS = (
    "context: text; mean score: text; 95% interval: text; of questions: count; "
    "documents alone on these: text; measured: count; failed: count; not applicable: count; "
    "documents cut: count"
)
_DIFFERENCES = (
    "before: text; after: text; questions: count; difference: text; 95% interval: text; "
    "p: text; better: count; worse: count; the same: count"
)
_ANSWERS = "question: text; context: text; score: count; answer, or why there is none: text"


@dataclass(frozen=True, kw_only=True)
class QAConfig(o.Models):
    """Settings of a comparison, with models. seed: draws questions, too.

    Attributes:
        k: Documents in a context.
        max_chars: Characters of a context, shared alike.
        limit: Only so many questions, drawn at random.
    """

    k: Annotated[int, Ge(1)] = 10
    weight: Weight = None
    max_chars: Annotated[int, Ge(LEAST_CONTEXT)] = MAX_CHARS
    limit: Annotated[int | None, Ge(1)] = None
    resamples: Resamples = RESAMPLES
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, repr=False)
class QAResult(TableResult):
    """Result of the comparison. Everything in it is also in `folder`.

    table: one row per question and arm.

    Keys of `summary`:

    scenarios: scenarios in the index.
    reasoned: whether reformulated questions were searched with.
    weight: weight λ of documents against scenarios.
    max_chars: most characters of a context.
    questions.total: questions that were read.
    questions.asked: questions that were asked.
    questions.not applicable: questions that cannot be compared.
    questions.not drawn: questions beyond the sample.
    questions.reasons: why they are not applicable, to how many.
    arms.questions: questions that it is over.
    arms.mean: mean score, from 0 to 100. None without a question.
    arms.arm: source of the answers.
    arms.failures: failed questions by kind of failure.
    arms.documents_cut: documents that were shown in part or found no room, over all questions.
    arms.documents_mean: mean score of documents alone on the same questions.
    comparisons: arms, two by two.
    comparisons.before: name of the arm.
    comparisons.after: name of the arm.
    comparisons.found: paired difference of the scores. None without a question measured in both.
    gold: relevant documents that the index lacks. None without judgements.
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

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        counts = summary["questions"]
        yield (
            f"questions: {counts['asked']:,} asked, {counts['not drawn']:,} not drawn, "
            f"{counts['not applicable']:,} not applicable"
        )
        for reason, n in counts["reasons"].items():
            yield f"  {n:,}: {reason}"
        for arm in summary["arms"]:
            counts = [f"{n:,} {state}" for state, n in arm["states"].items() if n]
            counts += [f"{n:,} {kind}" for kind, n in arm["failures"].items()]
            score = "no score"
            if arm["mean"] is not None:
                score = f"{arm['mean']:.1f} ({interval_words(arm, '.1f')})"
            yield f"{arm['arm']}: {score}; {', '.join(counts)}"
        for comparison in summary["comparisons"]:
            if (change := comparison["found"]) is not None:
                yield (
                    f"{comparison['before']} → {comparison['after']}: "
                    f"{change['mean_difference']:+.1f} ({interval_words(change, '+.1f')}, "
                    f"p={change['p_value']:.3g}, {change['queries']:,} questions: "
                    f"{change['improved']:,} better, {change['harmed']:,} worse, "
                    f"{change['unchanged']:,} the same)"
                )
        for note in summary["notes"]:
            yield f"note: {note}"


@one_writer
def compare_answers(
    index: Annotated[Path | str, Option(is_name=True), INDEX],
    queries: Path | str | Sequence[Query],
    *,
    config: Annotated[QAConfig, Options(with_models(QAConfig, judge=True))],
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

    index: `PATH[@STATE]` with scenarios. qrels: for the oracle arms.
    reasoned: the question itself stays as it is. Nothing is paid for twice, not even after `fresh`.
    Raises InputError before anything is written, LanguageModelError when an endpoint cannot
    be used, and ArgusError when no answer of any arm got a score.

    Args:
        index: PATH, PATH@REMEDY: an index with scenarios.
        queries: Questions (JSONL, CSV, TSV, Parquet, BEIR folder).
        answers: Reference answers (query_id, answer); default: the queries' answer field.
        qrels: Judgements, for the oracle.
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
    encoded_by = {"fingerprint": inputs.retriever.encoder.fingerprint}
    record = Record(JOB, settings, dict(files), encoded_by)
    about = [parse_index_spec(index).path]
    record.open(folder, about=about)
    with record.timed("retrieving"):
        judged = inputs.cases(config, folder / "embeddings")
    with Ledger(folder / LEDGER) as ledger:
        answering, judging = ask_and_judge(
            judged, config, ledger, record,
            question=answer_prompt, judgement=judge_prompt, read=read_judgement,
        )  # fmt: skip
    outcomes = [*answering.outcomes, *judging.outcomes]
    missing = (o for o in outcomes if o.unanswered or o.state is PromptState.NOT_ASKED)
    unanswered = len({outcome.prompt.key for outcome in missing})
    notes = []
    if inputs.gold is None:
        notes.append("no judgements were given, so there is no oracle")
    if unanswered:
        notes.append(
            f"{unanswered:,} prompts are without an answer; the same command asks only those"
        )
    questions, options = inputs.questions, {"seed": config.seed, "resamples": config.resamples}
    summary: dict[str, Any] = {
        "index": inputs.name,
        "scenarios": inputs.scenarios,
        "reasoned": inputs.reasoned is not None,
        "k": config.k,
        "weight": inputs.retriever.weight,
        "max_chars": config.max_chars,
        "questions": {
            "total": len(questions.sample) + questions.not_drawn + len(questions.reasons),
            "asked": len(questions.sample),
            "not applicable": len(questions.reasons),
            "not drawn": questions.not_drawn,
            "reasons": dict(Counter(questions.reasons.values())),
        },
        "arms": arm_summaries(judged, **options),
        "comparisons": comparisons(judged, **options),
        "gold": inputs.gold.missing if inputs.gold else None,
        "language_model": {
            "answering": {"model": answering.name, **answering.summary()},
            "judging": {"model": judging.name, **judging.summary()},
        },
        "unanswered": unanswered,
        "notes": notes,
    }
    answers_table = _table(judged)
    folder.write_table(JOB, answers_table, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["questions"]))
    return QAResult(folder.path, write_report(folder.path), summary, answers_table)


@dataclass(frozen=True)
class Inputs:
    """Inputs of a comparison, read and checked, before anybody is asked.

    name: name of the index, with its state.
    """

    name: str
    retriever: IndexRetriever
    snapshot: Snapshot
    scenarios: int
    questions: Questions
    reasoned: Mapping[str, str] | None
    gold: Gold | None

    def cases(self, config: QAConfig, store: Path) -> list[Case]:
        """Return every question in every arm."""
        sample = self.questions.sample
        texts = {q.id: q.text for q in sample}
        if self.reasoned is not None:
            texts = {id_: self.reasoned[id_] for id_ in texts}
        found = retrieve(texts, self.retriever, self.snapshot, store, k=config.k)
        laid_out = cases(
            sample, found, self.gold, self.snapshot, k=config.k, max_chars=config.max_chars
        )
        return list(laid_out)


def read_inputs(
    index: Path | str,
    queries: Path | str | Sequence[Query],
    *,
    config: QAConfig,
    answers: Path | str | Mapping[str, str] | None,
    qrels: Path | str | Qrels | None,
    reasoned: Path | str | Mapping[str, str] | None,
    encoder: Encoder | EncoderConfig | str | None,
    device: str | None,
    coerce_ids: bool,
) -> Inputs:
    """Read and check everything that is given. InputError names the misfit."""
    if isinstance(reasoned, (str, Path)):
        reasoned = read_texts(
            reasoned, REASONED_FIELDS, "reformulated query", coerce_ids=coerce_ids
        )
    questions = read_questions(
        queries, answers, reasoned, limit=config.limit, seed=config.seed, coerce_ids=coerce_ids
    )
    judged = None if qrels is None else read_judgements(qrels)
    spec = parse_index_spec(index)
    retriever = open_retriever(spec, encoder, device=device, weight=config.weight)
    snapshot = retriever.index.snapshot(retriever.as_of)
    scenarios = scenarios_in(snapshot, str(spec))
    gold = gold_of(questions.sample, judged, snapshot, str(spec)) if judged is not None else None
    return Inputs(str(spec), retriever, snapshot, scenarios, questions, reasoned, gold)


class AnswersEstimate(dict[str, Any]):
    """The estimate of each stage, `total` of them, and whether all is known already (`exact`)."""

    def __str__(self) -> str:
        parts = [*self["stages"].items(), ("total", self["total"])]
        lines = [f"{stage}: {Estimate(**figures)}" for stage, figures in parts]
        if not self["exact"]:
            lines.append("judging is counted as if every missing answer had its greatest length")
        return "\n".join(lines)


def estimate_answers(
    index: Path | str,
    queries: Path | str | Sequence[Query],
    *,
    config: QAConfig,
    out: Path | str,
    answers: Path | str | Mapping[str, str] | None = None,
    qrels: Path | str | Qrels | None = None,
    reasoned: Path | str | Mapping[str, str] | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
    coerce_ids: bool = False,
) -> AnswersEstimate:
    """Return the estimate of each stage, `total` of them, and whether it is `exact`.

    Prompts in the ledger of `out` count as answered. Where an answer is not there yet, the judge
    is taken to read one of the greatest length. Nothing is asked and nothing is written.
    """
    inputs = read_inputs(
        index, queries, config=config, answers=answers, qrels=qrels, reasoned=reasoned,
        encoder=encoder, device=device, coerce_ids=coerce_ids,
    )  # fmt: skip
    with TemporaryDirectory() as folder, ledger_to_read(Path(out) / LEDGER) as ledger:
        laid_out = inputs.cases(config, Path(folder) / "embeddings")
        to_ask = [case for case in laid_out if case.state is State.MEASURED]
        prompts = [answer_prompt(case) for case in to_ask]
        answering = estimate(prompts, ledger, config.answering)
        keys = request_keys(prompts, config.answering, None)
        known = {
            entry.key: without_thoughts(entry.answer)
            for entry in ledger.find(keys)
            if entry.state is PromptState.OK
        }
        for case, prompt, key in zip(to_ask, prompts, keys, strict=True):
            longest = _CHARS_PER_TOKEN * answer_bound(prompt, config.answering)
            case.answer = known.get(key) or prompt.key.ljust(longest, "x")  # one of equal prompts
        judging = estimate([judge_prompt(case) for case in to_ask], ledger, config.judging)
    stages: dict[str, Estimate] = {"answering": answering, "judging": judging}
    return AnswersEstimate(
        stages={stage: asdict(e) for stage, e in stages.items()},
        total=asdict(answering + judging),
        exact=not answering.to_ask,
    )


def _table(judged: Sequence[Case]) -> pa.Table:
    """Return one row per question and arm, in the order in which they were asked.

    stage: where it failed: retrieval, answer or judgement. failure: its kind. Both are empty where
    it did not. score: the judge's, from 0 to 100. judgement: its reason. reference: answer of the
    benchmark. documents: ids in the order in which they were shown, as JSON. documents_cut: those
    that were shown in part, or found no room.
    """
    rows = [
        {
            "query_id": case.question.id,
            "question": case.question.text,
            "arm": str(case.arm),
            "state": str(case.state),
            "stage": case.stage,
            "failure": str(case.failure or ""),
            "reason": case.reason,
            "score": case.verdict,
            "judgement": case.judgement,
            "answer": case.answer,
            "reference": case.question.reference,
            "documents": json.dumps(case.documents, ensure_ascii=False),
            "documents_cut": case.cut,
            "context_chars": len(case.context),
        }
        for case in judged
    ]
    return pa.Table.from_pylist(rows)


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section of summary.json and scenarios_qa.parquet."""
    rows = read_table(folder / f"{JOB}.parquet").to_pylist()
    answers = []
    for row in rows[:MAX_ROWS]:
        said = row["answer"] if row["state"] == "measured" else f"{row['state']}: {row['reason']}"
        question = f"{row['question']} · {row['query_id']}"
        answers.append([question, ARMS[row["arm"]], row["score"], said])
    arms = []
    for arm in summary["arms"]:
        mean, alone = (
            "–" if arm[name] is None else f"{arm[name]:.1f}" for name in ("mean", "documents_mean")
        )
        named = [ARMS[arm["arm"]], mean, _interval(arm, ".1f"), arm["questions"], alone]
        arms.append([*named, *arm["states"].values(), arm["documents_cut"]])
    brief, changes = f"{summary['questions']['asked']:,} questions asked", []
    for comparison in summary["comparisons"]:
        pair, change = (comparison["before"], comparison["after"]), comparison["found"]
        names = [ARMS[name] for name in pair]
        if change is None:
            changes.append([*names, 0, "–", "none: no question was measured in both", "–", 0, 0, 0])
            continue
        difference, ends = f"{change['mean_difference']:+.1f}", _interval(change, "+.1f")
        p = f"{change['p_value']:.4f}" + (" (exact)" if change["exact"] else "")
        moved = (change[name] for name in ("improved", "harmed", "unchanged"))
        changes.append([*names, change["queries"], difference, ends, p, *moved])
        if pair == (Arm.DOCUMENTS, Arm.FUSED_SCENARIOS):
            brief = (
                f"answers score {change['mean_before']:.1f} from documents alone, "
                f"{change['mean_after']:.1f} with scenarios (95% interval of the difference "
                f"{ends}) on {change['queries']:,} questions"
            )
    tables = {
        "scenarios_qa_arms": table(headings(_ARMS), arms),
        "scenarios_qa_differences": table(headings(_DIFFERENCES), changes),
        "scenarios_qa_answers": table(headings(_ANSWERS), answers, total=len(rows)),
    }
    return Section({}, tables, brief)


def _interval(figures: Mapping[str, Any], form: str) -> str:
    if figures["low"] is None:
        return f"none: {figures['no_interval']}"
    return f"{figures['low']:{form}} to {figures['high']:{form}}"
