"""`argus authority lint`: find superseded documents in search results, and missing replacements.

`lint`: a run file or a retriever, with records and rules -> violations by query, rates with
intervals, and an exit code against bounds. `lint_queries` tests the top k of each query against
both conditions of Theorem 4 of the CAR paper (`theory.check_conditions`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa

from argus.authority.config import AuthoritySource, LintBounds
from argus.authority.opening import (
    OpenedAuthority,
    open_authority,
    relation_lines,
    require_records,
    rule_table,
)
from argus.authority.relation import Authority, describe
from argus.authority.theory import Conditions, check_conditions
from argus.data.documents import ID_FIELDS, read_queries
from argus.data.folders import ArtifactFolder
from argus.data.rows import id_value, pick_field, read_rows
from argus.data.runs import RUN_FILE, ranking, read_run
from argus.data.tables import read_table
from argus.data.types import Run, State
from argus.data.writing import one_writer
from argus.errors import InputError
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.measures import wilson
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, table
from argus.retrievers.config import NAMES, PANEL, AskingConfig
from argus.retrievers.opening import Answerer, answers_of
from argus.retrievers.protocol import RetrieverNote, note_lines, note_of
from argus.settings import OUTPUT, TOP_K, Doc, Ge, Option

NAMED, PRINTED = 20, 8  # violations in the summary and on the command line. The table holds all


@dataclass(frozen=True, slots=True)
class LintedQuery:
    """One query's top k.

    Not applicable where nothing was retrieved, or nothing of which there is a record.

    retrieved: the top k, best first.
    unknown: those of them of which there is no record.
    future: those that were not in force at the time of the view (`Authority.as_of`).
    """

    query_id: str
    state: State
    retrieved: tuple[str, ...]
    unknown: tuple[str, ...]
    future: tuple[str, ...]
    conditions: Conditions


# By rate: its label on the page and on the command line, and its value of a query, from 0 to 1. A
# rate is the mean over the measured queries.
RATES: Mapping[str, tuple[str, Callable[[LintedQuery], float]]] = {
    "violations": (
        "queries that violate Theorem 4, or are served what is not in force yet",
        lambda q: not q.conditions.hold or bool(q.future),
    ),
    "frontier_missing": (
        "queries that lack a controlling document", lambda q: bool(q.conditions.missing),
    ),
    "superseder_ignored": (
        "queries with a superseded document and none of its superseders",
        lambda q: bool(q.conditions.ignored),
    ),
    "stale_queries": (
        "queries with a superseded document", lambda q: bool(q.conditions.superseded),
    ),
    "stale_hits": (
        "of the top k superseded (mean over queries)",
        lambda q: len(q.conditions.superseded) / len(q.retrieved),
    ),
}  # fmt: skip


def lint_queries(
    run: Run, authority: Authority, *, k: int, anchors: Mapping[str, Iterable[str]] | None = None
) -> list[LintedQuery]:
    """Check the top k of every query.

    anchors: query -> the documents that it is about, where that is known. Else every retrieved
    document is an anchor.
    """
    linted = []
    for query, scores in run.items():
        top = ranking(scores)[:k]
        known = [id_ for id_ in top if id_ in authority]
        state = State.MEASURED if known else State.NOT_APPLICABLE
        unknown = tuple(id_ for id_ in top if id_ not in authority)
        future = tuple(id_ for id_ in known if not authority.in_force(id_))
        current, about = filter(authority.in_force, known), (anchors or {}).get(query)
        conditions = check_conditions(current, authority, about)
        linted.append(LintedQuery(query, state, tuple(top), unknown, future, conditions))
    return linted


@dataclass(frozen=True, repr=False)
class LintResult(Result):
    """Result of `lint`. The folder, if there is one, holds all of it, too.

    summary.queries: queries of the run by state (total, measured, failed, "not applicable"). With
    anchors also without_anchor: queries of the run that have none.
    summary.documents: documents in the top k of all queries (retrieved), and of these, those that
    are superseded, without_record, and not_in_force yet.
    summary.rates: by the names of `RATES`, each a mean over queries from 0 to 1 (share) with its
    95% Wilson interval (low, high), and queries that it is of. None where not measured.
    summary.bounds: as `LintBounds` has them.
    summary.verdict: pass, fail, or not measured.
    summary.relation: see `OpenedAuthority.summary`.
    summary.violations: the first of them, as `violations` lists them. The table holds all.
    summary.violations_total: violations in all.
    summary.retriever: retriever that served the queries, not of a run.
    """

    summary: dict[str, Any]
    queries: list[LintedQuery]
    report: Path | None

    def headline(self) -> Iterator[str]:
        """Yield the first violations, rates with intervals, and the verdict."""
        summary = self.summary
        counts = summary["queries"]
        yield (
            f"queries: {counts['measured']:,} measured, {counts['not applicable']:,} not applicable"
            f" (nothing retrieved, or nothing with a record); top {summary['k']}"
        )
        if "retriever" in summary:
            yield from note_lines(summary["retriever"], counts["total"])
        if counts.get("without_anchor"):
            yield f"{counts['without_anchor']:,} queries of the run have no anchor in --queries"
        yield from relation_lines(summary["relation"])
        unknown = summary["documents"]["without_record"]
        if unknown:
            yield f"{unknown:,} retrieved documents have no record: taken as not superseded"
        named = summary["violations"][:PRINTED]
        yield from (
            f"  {row['query_id']}: {row['kind']}: {row['chain'] or row['document']}"
            for row in named
        )
        if (more := summary["violations_total"] - len(named)) > 0:
            yield f"  and {more:,} more"
        for name, rate in summary["rates"].items():
            if rate is not None:
                low, high = rate["low"], rate["high"]
                yield f"{rate['share']:.1%} ({low:.1%} to {high:.1%}) {RATES[name][0]}"
        if summary["verdict"] == "not measured" and counts["measured"]:
            yield "nothing is superseded in these records: rules that do not fit, or swapped edges?"
        yield f"verdict: {summary['verdict']}"

    @property
    def exit_code(self) -> int:
        """0: kept to the bounds. 1: did not. 2: no query could be measured."""
        return {"pass": 0, "fail": 1, "not measured": 2}[self.summary["verdict"]]


@one_writer
def lint(
    run: Annotated[Run | Path | str | None, Option(argument="RUN")],
    source: AuthoritySource,
    *,
    k: Annotated[int, Ge(1)] = TOP_K,
    queries: Path | None = None,
    bounds: LintBounds | None = None,
    out: Annotated[Path | str | None, OUTPUT] = None,
    fresh: o.Fresh = False,
    retriever: Annotated[
        Any, Doc(f"What is asked the --queries, in place of a run: {NAMES}."), Option(panel=PANEL)
    ] = None,
    asking: AskingConfig | None = None,
    encoder: o.NamedEncoder = None,
) -> LintResult:
    """Check RUN, or a retriever's answers, for superseded documents and missing controlling ones.

    A superseded document may stand beside one of its superseders (Theorem 4); --max-stale-hits 0
    forbids that, too. Exit code 0 within the bounds, 1 outside, 2 when nothing could be measured.

    queries: rows of `_id` and `anchor` (the documents a query is about): only their chains must be
    complete. Of a query that is not among them, the chains of all retrieved documents must be.
    retriever: answers the texts of `queries` in place of a run.
    encoder: of the queries of a store. A query that fails is not measured, and a bound that it
    could break is not either. Raises InputError for unreadable files, and for results of which no
    document has a record.

    Args:
        run: TREC run file (.gz too) or JSON; or --retriever.
        k: Results per query that are checked.
        queries: Rows of _id and anchor: what each query is about; with --retriever, its text.
        out: Folder for table and report; default: none.
        encoder: For the queries of a store.
    """
    bounds = bounds or LintBounds()
    folder = ArtifactFolder(Path(out), fresh=fresh) if out is not None else None
    opened = open_authority(source)
    authority = opened.authority
    times = {"as_of": source.as_of, "known_by": source.known_by, "theta": source.theta}
    inputs = opened.inputs | {"run": Path(run) if isinstance(run, (str, Path)) else None}
    record = Record("lint", {"k": k, **asdict(bounds), **times}, inputs, {"fingerprint": RUN_FILE})
    answerer = Answerer(retriever, None, asking, encoder)
    note: RetrieverNote | None = None
    anchors = None
    if run is not None and retriever is None:
        served = read_run(Path(run)) if isinstance(run, (str, Path)) else run
        anchors = _read_anchors(queries, authority) if queries is not None else None
    elif run is None and retriever is not None and queries is not None:
        name, answers = answers_of(
            answerer, read_queries(queries), k, folder=folder, record=record,
            documents=[r.document for r in authority.records.values()],
        )  # fmt: skip
        served, note = answers.run, note_of(name, answers)
        if queries.is_file() and "anchor" in next(iter(read_rows(queries))).values:
            anchors = _read_anchors(queries, authority)
    else:
        named = {"a run": run, "a retriever": retriever, "queries": queries}
        got = " and ".join(name for name, value in named.items() if value is not None)
        expected = "a run, or --retriever with --queries"
        raise InputError(got or "no run", expected=expected, fix="Name one of the two.")
    linted = lint_queries(served, authority, k=k, anchors=anchors)
    require_records([id_ for q in linted for id_ in q.retrieved], authority, "RUN")
    summary = _summarise(linted, opened, k, bounds, note["failed"] if note is not None else 0)
    if anchors is not None:
        summary["queries"]["without_anchor"] = sum(q.query_id not in anchors for q in linted)
    if note is not None:
        summary["retriever"] = note
    if folder is None:
        return LintResult(summary, linted, None)
    record.open(folder)
    rows = [row for query in linted for row in violations(query)]
    folder.write_table("lint", pa.Table.from_pylist(rows, schema=_SCHEMA), csv=True)
    folder.write_results("lint", summary, record.manifest(summary["queries"]))
    return LintResult(summary, linted, write_report(folder.path))


def _read_anchors(path: Path, authority: Authority) -> dict[str, list[str]]:
    """Read the documents that queries are about (`_id`, `anchor`: an id or a list of them)."""
    anchors = {}
    for row in read_rows(path):
        query = id_value(row, pick_field(row, (*ID_FIELDS, "query_id", "qid"), what="id"))
        value = row.values[pick_field(row, ["anchor"], what="anchor")]
        ids = value if isinstance(value, list) else [value]
        for id_ in ids or [None]:
            if not isinstance(id_, str) or id_ not in authority:
                got, expected = f"anchor {id_!r}", "the id of a record, or a list of them"
                fix = "Check that queries and records are of one corpus."
                raise InputError(got, expected=expected, fix=fix, where=row.at("anchor"))
        anchors[query] = list(ids)
    return anchors


def _summarise(
    linted: Sequence[LintedQuery], opened: OpenedAuthority, k: int, bounds: LintBounds, failed: int
) -> dict[str, Any]:
    """Return the summary. failed: queries that a retriever failed on, not among `linted`."""
    states = Counter(query.state for query in linted)
    measured = [q for q in linted if q.state is State.MEASURED]
    rates: dict[str, dict[str, Any] | None] = dict.fromkeys(RATES)
    can_pass = bool(measured) and (bounds.nothing_superseded or opened.retires())
    verdict = "pass" if can_pass else "not measured"
    for name, (_, value) in RATES.items() if measured else ():
        n, against = len(measured), sum(float(value(query)) for query in measured)
        low, high = map(float, wilson(against / n, n))
        rates[name] = {"share": against / n, "low": low, "high": high, "queries": n}
        bound = {"violations": bounds.violations, "stale_hits": bounds.stale_hits}.get(name)
        if bound is not None and against / (n + failed) > bound:
            verdict = "fail"  # even if those that failed are well served
        elif verdict == "pass" and bound is not None and (against + failed) / (n + failed) > bound:
            verdict = "not measured"
    found = [row for query in measured for row in violations(query)]
    return {
        "k": k,
        "queries": {
            "total": len(linted) + failed,
            "measured": states[State.MEASURED],
            "failed": failed,
            "not applicable": states[State.NOT_APPLICABLE],
        },
        "documents": {
            "retrieved": sum(len(q.retrieved) for q in measured),
            "superseded": sum(len(q.conditions.superseded) for q in measured),
            "without_record": sum(len(q.unknown) for q in measured),
            "not_in_force": sum(len(q.future) for q in measured),
        },
        "rates": rates,
        "bounds": asdict(bounds),
        "verdict": verdict,
        "relation": opened.summary(),
        "violations": found[:NAMED],
        "violations_total": len(found),
    }


def violations(query: LintedQuery) -> list[dict[str, str | None]]:
    """Return the violations of one query.

    kind: kind of violation, such as "superseder ignored".
    document: id of the document that was served.
    instead: id of the document that should be served. None where there is none.
    chain: supersessions that lead there, in words. Empty without.
    """
    ignored = query.conditions.ignored
    found: list[tuple[str, str, str | None, str]] = [
        ("superseder ignored", id_, chain[-1].superseder, describe(chain))
        for id_, chain in ignored.items()
    ]
    found += [
        ("frontier element missing", anchor, id_, describe(chain))
        for id_, (anchor, chain) in query.conditions.missing.items()
        if anchor not in ignored
    ]
    found += [("not yet in force", id_, None, "") for id_ in query.future]
    names = ("kind", "document", "instead", "chain")
    return [{"query_id": query.query_id, **dict(zip(names, row, strict=True))} for row in found]


_SCHEMA = pa.schema(
    dict.fromkeys(("query_id", "kind", "document", "instead", "chain"), pa.string())
)


def section(folder: Path, lint: Mapping[str, Any]) -> Section:
    """Build the report's section from lint.parquet."""
    rows = read_table(folder / "lint.parquet", _SCHEMA.names).to_pylist()
    columns = dict.fromkeys(("query", "what", "served", "instead", "chain"), "text")
    shown = [[value or "" for value in row.values()] for row in rows[:MAX_ROWS]]
    rates = [
        [RATES[name][0], rate["share"], [rate["low"], rate["high"]], rate["queries"]]
        for name, rate in lint["rates"].items()
        if rate is not None
    ]
    names = {"": "text", "share": "share", "95% interval": "interval", "queries": "count"}
    tables = {
        "lint_rates": table(names, rates),
        "lint_rules": rule_table(lint["relation"]),
        "lint_violations": table(columns, shown, total=len(rows)),
    }
    rate, stale = lint["rates"]["violations"], lint["rates"]["stale_queries"]
    brief = "no query could be measured"
    if rate is not None and stale is not None:
        brief = (
            f"{rate['share']:.1%} of {rate['queries']:,} queries lack what controls their results "
            f"(top {lint['k']}), {stale['share']:.1%} are served something "
            f"superseded: {lint['verdict']}"
        )
    return Section({}, tables, brief)
