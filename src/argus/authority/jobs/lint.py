"""Lint a run: does it serve what has been superseded? (CAR Theorem 4, docs/methods.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from argus.authority.cycles import describe
from argus.authority.jobs.config import AuthoritySource, LintBounds
from argus.authority.jobs.headline import lint_headline
from argus.authority.jobs.inputs import OpenedAuthority, open_authority, undecided_pairs
from argus.authority.jobs.summary import (
    Bounds,
    LintedQueries,
    LintSummary,
    Rate,
    RateName,
    Verdict,
    Violation,
)
from argus.authority.lint import LintedQuery, Removed, lint_queries
from argus.authority.relation import Authority
from argus.data.documents import ID_FIELDS, read_queries
from argus.data.folders import ArtifactFolder
from argus.data.reading import record_of
from argus.data.rows import id_value, pick_field, read_rows
from argus.data.runs import RUN_FILE, read_run
from argus.data.types import Run, State
from argus.data.writing import one_writer
from argus.errors import InputError
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.measures import wilson
from argus.reports import write_report
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import Answerer, answers_of
from argus.retrievers.protocol import RetrieverNote, note_of
from argus.settings import TOP_K

if TYPE_CHECKING:
    from argus.encoders import Encoder, EncoderConfig

SHOWN = 20
"""Violations that the summary names; the table holds all."""


BOUNDED: tuple[RateName, ...] = ("violations", "stale_hits", "false_retirements")
"""Rates that have a bound."""


EXIT_CODES: Mapping[Verdict, int] = {"pass": 0, "fail": 1, "not measured": 2}


@dataclass(frozen=True, repr=False)
class LintResult(Result):
    """What a lint tells; with a folder, everything is also there."""

    summary: LintSummary
    queries: list[LintedQuery]
    report: Path | None

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return lint_headline(self.summary)

    @property
    def exit_code(self) -> int:
        """0: kept to the bounds. 1: did not. 2: no query could be measured."""
        return EXIT_CODES[self.summary["verdict"]]


@one_writer
def lint(
    run: Run | Path | str | None,
    source: AuthoritySource,
    *,
    k: int = TOP_K,
    queries: Path | None = None,
    before: Run | Path | str | None = None,
    bounds: LintBounds | None = None,
    out: Path | str | None = None,
    fresh: bool = False,
    retriever: Any = None,
    asking: AskingConfig | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
) -> LintResult:
    """Check the top k of every query of a run against an authority relation.

    queries: rows of `_id` and `anchor` (the documents a query is about): only their chains must be
    complete; of a query that is not among them, those of all that was retrieved. before: the run
    before superseded documents were taken out of it, to find false retirements and what was taken
    out with nothing in its place. out: folder for
    table and report. retriever: what is asked the texts of `queries` in place of a run, which is
    then None; encoder: of the queries of a store; asking: how. A query that fails is no measured
    one, and a bound that it could break is not measured. Raises InputError for what cannot be read,
    and for results of which no document has a record.
    """
    bounds = bounds or LintBounds()
    folder = ArtifactFolder(Path(out), fresh=fresh) if out is not None else None
    opened = open_authority(source)
    authority = opened.authority
    record = _record(opened, k, bounds, run)
    note: RetrieverNote | None = None
    if retriever is None and run is not None:
        served = _run(run)
    else:
        answering = Answerer(retriever, None, asking, encoder)
        served, note = _served(answering, run, queries, authority, k, folder, record)
    former = _run(before) if before is not None else None
    anchors = _anchors(queries, authority, needed=note is None)
    _require_shared("--before", former, served)
    _require_shared("--queries", anchors, served)
    linted = lint_queries(served, authority, k=k, anchors=anchors, before=former)
    _require_known(linted, authority)
    failed = note["failed"] if note is not None else 0
    counts = _queries(linted, anchors, served, failed)
    summary = _summary(linted, counts, opened, k, bounds)
    if note is not None:
        summary["retriever"] = note
    report = _keep(folder, record, linted, opened, summary) if folder is not None else None
    return LintResult(summary, linted, report)


def _served(
    source: Answerer,
    run: Run | Path | str | None,
    queries: Path | None,
    authority: Authority,
    k: int,
    folder: ArtifactFolder | None,
    record: Record,
) -> tuple[Run, RetrieverNote]:
    """Return what a retriever serves; InputError where it is not clear who is asked what."""
    if not source.is_named or run is not None or queries is None:
        got = "a run and a retriever" if source.is_named and run is not None else "no run"
        raise InputError(
            "a retriever without queries" if source.is_named and run is None else got,
            expected="a run, or --retriever with --queries",
            fix="Name one of the two; queries have texts to ask.",
            where="--queries" if source.is_named and run is None else "--retriever",
        )
    documents = [r.document for r in authority.records.values()]
    questions = read_queries(queries)
    name, answers = answers_of(
        source, questions, k, documents=documents, folder=folder, record=record
    )
    return answers.run, note_of(name, answers)


def _anchors(
    queries: Path | None, authority: Authority, *, needed: bool
) -> dict[str, list[str]] | None:
    """Return what queries are about. needed: else a file of queries need not say it."""
    if queries is None:
        return None
    if not needed:
        first = next(iter(read_rows(queries)), None) if queries.is_file() else None
        if first is None or not {"anchor", "anchors"} & first.values.keys():
            return None
    return read_anchors(queries, authority)


def _record(
    opened: OpenedAuthority, k: int, bounds: LintBounds, run: Run | Path | str | None
) -> Record:
    source = opened.source
    return Record(
        "lint",
        {
            "k": k, **record_of(Bounds, bounds),
            "as_of": source.as_of, "known_by": source.known_by, "theta": source.theta,
        },
        opened.inputs | {"run": Path(run) if isinstance(run, (str, Path)) else None},
        {"fingerprint": RUN_FILE},
    )  # fmt: skip


def _keep(
    folder: ArtifactFolder,
    record: Record,
    linted: Sequence[LintedQuery],
    opened: OpenedAuthority,
    summary: LintSummary,
) -> Path:
    """Write table, summary, manifest and report; return the report."""
    record.open(folder)
    folder.write_table("lint", lint_table(linted), csv=True)
    folder.write_table("undecided", undecided_table(opened), csv=True)
    folder.write_results("lint", summary, record.manifest(summary["queries"]))
    return write_report(folder.path)


def read_anchors(path: Path, authority: Authority) -> dict[str, list[str]]:
    """Read the documents that queries are about (`_id`, `anchor`: an id or a list of them)."""
    anchors = {}
    for row in read_rows(path):
        query = id_value(row, pick_field(row, (*ID_FIELDS, "query_id", "qid"), what="id"))
        value = row.values[pick_field(row, ("anchor", "anchors"), what="anchor")]
        ids = value if isinstance(value, list) else [value]
        for id_ in ids or [None]:
            if not isinstance(id_, str) or id_ not in authority:
                raise InputError(
                    f"anchor {id_!r}",
                    expected="the id of a record, or a list of them",
                    fix="Check that queries and records are of one corpus.",
                    where=row.at("anchor"),
                )
        anchors[query] = list(ids)
    return anchors


def _run(run: Run | Path | str) -> Run:
    return read_run(Path(run)) if isinstance(run, (str, Path)) else run


def _require_shared(option: str, queries: Mapping[str, object] | None, run: Run) -> None:
    """Raise InputError where a run and what is said of its queries have no query in common."""
    if queries is None or not run or queries.keys() & run.keys():
        return
    raise InputError(
        f"none of its {len(queries):,} queries is in the run; its first is {next(iter(queries))!r}",
        expected=f"query ids of the run, such as {next(iter(run))!r}",
        fix="Check that both are of the same queries.",
        where=option,
    )


def _require_known(linted: Sequence[LintedQuery], authority: Authority) -> None:
    first = next((q.retrieved[0] for q in linted if q.retrieved), None)
    if first is None or any(q.state is State.MEASURED for q in linted):
        return
    raise InputError(
        f"no document of the run has a record; the first is {first!r}",
        expected=f"ids of records, such as {next(iter(authority.records), '')!r}",
        fix="Check that run and records are of one corpus.",
    )


def _queries(
    linted: Sequence[LintedQuery], anchors: Mapping[str, object] | None, run: Run, failed: int
) -> LintedQueries:
    """Count the queries. failed: those that a retriever failed on, which are not among `linted`."""
    states = Counter(query.state for query in linted)
    counts: LintedQueries = {
        "total": len(linted) + failed,
        "measured": states[State.MEASURED],
        "failed": failed,
        "not applicable": states[State.NOT_APPLICABLE],
    }
    if anchors is not None:
        counts["without_anchor"] = sum(q.query_id not in anchors for q in linted)
        counts["not_in_the_run"] = len(anchors.keys() - run.keys())
    return counts


def _summary(
    linted: Sequence[LintedQuery],
    queries: LintedQueries,
    opened: OpenedAuthority,
    k: int,
    bounds: LintBounds,
) -> LintSummary:
    measured = [q for q in linted if q.state is State.MEASURED]
    rates = {name: _rate(measured, value) for name, value in RATES.items()}
    return {
        "k": k,
        "queries": queries,
        "documents": {
            "retrieved": sum(len(q.retrieved) for q in measured),
            "superseded": sum(len(q.conditions.superseded) for q in measured),
            "without_record": sum(len(q.unknown) for q in measured),
            "not_in_force": sum(len(q.future) for q in measured),
        },
        "rates": rates,
        "bounds": record_of(Bounds, bounds),
        "verdict": _verdict(rates, bounds, opened, queries["failed"]),
        "relation": opened.summary(),
        "violations": [row for q in measured for row in violations(q)][:SHOWN],
        "violations_total": sum(len(violations(q)) for q in measured),
    }


RATES: Mapping[RateName, Callable[[LintedQuery], float | None]] = {
    "violations": lambda q: not q.holds,
    "frontier_missing": lambda q: bool(q.conditions.missing),
    "superseder_ignored": lambda q: bool(q.conditions.ignored),
    "stale_queries": lambda q: bool(q.conditions.superseded),
    "stale_hits": lambda q: q.stale_share,
    "removed_unreplaced": lambda q: bool(q.removed.unreplaced) if q.removed else None,
    "false_retirements": lambda q: bool(q.removed.active) if q.removed else None,
}
"""What is averaged over the measured queries; values lie in 0..1, None does not apply."""


def _rate(
    linted: Sequence[LintedQuery], value: Callable[[LintedQuery], float | None]
) -> Rate | None:
    values = [float(one) for one in map(value, linted) if one is not None]
    if not values:
        return None
    mean = sum(values) / len(values)
    low, high = wilson(mean, len(values))
    return {"share": mean, "low": float(low), "high": float(high), "queries": len(values)}


def _verdict(
    rates: Mapping[RateName, Rate | None],
    bounds: LintBounds,
    opened: OpenedAuthority,
    failed: int,
) -> Verdict:
    if rates["violations"] is None:
        return "not measured"
    certain = True
    for name in BOUNDED:
        bound, rate = getattr(bounds, name), rates[name]
        if bound is None or rate is None:
            continue
        best, worst = _extremes(rate, failed)
        if best > bound:
            return "fail"
        certain = certain and worst <= bound
    measured = bounds.nothing_superseded or opened.retires()
    return "pass" if measured and certain else "not measured"


def _extremes(rate: Rate, failed: int) -> tuple[float, float]:
    """Return a rate had every failed query kept to it, and had every one been against it."""
    if not failed:
        return rate["share"], rate["share"]
    n, against = rate["queries"] + failed, rate["share"] * rate["queries"]
    return against / n, (against + failed) / n


def violations(query: LintedQuery) -> list[Violation]:
    """Return the violations of one query, each with the documents and the chain in words."""
    rows: list[Violation] = [
        {"query_id": query.query_id, "kind": "superseder ignored", "document": ignored.document,
         "instead": ignored.chain[-1].superseder, "chain": describe(list(ignored.chain))}
        for ignored in query.conditions.ignored
    ]  # fmt: skip
    rows += [
        {"query_id": query.query_id, "kind": "frontier element missing", "document": m.anchor,
         "instead": m.document, "chain": describe(list(m.chain))}
        for m in query.conditions.missing
        if not any(i.document == m.anchor for i in query.conditions.ignored)
    ]  # fmt: skip
    rows += [
        {"query_id": query.query_id, "kind": "not yet in force", "document": id_,
         "instead": None, "chain": ""}
        for id_ in query.future
    ]  # fmt: skip
    removed = query.removed or Removed((), ())
    rows += [
        {"query_id": query.query_id, "kind": kind, "document": id_, "instead": None, "chain": ""}
        for kind, ids in (
            ("removed, nothing in its place", removed.unreplaced),
            ("falsely retired", removed.active),
        )
        for id_ in ids
    ]
    return rows


_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("query_id", "kind", "document", "instead", "chain")]
)


def lint_table(linted: Sequence[LintedQuery]) -> pa.Table:
    """Return one row per violation."""
    rows = [row for query in linted for row in violations(query)]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


_PAIRS = pa.schema(
    [
        (name, pa.string())
        for name in ("rule", "superseded", "time", "superseding", "superseding_time")
    ]
)
"""One row per pair of records that a rule cannot order: their times are equal or overlap.

superseded, superseding: id of the record. time, superseding_time: when each took effect."""


def undecided_table(opened: OpenedAuthority) -> pa.Table:
    """Return one row per pair of records that a rule cannot order, those that are listed."""
    rows = [
        {"rule": rule.rule, **pair}
        for rule in opened.coverage
        for pair in undecided_pairs(rule, opened.authority)
    ]
    return pa.Table.from_pylist(rows, schema=_PAIRS)
