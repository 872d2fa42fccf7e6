"""Traffic: read a log, fill in what it lacks, and tell what people ask and nobody meets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any, cast

import pyarrow as pa

from argus.authority.jobs.config import AuthoritySource
from argus.authority.jobs.inputs import OpenedAuthority, open_authority
from argus.corpora import Corpus
from argus.data.artifacts import ArtifactFolder
from argus.data.fields import FieldNames
from argus.data.locks import one_writer
from argus.data.types import Document
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig, Rows
from argus.errors import InputError
from argus.jobs.result import Result
from argus.jobs.workspace import NO_ENCODER, Record, read_documents
from argus.reports import write_report
from argus.retrievers.asking import Answerer
from argus.retrievers.config import AskingConfig
from argus.retrievers.protocol import RetrieverNote
from argus.retrievers.results import Known
from argus.traffic.config import LogConfig, TrafficConfig
from argus.traffic.exchange import Exchange, Passage
from argus.traffic.findings import Findings
from argus.traffic.log.book import DEEPEST, FILE, LogBook
from argus.traffic.log.joining import join_signals, settle_marks
from argus.traffic.questions.answers import ask_missing, keep_answers
from argus.traffic.questions.near import find_alike
from argus.traffic.questions.risk import measure_risk
from argus.traffic.questions.sample import LookedAt, draw, read_lists
from argus.traffic.questions.support import measure_support
from argus.traffic.reading import TrafficReader, read_traffic
from argus.traffic.summary import LogFigures, TrafficSummary, headline


@dataclass(frozen=True, repr=False)
class TrafficResult(Result):
    """What a log tells; everything in it is also in `folder`."""

    TABLES = ("documents", "unmet")
    folder: Path
    report: Path
    summary: TrafficSummary
    documents: pa.Table
    """One row per document that came back, and of a corpus per other document."""
    unmet: pa.Table
    """One row per cluster of unmet questions."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def audit_traffic(
    log: Path | str,
    *,
    out: Path | str,
    config: TrafficConfig | None = None,
    reading: LogConfig | None = None,
    corpus: Corpus | None = None,
    fields: FieldNames | None = None,
    limit: int | None = None,
    retriever: Any = None,
    asking: AskingConfig | None = None,
    encoder: Encoder[Rows] | EncoderConfig | str = DEFAULT_MODEL,
    fresh: bool = False,
) -> TrafficResult:
    """Read what people really ask, and tell what came of it; no judgements are needed.

    log: see `read_traffic`. What came is taken from the log where it says so, else `retriever` is
    asked (any, see `argus.exposure`); without one nothing is asked. encoder: of a store that is
    asked. corpus: tells which documents serve nobody, which words it holds, texts from ids, and
    which questions are likeliest to fail (`rank_by_risk`). Texts are redacted before anything is
    written. Raises InputError for what is no log, and for a named field that no record has,
    NothingMeasured where it has no question.
    """
    config, reading = config or TrafficConfig(), reading or LogConfig()
    if reading.hash_only and retriever is not None:
        raise InputError(
            "a retriever beside --hash-only",
            expected="one of the two: a retriever is asked with texts, and none is kept",
            fix="Leave one out; lists of the log itself are told with hashes, too.",
            where="--retriever",
        )
    _check_apart(Path(log), Path(out))
    reader = read_traffic(log, reading)
    documents, path = _documents(corpus, fields, limit)
    opened = _authority(config)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    settings = {**asdict(config), "log": {**asdict(reading), "redact": len(reading.redact)}}
    record = Record("traffic", {**settings, "limit": limit}, {"corpus": path, "log": reader.log})
    record.encoder["fingerprint"] = NO_ENCODER
    TrafficReader.of(reader.log, reading).preview()  # refuses a log before anything is written
    record.open(folder)
    source = Answerer(retriever, None, asking, cast(Encoder, encoder))
    book = LogBook(
        folder.own(FILE), reading.by, not reading.hash_only, deepest=max(DEEPEST, config.k)
    )
    with book:
        with record.timed("reading"):
            unknown = _take_down(reader, book, documents)
        questions = draw(book, config.sample, config.seed)
        alike = find_alike(questions, config.near)
        read_lists(book, questions, config.k)
        note = _answers(book, questions, source, documents, config, folder, record)
        with record.timed("measuring"):
            measure_support(questions, documents)
            risk = measure_risk(questions, documents)
            findings = Findings(book, config, questions, alike, documents, opened, unknown, risk)
            summary, tables = findings.measure(_log_figures(reader, book), note)
        findings.write(folder, tables)
    counts = {"records": summary["log"]["records"], "asks": summary["log"]["asks"]}
    folder.write_results("traffic", summary, record.manifest(counts))
    report = write_report(folder.path)
    return TrafficResult(folder.path, report, summary, tables["documents"], tables["unmet"])


