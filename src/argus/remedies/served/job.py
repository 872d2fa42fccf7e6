"""`remedy receipt`: a retriever is asked before a repair, and again after it.

What is repaired may be anything: an index of Argus, records in a store, an analyser, a reranker.
Nothing is taken on trust: the same queries are asked of what is served, both times.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NotRequired

import pyarrow as pa
from typing_extensions import TypedDict

from argus.corpora import Corpus
from argus.data.artifacts import ArtifactFolder
from argus.data.fields import FieldNames
from argus.data.locks import one_writer
from argus.data.parquet import read_table
from argus.data.provenance import content_hash, utc_now
from argus.data.records import read_record
from argus.data.types import Qrels, Query, Run
from argus.encoders import Encoder, EncoderConfig
from argus.errors import ArgusError, InputError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.job import evaluate
from argus.indexes.retriever import IndexRetriever
from argus.indexes.spec import index_folder
from argus.indexes.views import ViewIndex
from argus.jobs.result import Result
from argus.jobs.workspace import NO_ENCODER, Record
from argus.measures.significance import DifferenceFigures
from argus.remedies.repair.receipt import check_judged
from argus.remedies.served.config import ServedReceiptConfig
from argus.remedies.served.moves import (
    NEIGHBOURS,
    SCHEMA,
    count_moves,
    fallen,
    receipt_rows,
)
from argus.remedies.served.questions import ReceiptQuestions, receipt_questions
from argus.remedies.served.summary import PROBES, ServedReceiptSummary, ServedState, headline
from argus.reports import write_report
from argus.retrievers.asking import all_opened, note_retrievers, require_known
from argus.retrievers.blended.retriever import BlendedRetriever
from argus.retrievers.config import AskingConfig
from argus.retrievers.protocol import note_of
from argus.stores.spec import asks_store, blended_store, conditions

JOB = "served"
TABLE = "receipt_served"
BEFORE, AFTER = "before", "after"
NOTED = ("retrievers", "asking")
"""What `note_retrievers` adds to a record's config."""


