"""`scenarios qa`: answers from documents, and from documents with scenarios (SPIKE §4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from argus.data.documents import find_file
from argus.data.folders import ArtifactFolder
from argus.data.types import Qrels, Query
from argus.data.writing import one_writer
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig
from argus.engine import Engine, EngineConfig
from argus.errors import ArgusError
from argus.indexes.header import parse_index_spec
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder
from argus.llm import Ledger, LocalConfig
from argus.reports import write_report
from argus.scenarios.qa.cases import Retrieved, cases, retrieve
from argus.scenarios.qa.compare import Judged, answer_cases, judge_answers
from argus.scenarios.qa.config import QAConfig
from argus.scenarios.qa.sources import Inputs, read_inputs
from argus.scenarios.qa.stages import Stages, reformulate
from argus.scenarios.qa.summary import QASummary, headline
from argus.scenarios.qa.tables import summarise, table_of

JOB = "scenarios_qa"
LEDGER = "answers.sqlite"


@dataclass(frozen=True, repr=False)
class QAResult(Result):
    """Result of the comparison. Everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: QASummary
    table: pa.Table
    """One row per question and arm."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def compare_answers(
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
    fresh: bool = False,
    engine: EngineConfig | Engine | None = None,
) -> QAResult:
    """Answer every question from documents, documents with scenarios, and gold. Judge the answers.

    index: `PATH[@STATE]` with scenarios. answers: reference answers. None takes them from the
    queries. qrels: for the oracle arms and the rankings' own measure. reasoned: reformulated
    queries to search with. The question stays as it is. All that models say is kept in
    `out/answers.sqlite` as it comes: the same command goes on where an earlier one was stopped,
    and pays for nothing twice (not even after `fresh`). engine: where models answer that
    transformers runs. Endpoints are asked from this process anyway. Raises InputError before
    anything is written, LanguageModelError when an endpoint cannot be used, and ArgusError when no
    answer of any arm got a score.
    """
    inputs = read_inputs(
        index, queries, config=config, answers=answers, qrels=qrels, reasoned=reasoned,
        encoder=encoder, device=device, coerce_ids=coerce_ids,
    )  # fmt: skip
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = _record(config, inputs, queries, answers, qrels, reasoned)
    about = [parse_index_spec(index).path]
    check_folder(folder, record, about=about)
    local = any(isinstance(model, LocalConfig) for model in (config.model, config.judging))
    with ExitStack() as stack:
        running = stack.enter_context(open_engine(engine if local else None))
        record.runs_on(running)
        record.open(folder, about=about)
        ledger = stack.enter_context(Ledger(folder / LEDGER))
        stages = Stages(config.model, config.judging, ledger, running)
        with record.timed("retrieving"):
            retrieved = search(inputs, config, stages, folder / "embeddings")
        judged = _judged(inputs, retrieved, config, stages, record)
        if not any(j.score is not None for j in judged):
            raise ArgusError(_nothing_measured(judged, stages))
        summary = summarise(judged, retrieved, inputs, config, stages)
    return _write(folder, record, summary, table_of(judged, retrieved, inputs.gold))


def search(inputs: Inputs, config: QAConfig, stages: Stages, store: Path) -> Retrieved:
    """Search with each question, or with its reformulation. store: folder for the vectors."""
    texts = {q.id: q.text for q in inputs.questions.sample}
    failed: dict[str, str] = {}
    if inputs.reasoned is not None:
        texts = {id_: inputs.reasoned[id_] for id_ in texts}
    elif config.reason:
        texts, failed = reformulate(inputs.questions.sample, stages.reasoning())
    encoder = inputs.retriever.encoder
    with EmbeddingStore(store, fingerprint=encoder.fingerprint, dim=encoder.dim) as opened:
        return retrieve(texts, failed, inputs.retriever, inputs.snapshot, opened, k=config.k)


def _judged(
    inputs: Inputs, retrieved: Retrieved, config: QAConfig, stages: Stages, record: Record
) -> list[Judged]:
    all_cases = list(
        cases(
            inputs.questions.sample, retrieved, inputs.gold, inputs.snapshot,
            k=config.k, max_chars=config.max_chars,
        )
    )  # fmt: skip
    with record.timed("answering"):
        answered = answer_cases(all_cases, stages.answering())
    with record.timed("judging"):
        return judge_answers(answered, stages.judging(), config.votes)


def _write(folder: ArtifactFolder, record: Record, summary: QASummary, table: pa.Table) -> QAResult:
    folder.write_table(JOB, table, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["questions"]))
    return QAResult(folder.path, write_report(folder.path), summary, table)


def _nothing_measured(judged: Sequence[Judged], stages: Stages) -> str:
    first = next((j.reason for j in judged if j.reason), "no reason is known").rstrip(". ")
    again = " Run the same command again: it asks only the rest." if stages.missing else ""
    return f"Nothing can be measured: no answer got a score. The first reason: {first}.{again}"


def _record(
    config: QAConfig,
    inputs: Inputs,
    queries: object,
    answers: object,
    qrels: object,
    reasoned: object,
) -> Record:
    named = {"queries": queries, "answers": answers, "qrels": qrels, "reasoned": reasoned}
    files = {k: Path(v) for k, v in named.items() if isinstance(v, (str, Path))}
    if "queries" in files and files["queries"].is_dir():
        files["queries"] = find_file(files["queries"], ["queries"]) or files["queries"]
    settings = config.described() | {"index": inputs.name, "weight": inputs.retriever.weight}
    fingerprint = inputs.retriever.encoder.fingerprint
    return Record(JOB, settings, dict(files), {"fingerprint": fingerprint})
