"""`argus traffic audit`: read a query log, and report failing questions, feedback and unmet demand.

The steps: read and redact the log (`argus.traffic.reading`), store it (`argus.traffic.book`), ask a
retriever those drawn questions whose results the log lacks, count (`argus.traffic.figures`), and
examine single questions (`argus.traffic.questions`). Out: questions.parquet and other tables, and a
report.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast

import pyarrow as pa

from argus.authority.config import AuthoritySource
from argus.authority.opening import OpenedAuthority, open_authority
from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.types import Document, Query
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder
from argus.errors import InputError
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import NO_ENCODER, Record, read_documents
from argus.measures.intervals import share
from argus.measures.slices import rank_slices
from argus.reports import write_report
from argus.retrievers.config import AskingConfig, NamedRetriever
from argus.retrievers.opening import Answerer, answers_of
from argus.retrievers.protocol import note_of
from argus.retrievers.results import Known
from argus.settings import CORPUS, Option
from argus.traffic import figures, questions
from argus.traffic.book import ANSWERED, FILE, LOGGED, LogBook
from argus.traffic.config import LogConfig, TrafficConfig
from argus.traffic.exchange import Exchange
from argus.traffic.reading import TrafficReader, preview_log, read_traffic
from argus.traffic.section import headline

logger = logging.getLogger(__name__)


@dataclass(frozen=True, repr=False)
class TrafficResult(Result):
    """Findings on a log. All of it is also in `folder`.

    documents: one row per document that came back or is in the corpus. unmet: one row per cluster
    of unmet questions. Keys of the summary:

    k: depth of lists.
    log: records of the log, see `_describe_log`.
    questions: different questions; asks that repeated one; how many were looked_at, drawn at
        random. Case, spaces and closing marks make no difference.
    retriever: retriever that was asked. None without one.
    feedback: see `feedback_figures`. None where the log has none.
    risk: order of the questions by risk, see `measure_risk`. None without a corpus.
    results: asks whose results the log has (logged), that the retriever answered now (answered),
        with unknown results, and the share with an empty result (nothing).
    documents: see `served_documents`. None without known results.
    superseded: see `find_stale`. None without records.
    windows: see `compare_windows`. None without asks in both.
    unmet: see `find_unmet`. None where only hashes are stored.
    slices: shares by slice, where any field was named.
    """

    TABLES = ("documents", "unmet")
    folder: Path
    report: Path
    summary: dict[str, Any]
    documents: pa.Table
    unmet: pa.Table

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def audit_traffic(
    log: Annotated[Path | str, Option(argument="LOG")],
    *,
    out: o.Out = o.OUT,
    config: TrafficConfig | None = None,
    reading: LogConfig | None = None,
    retriever: NamedRetriever = None,
    asking: AskingConfig | None = None,
    corpus: Annotated[Corpus | None, Option(is_name=True), CORPUS] = None,
    encoder: o.Encoder = DEFAULT_MODEL,
    fields: FieldNames | None = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
) -> TrafficResult:
    """Tell what people really ask, what came for it, and what nobody meets; no judgements needed.

    It shows first how it reads three questions of the log, field by field. What came is taken from
    the log, or from --retriever; without one nothing is asked.
    Mails, numbers of telephones, cards and accounts, and tokens are replaced before anything is
    kept. Writes questions.parquet, documents, unmet and over_time (.parquet and .csv), with --by
    traffic_slices, summary.json, manifest.json and report.html.

    Raises InputError for a file that is no log, and for a named field that no record has,
    NothingMeasured for a log without a question.

    Args:
        log: Log, or folder of logs: JSONL, CSV, spans (OpenInference, OpenTelemetry), OpenSearch
            UBI, Ragas, DeepEval.
        corpus: Tells who serves nobody, and what it has for questions that nobody meets.
    """
    config, reading = config or TrafficConfig(), reading or LogConfig()
    log, out = Path(log), Path(out)
    if reading.hash_only and retriever is not None:
        got = "a retriever beside --hash-only"
        expected = "one of the two: a retriever is asked with texts, and none is kept"
        fix = "Leave one out; lists of the log itself are told with hashes, too."
        raise InputError(got, expected=expected, fix=fix, where="--retriever")
    if out.resolve() == log.resolve():
        got = "it is the log" if log.is_file() else "it is the folder of the log"
        expected = "another place: what is written would be read as a log the next time"
        fix = "Give another --out."
        raise InputError(got, expected=expected, fix=fix, where=out)
    for line in preview_log(log, reading):
        logger.info(line)
    reader = read_traffic(log, reading)
    documents: Sequence[Document] = ()
    path = None
    if corpus is not None:
        documents, path = read_documents(corpus, fields or FieldNames(), limit, None)
    opened = None
    if config.records is not None:
        source = AuthoritySource(records=config.records, rules=config.rules, edges=config.edges)
        opened = open_authority(source)
    folder = ArtifactFolder(out, fresh=fresh)
    settings = {**asdict(config), "log": {**asdict(reading), "redact": len(reading.redact)}}
    record = Record("traffic", {**settings, "limit": limit}, {"corpus": path, "log": log})
    record.encoder["fingerprint"] = NO_ENCODER
    record.open(folder)
    answerer = Answerer(retriever, None, asking, cast(Encoder, encoder))
    with LogBook(folder.own(FILE), reading.by, not reading.hash_only, config.k) as book:
        with record.timed("reading"):
            known = Known.of(documents)
            for one in reader:
                key = b""
                if isinstance(one, Exchange):
                    key, results = reader.key(one.query), one.results or ()
                    if not all(passage.id for passage in results):  # a text tells whose it is
                        ids = (p.id or known.by_text.get(p.text.strip(), "") for p in results)
                        named = (replace(p, id=id_) for p, id_ in zip(results, ids, strict=True))
                        one = replace(one, results=tuple(named))
                book.add(one, key)
            unknown = book.join()
        drawn = questions.draw_questions(book, config.sample, config.k)
        unasked = [one for one in drawn if one.text and one.results is None]
        note = None
        if unasked and answerer.is_named:
            with record.timed("asking"):
                queries = [Query(one.name, one.text or "") for one in unasked]
                name, answers = answers_of(
                    answerer, queries, config.k, documents=documents, folder=folder, record=record
                )
            note = note_of(name, answers)
            questions.put_answers(book, unasked, answers)
        with record.timed("measuring"):
            risk = questions.measure_risk(drawn, documents)
            titles = {document.id: document.title for document in documents}
            measured, tables = _measure(book, config, drawn, titles, opened)
            (different,) = book.one("SELECT COUNT(*) FROM questions")
            summary = {
                "k": config.k,
                "log": _describe_log(reader, book),
                "questions": {
                    "different": different,
                    "repeated": book.asks - different,
                    "looked_at": len(drawn),
                },
                "retriever": note,
                "feedback": figures.feedback_figures(book, unknown),
                "risk": risk,
                **measured,
            }
        for name, table in tables.items():
            folder.write_table(name, table, csv=True)
        questions.write_questions(folder, book, drawn)
    totals = {name: summary["log"][name] for name in ("records", "asks")}
    folder.write_results("traffic", summary, record.manifest(totals))
    report = write_report(folder.path)
    return TrafficResult(folder.path, report, summary, tables["documents"], tables["unmet"])


def _measure(
    book: LogBook,
    config: TrafficConfig,
    drawn: Sequence[questions.LookedAt],
    titles: Mapping[str, str],
    opened: OpenedAuthority | None,
) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Return the figures over the whole book, and the tables by name. titles: of a corpus."""
    is_corpus, k = bool(titles), config.k
    labels = titles or dict(book.rows("SELECT id, text FROM labels"))
    stale, counts = figures.find_stale(book, opened, k) if opened else (None, Counter[str]())
    outcomes = figures.make_outcomes(book, has_stale=stale is not None)
    served, documents = figures.served_documents(book, k, labels, is_corpus, counts)
    unmet, demand = questions.find_unmet(drawn, labels)
    logged, answered, unknown, nothing = book.one(
        f"SELECT SUM(source = {LOGGED}), SUM(source = {ANSWERED}), SUM(list IS NULL), "
        "SUM(n = 0) FROM asks LEFT JOIN lists ON lists.id = list"
    )
    empty = share(nothing or 0, logged + answered)
    known = {"logged": logged, "answered": answered, "unknown": unknown, "nothing": empty}
    windows = figures.compare_windows(
        book, outcomes, config.split, seed=config.seed, resamples=config.resamples
    )
    measured = {
        "results": known,
        "documents": served,
        "superseded": stale,
        "windows": windows,
        "unmet": unmet if book.keeps_text else None,
    }
    tables = {
        "documents": documents,
        "unmet": demand,
        "over_time": figures.over_time(book),
    }
    if book.slices:
        fields, shares = figures.slice_shares(book, outcomes)
        measured["slices"], tables["traffic_slices"] = rank_slices(fields, shares)
    return measured, tables


def _describe_log(reader: TrafficReader, book: LogBook) -> dict[str, Any]:
    """Describe the records of the log. Times are ISO 8601, UTC.

    files: file to its format.
    fields: role (question, results, ...) to its fields, each with its number of records.
    records: records that were read.
    asks: number of asks.
    skipped: records, and damaged pieces, without a question, by reason.
    remarks: doubt about records, to their number.
    redacted: number of replacements in questions, ids and slices, by kind of secret.
    hash_only: whether only hashes of questions were stored.
    first, last: times of the first and last ask. None without times.
    without_time: asks without a time.
    """

    def iso(at: float | None) -> str | None:
        return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")

    tally = reader.tally
    first, last, timeless = book.one("SELECT MIN(at), MAX(at), SUM(at IS NULL) FROM asks")
    return {
        "files": dict(tally.files),
        "fields": {role: dict(names.most_common()) for role, names in tally.fields.items()},
        "records": tally.records,
        "asks": book.asks,
        "skipped": dict(tally.skipped.most_common()),
        "remarks": dict(tally.remarks.most_common()),
        "redacted": reader.redacted,
        "hash_only": reader.config.hash_only,
        "first": iso(first),
        "last": iso(last),
        "without_time": timeless,
    }