def _check_apart(log: Path, out: Path) -> None:
    if out.resolve() == log.resolve():
        raise InputError(
            "it is the log" if log.is_file() else "it is the folder of the log",
            expected="another place: what is written would be read as a log the next time",
            fix="Give another --out.",
            where=out,
        )


def _documents(
    corpus: Corpus | None, fields: FieldNames | None, limit: int | None
) -> tuple[list[Document], Any]:
    if corpus is None:
        return [], None
    return read_documents(corpus, fields or FieldNames(), limit, None)


def _authority(config: TrafficConfig) -> OpenedAuthority | None:
    if config.records is None:
        return None
    return open_authority(
        AuthoritySource(records=config.records, rules=config.rules, edges=config.edges)
    )


def _take_down(reader: TrafficReader, book: LogBook, documents: Sequence[Document]) -> int:
    """Take the log down; return how many signals name no question in it."""
    known = Known.of(documents)
    for one in reader:
        if isinstance(one, Exchange):
            key = reader.key(one.query)
            if one.results and known.by_text and any(not passage.id for passage in one.results):
                one = _with_ids(one, known)
            book.add(one, key)
        else:
            book.add(one)
    book.flush()
    book.do("CREATE INDEX by_question ON asks (question)")
    settle_marks(book, reader.tally)
    return join_signals(book, reader.tally)


def _with_ids(one: Exchange, known: Known) -> Exchange:
    """Return an exchange whose passages without an id have that of the document of their text."""
    from dataclasses import replace

    results = tuple(
        passage
        if passage.id
        else Passage(known.by_text.get(passage.text.strip(), ""), passage.score, passage.text)
        for passage in one.results or ()
    )
    return replace(one, results=results)


def _answers(
    book: LogBook,
    questions: list[LookedAt],
    source: Answerer,
    documents: Sequence[Document],
    config: TrafficConfig,
    folder: ArtifactFolder,
    record: Record,
) -> RetrieverNote | None:
    note, sent, answers = ask_missing(questions, source, documents, config.k, folder, record)
    if answers is not None:
        keep_answers(book, questions, sent, answers)
    return note


def _log_figures(reader: TrafficReader, book: LogBook) -> LogFigures:
    tally = reader.tally
    first, last, timeless, future = book.one(
        "SELECT MIN(at), MAX(at), SUM(at IS NULL), COALESCE(SUM(at > ?), 0) FROM asks",
        time() + 86_400,
    )
    return {
        "files": dict(tally.files),
        "fields": {role: dict(names.most_common()) for role, names in tally.fields.items()},
        "records": tally.records,
        "asks": book.asks,
        "skipped": dict(tally.skipped.most_common()),
        "remarks": dict(tally.remarks.most_common()),
        "redacted": reader.redacted,
        "hash_only": reader.config.hash_only,
        "first": _iso(first),
        "last": _iso(last),
        "without_time": timeless,
        "backwards": book.backwards,
        "future": future,
    }


def _iso(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