@dataclass(frozen=True, repr=False)
class ServedReceipt(Result):
    """What a repair changed in what is served; everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: ServedReceiptSummary

    @property
    def table(self) -> pa.Table:
        """One row per query and relevant document; of no row until it was asked again."""
        path = self.folder / f"{TABLE}.parquet"
        return read_table(path) if path.is_file() else SCHEMA.empty_table()

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary, "the same command with --after in place of --before")


class _Asked(TypedDict):
    """What is kept of one of the two times.

    questions: their identity. answers: a hash of the run, which no other run has. config,
    fingerprint: what the manifest notes of who was asked, and how.
    """

    questions: str
    answers: NotRequired[str]
    config: NotRequired[dict[str, object]]
    fingerprint: NotRequired[str]
    state: ServedState
    failed: dict[str, str]
    run: Run


@one_writer
def served_receipt(
    corpus: Corpus,
    *,
    before: Any = None,
    after: Any = None,
    ranked_by: IndexRetriever | Path | str | None = None,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: Path | str | Qrels | None = None,
    out: Path | str,
    config: ServedReceiptConfig | None = None,
    asking: AskingConfig | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    fields: FieldNames | None = None,
    fresh: bool = False,
) -> ServedReceipt:
    """Ask a retriever before a repair and after it; write what was gained, and who gave way.

    before, after: what is asked, named or at hand as everywhere (see `argus.retrievers.names`);
    `before` alone keeps its answers in `out`, and a later call with `after` alone goes on from
    them. What was asked before is not asked again, whatever is named, unless `fresh`; `after` is
    asked anew each time, but for a call that was stopped, which goes on. ranked_by: a repaired
    index that ranks the results of `after`, of `before` where there is none, as
    `argus.BlendedRetriever` serves it. queries, qrels: judged
    questions; without any, titles and sentences of the documents ask for them. encoder: of the
    queries of stores. Raises InputError for bad input, for `after` without `before`, and where the
    questions are others than before; ArgusError where all queries failed.
    """
    config, asking = config or ServedReceiptConfig(), asking or AskingConfig()
    _check(before, after)
    _check_index(ranked_by)
    check_judged(queries, qrels)
    questions = receipt_questions(corpus, queries, qrels, config, fields or FieldNames())
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(JOB, asdict(config), {"corpus": questions.origin, **questions.files})
    record.encoder["fingerprint"] = NO_ENCODER
    record.open(folder)
    ask = _Asking(questions, config.k, asking, encoder, folder, record)
    earlier = ask.earlier(BEFORE)
    if earlier is None:
        if before is None:
            raise _no_before(folder.path)
        earlier = ask.now(BEFORE, before)
    if after is None and ranked_by is None:
        return _keep(folder, record, _begun(questions, config.k, earlier))
    then = after if after is not None else before
    with _served(then, ranked_by, encoder, asking) as served:
        later = ask.now(AFTER, served)
    return _keep(folder, record, _compared(questions, config.k, earlier, later, folder))


def _check(before: Any, after: Any) -> None:
    if before is None and after is None:
        raise InputError(
            "nothing to ask", expected="--before, or --after, or both",
            fix="Name what is served now with --before; after the repair, with --after.",
            where="--before",
        )  # fmt: skip


def _check_index(ranked_by: IndexRetriever | Path | str | None) -> None:
    """Raise InputError for what is no index, before anything is asked."""
    if isinstance(ranked_by, str | Path):
        ViewIndex.open(index_folder(str(ranked_by)))


@contextmanager
def _served(
    retriever: Any,
    ranked_by: IndexRetriever | Path | str | None,
    encoder: Encoder | EncoderConfig | str | None,
    asking: AskingConfig,
) -> Iterator[Any]:
    """Yield what is asked after the repair: a retriever, or an index that ranks its results."""
    if ranked_by is None:
        yield retriever
        return
    own: dict[str, Any] = {"id_field": asking.id_field}
    if isinstance(retriever, str | Path) and asks_store(str(retriever)):
        # its records, with the index's BM25
        where = conditions(asking.where) or None
        own |= {"encoder": encoder, "opening": asking.opening, "where": where}
        retriever = blended_store(str(retriever)) or retriever
    with BlendedRetriever(retriever, ranked_by, **own) as blended:
        yield blended


def _no_before(folder: Path) -> InputError:
    return InputError(
        "--after without what was served before",
        expected="the answers of --before in the folder, or both options",
        fix="Run it with --before first, then repair; or name the folder of that run with --out.",
        where=folder,
    )


@dataclass(frozen=True)
class _Asking:
    """Asks the questions of a receipt, and keeps what is answered."""

    questions: ReceiptQuestions
    k: int
    asking: AskingConfig
    encoder: Encoder | EncoderConfig | str | None
    folder: ArtifactFolder
    record: Record

    def earlier(self, when: str) -> _Asked | None:
        """Return what was asked earlier. Raises InputError where that was something else."""
        path = self.folder / f"{when}.json"
        if not path.is_file():
            return None
        answers = read_record(_Asked, self.folder.read_json(path.name), where=path)
        if answers["questions"] != self.questions.identity(self.k):
            raise InputError(
                f"other questions, documents or settings than {when} the repair",
                expected="the same queries, judgements, corpus, --k, --sentences, --sample and "
                "--seed",
                fix="Give what was given then, or begin anew in another --out.",
                where=path,
            )
        fault = self.questions.fault(answers["run"], answers["failed"], answers["state"]["unknown"])
        if fault is None and answers.get("answers") not in (None, _hash(answers["run"])):
            fault = "the run is not the one that was written"
        if fault is not None:
            raise InputError(
                fault,
                expected=f"the answers as they came {when} the repair",
                fix="Put the file back, or begin anew in another --out.",
                where=path,
            )
        self.record.config |= answers.get("config", {})
        self.record.encoder["fingerprint"] = answers.get("fingerprint", NO_ENCODER)
        self._drop_kept(when)  # of a call that was killed in between
        return answers

    def now(self, when: str, retriever: Any) -> _Asked:
        """Ask; what comes is kept until all is there: a call that was killed goes on.

        A repair that Argus serves is called by its own name, not that of its class.
        """
        answers_in = self._kept(when)
        documents = self.questions.documents
        opened = all_opened([retriever], documents, self.asking, answers_in, self.encoder)
        with self.record.timed(f"asking {when}"), opened as (source,):
            note_retrievers([retriever], [source], self.asking, self.folder, self.record)
            answers = source.ask(self.questions.queries, self.k)
        if not answers.run:
            first = next(iter(answers.failed.values()))
            raise ArgusError(
                f"{source.name} failed all {len(answers.failed):,} queries. The first: {first}"
            )
        ids = {document.id for document in documents}
        require_known(answers.run, ids, source.name)
        name = retriever.name if isinstance(retriever, BlendedRetriever) else source.name
        state: ServedState = {
            **note_of(name, answers),
            "at": utc_now(),
            "queries": len(self.questions.queries),
            "unknown": sum(id_ not in ids for one in answers.run.values() for id_ in one),
        }
        run = self.questions.folded(answers.run)
        answers_now: _Asked = {
            "questions": self.questions.identity(self.k),
            "answers": _hash(run),
            "config": {name: self.record.config[name] for name in NOTED},
            "fingerprint": self.record.encoder["fingerprint"],
            "state": state,
            "failed": dict(answers.failed),
            "run": run,
        }
        self.folder.write_json(f"{when}.json", answers_now)
        self._drop_kept(when)
        return answers_now

    def _kept(self, when: str) -> Path:
        """Return the file of single answers, until all are there."""
        return self.folder.path / f"{when}.sqlite"

    def _drop_kept(self, when: str) -> None:
        for suffix in ("", "-wal", "-shm"):
            file = self._kept(when)
            file.with_name(file.name + suffix).unlink(missing_ok=True)


def _hash(run: Run) -> str:
    return content_hash(json.dumps(run)).hex()


def _begun(questions: ReceiptQuestions, k: int, earlier: _Asked) -> ServedReceiptSummary:
    summary: ServedReceiptSummary = {
        "k": k, "asked_by": questions.asked_by, "before": earlier["state"],
    }  # fmt: skip
    if questions.sample is not None:
        summary["sample"] = questions.sample
    return summary


def _compared(
    questions: ReceiptQuestions, k: int, earlier: _Asked, later: _Asked, folder: ArtifactFolder
) -> ServedReceiptSummary:
    """Return what the two times say, and write the rows."""
    runs, failed = (earlier["run"], later["run"]), (earlier["failed"], later["failed"])
    both = [q for q in questions.queries if all(q.id in run for run in runs)]
    if not both:
        raise ArgusError("no query was answered both before and after: there is nothing to compare")
    difference = _difference(both, questions, runs, k, folder)  # which makes a report on its own
    rows = receipt_rows(questions.queries, questions.qrels, runs, failed, k)
    folder.write_table(TABLE, pa.Table.from_pylist(rows, schema=SCHEMA), csv=True)
    moves, found_before, found_after = count_moves(rows)
    gave_way = fallen(both, questions.qrels, *runs, k)
    return {
        **_begun(questions, k, earlier),
        "after": later["state"],
        "compared": len(both),
        "found_before": found_before,
        "found_after": found_after,
        "difference": difference,
        "moves": moves,
        "neighbours_fallen": len(gave_way),
        "places_lost": sum(one["lists"] for one in gave_way),
        "neighbours": gave_way[:NEIGHBOURS],
    }


def _difference(
    both: Sequence[Query],
    questions: ReceiptQuestions,
    runs: tuple[Run, Run],
    k: int,
    folder: ArtifactFolder,
) -> DifferenceFigures:
    """Measure both, paired, over the queries that both answered.

    Titles and sentences have a folder of their own: they are no judged questions.
    """
    out = folder.path / PROBES if questions.asked_by == PROBES else folder.path
    measures = EvaluateConfig(measures=(f"nDCG@{k}", f"R@{k}"), headline=f"nDCG@{k}", depth=k)
    own: list[Run] = [{query.id: run[query.id] for query in both} for run in runs]
    judgements = {query.id: questions.qrels[query.id] for query in both}
    judged = evaluate(both, judgements, runs=own, out=out, config=measures).summary
    assert judged["comparison"] is not None  # of two runs
    return judged["comparison"][judged["headline"]]


def _keep(folder: ArtifactFolder, record: Record, summary: ServedReceiptSummary) -> ServedReceipt:
    folder.write_results(JOB, summary, record.manifest(summary["before"]))
    return ServedReceipt(folder.path, write_report(folder.path), summary)
