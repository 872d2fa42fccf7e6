"""Compare the top k of two systems on the same queries: documents lost, gained and moved.

`compare_lists`: the answers of two -> their overlap, a row per document with its verdict, and what
one side alone brings. `write_comparison`: tables, a page for a pull request, and a section of the
report. No judgements are needed. `argus.tuning.doors` asks the two, and says why they differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.runs import RUN_FILE, first_rank, ranking
from argus.data.tables import read_table
from argus.data.types import Qrels, Query, Run
from argus.data.writing import write_whole
from argus.errors import ArgusError, InputError
from argus.evaluation.systems import System
from argus.jobs.result import TableResult
from argus.jobs.workspace import Record
from argus.measures.significance import bootstrap_interval
from argus.measures.slices import Slicing, Trials, rank_slices, slice_lines, slice_shares
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, naming, slices_table, table
from argus.retrievers.protocol import kept_note

GAINED, LOST, MOVED, SAME = "gained", "lost", "moved", "same"
ONLY_BEFORE, ONLY_AFTER = "only before", "only after"
VERDICTS = (LOST, GAINED, ONLY_BEFORE, ONLY_AFTER, MOVED, SAME)
OWN = "own words of "  # begins the id of a query for a document by its own title or sentence
DEPTH = 100  # how far down a document is looked for under its own words
MAX_NAMED = 200  # gained and lost documents in the summary; the table holds all
IN_PAGE = 40  # rows of each kind in comparison.md, which stays below 200 lines
PAGE, SLICES = "comparison.md", "comparison_slices"

_TEXT, _COUNT, _VALUE = pa.string(), pa.int64(), pa.float64()
# One row per document. before, after: state on either side, in words. value_before, value_after:
# rank under its own words.
SCHEMA = pa.schema(
    dict.fromkeys(("kind", "id", "label", "verdict", "before", "after"), _TEXT)
    | dict.fromkeys(("value_before", "value_after", "change"), _VALUE)
)
# One row per query: documents that enter and leave its top k, as titles, and their number.
QUERY_SCHEMA = pa.schema(
    dict.fromkeys(("query_id", "text", "entered", "left"), _TEXT) | {"changed": _COUNT}
)
# One row per query and document that one side alone brings into the top k. only: that side, before
# or after. rank: on that side, from 1. grade: judged grade, null without.
ONLY_SCHEMA = pa.schema(
    dict.fromkeys(("query_id", "text", "doc_id", "label", "only"), _TEXT)
    | dict.fromkeys(("rank", "grade"), _COUNT)
)


@dataclass(frozen=True, repr=False)
class CompareResult(TableResult):
    """Result of comparing two retrievers, indexes, runs or logs on the same questions.

    All is in `folder`, too; comparison.md is for a pull request.

    summary:
        of: kind of the two sides: retrievers or runs.
        names, fingerprints: name and encoder of each side, before and after.
        notes: warnings for the reader.
        kept: answers of an earlier run.
        verdicts: number of documents, by verdict.
        gained, lost: the first 200 rows that were gained, or lost.
        k: length of the lists that are compared.
        queries: number of own words and given queries, and of those that failed.
        overlap: documents that both bring, as a share of the longer top k: the mean of all queries,
            its 95% interval, and how many queries bring the same ones, and the same one first.
        changed_queries: queries with another top k.
        only_before, only_after: results of given queries that one side alone brings back.
        judged: relevant documents within k, by side.
        slices: share of the first one's results that the second brings, by slice of the documents.
        why: what makes one answer as the other, see `argus.tuning.doors.find_why`.

    table: one row per document, see `argus.evaluation.comparison.SCHEMA`.
    """

    def headline(self) -> Iterator[str]:
        """Yield how many were gained and lost, and the first of them by name."""
        summary = self.summary
        yield from summary["notes"]
        if summary["kept"]:
            yield kept_note(summary["kept"], 2 * sum(summary["queries"].values()))
        yield "A: {}, B: {}".format(*summary["names"])
        yield overlap_words(summary)
        for kind, verdicts in summary["verdicts"].items():
            yield f"{kind}: {', '.join(f'{n:,} {verdict}' for verdict, n in verdicts.items() if n)}"
        if "only_before" in summary:
            yield (
                f"top {summary['k']} of {summary['queries']['given']:,} queries: "
                f"{summary['only_before']:,} results by A alone, {summary['only_after']:,} by B"
            )
        if judged := summary.get("judged"):
            yield (
                f"{judged['relevant']:,} relevant documents of {judged['queries']:,} queries: "
                f"{judged['both']:,} by both, {judged['only_before']:,} by A alone, "
                f"{judged['only_after']:,} by B alone, {judged['neither']:,} by neither"
            )
        for row in (*summary["lost"][:5], *summary["gained"][:5]):
            name = row["label"] or row["id"]
            yield f"  {row['verdict']} {row['kind']} {name}: {row['before']} -> {row['after']}"
        if slices := summary.get("slices"):
            yield from slice_lines(slices)
        yield from summary["why"]["words"] if "why" in summary else ()
        yield f"for a pull request: {self.folder / PAGE}"


def overlaps(runs: Sequence[Run], queries: Sequence[str], k: int) -> npt.NDArray[np.float64]:
    """Return the share of documents that both top k have, of the longer one, per query, (n,)."""
    shares = []
    for query in queries:
        first, second = (set(ranking(run.get(query, {}))[:k]) for run in runs)
        most = max(len(first), len(second))
        shares.append(len(first & second) / most if most else 1.0)
    return np.array(shares)


def overlap_words(summary: Mapping[str, Any]) -> str:
    """Return how far the two lists agree, in one line."""
    of = summary["overlap"]
    interval = "" if of["low"] is None else f" ({of['low']:.1%} to {of['high']:.1%})"
    return (
        f"of the top {summary['k']}, {of['mean']:.1%}{interval} are the same documents; of "
        f"{of['queries']:,} queries {of['alike']:,} bring the same ones, {of['first']:,} the same "
        "one first"
    )


def compare_lists(
    systems: Sequence[System],
    queries: Sequence[Query],
    titles: Mapping[str, str],
    k: int,
    qrels: Qrels | None,
    slicings: Sequence[Slicing] = (),
    rows_of: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Compare the top k of the queries that both answer. Return arguments of `write_comparison`.

    A document is gained if its own words bring it into the top k after and not before. Where they
    were not asked, it is gained if it is in some list after and in none before. slicings: of
    documents, whose place is in rows_of.
    """
    both = [query for query in systems[0].run if query in systems[1].run]
    failures = {id_: why for system in reversed(systems) for id_, why in system.failed.items()}
    if not both and failures:
        raise ArgusError(
            f"No query is answered by both. The first failure: {next(iter(failures.values()))}"
        )
    if not both:
        raise InputError(
            "the runs have no query in common",
            expected="two runs of the same queries",
            fix="Check that they belong together.",
            where=" and ".join(system.name for system in systems),
        )
    texts = {query.id: query.text for query in queries}
    runs = [{id_: system.run[id_] for id_ in both} for system in systems]
    lists = [Counter(doc for scores in run.values() for doc in ranking(scores)[:k]) for run in runs]
    by_words = {id_.removeprefix(OWN): id_ for id_ in both if id_.startswith(OWN)}
    held = [system.documents for system in systems]
    every = {*lists[0], *lists[1]}.union(*(ids for ids in held if ids is not None and by_words))
    rows = []
    for doc in sorted(every):
        words, came = (
            [f"in {of[doc]:,} list{'s' * (of[doc] != 1)}" for of in lists],
            [doc in of for of in lists],
        )
        ranks: Sequence[int | None] = (None, None)
        if doc in by_words:
            ranks = [first_rank(run.get(by_words[doc], {}), (doc,)) for run in runs]
            came = [rank is not None and rank <= k for rank in ranks]
        verdict = SAME if came[0] == came[1] else GAINED if came[1] else LOST
        if verdict == SAME and all(came) and ranks[0] != ranks[1]:
            verdict = MOVED
        is_held = [ids is None or doc in ids for ids in held]
        if not all(is_held):
            verdict = ONLY_BEFORE if is_held[0] else ONLY_AFTER
        change = None if ranks[0] is None or ranks[1] is None else ranks[1] - ranks[0]
        cells = ("document", doc, titles.get(doc, ""), verdict, *words, *ranks, change)
        rows.append(dict(zip(SCHEMA.names, cells, strict=True)))
    changes, only = _list_changes(runs, [(id_, texts.get(id_, id_)) for id_ in both], titles, k,
                                  qrels or {})  # fmt: skip
    given = len(both) - len(by_words)
    asked = [query for query in both if not query.startswith(OWN)] or both
    shares = overlaps(runs, asked, k)
    low, high, _ = bootstrap_interval(shares - 1, seed=0)
    firsts = [[next(iter(ranking(run[query])), None) for query in asked] for run in runs]
    summary: dict[str, Any] = {
        "of": "runs" if all(s.fingerprint == RUN_FILE for s in systems) else "retrievers",
        "names": [system.name for system in systems],
        "fingerprints": [system.fingerprint for system in systems],
        "notes": _notes(systems, {*both, *failures}),
        "kept": sum(system.kept for system in systems),
        "k": k,
        "queries": {"own": len(by_words), "given": given, "failed": len(failures)},
        "overlap": {
            "mean": float(shares.mean()),
            "low": None if low is None else low + 1,
            "high": None if high is None else high + 1,
            "queries": len(asked),
            "alike": int((shares == 1).sum()),
            "first": sum(a == b for a, b in zip(*firsts, strict=True)),
        },
        "changed_queries": sum(row["changed"] > 0 for row in changes),
    }
    if given:
        for side in ("before", "after"):
            summary[f"only_{side}"] = sum(row["only"] == side for row in only)
    if qrels is not None:
        sides, n_judged = Counter[tuple[bool, bool]](), 0
        for query in both:
            before, after = (set(ranking(run[query])[:k]) for run in runs)
            wanted = [doc for doc, grade in qrels.get(query, {}).items() if grade > 0]
            sides.update((doc in before, doc in after) for doc in wanted)
            n_judged += bool(wanted)
        summary["judged"] = {
            "queries": n_judged,
            "relevant": sides.total(),
            "both": sides[True, True],
            "only_before": sides[True, False],
            "only_after": sides[False, True],
            "neither": sides[False, False],
        }
    tables = {
        **({} if not slicings else _slices(runs, k, slicings, rows_of or {}, summary)),
        "comparison_queries": pa.Table.from_pylist(changes, schema=QUERY_SCHEMA),
        "comparison_only": pa.Table.from_pylist(only, schema=ONLY_SCHEMA),
    }
    return {"summary": summary, "rows": rows, "tables": tables}


def _slices(
    runs: Sequence[Run], k: int, slicings: Sequence[Slicing], rows: Mapping[str, int],
    summary: dict[str, Any],
) -> dict[str, pa.Table]:  # fmt: skip
    """Add to the summary how much of the first one's top k the second brings, by slice."""
    pairs = [
        (rows[doc], doc in ranking(runs[1][query])[:k])
        for query, scores in runs[0].items() for doc in ranking(scores)[:k] if doc in rows
    ]  # fmt: skip
    trials = Trials(
        "brought by both", np.array([row for row, _ in pairs], np.int64),
        np.array([both for _, both in pairs], np.float64),
    )  # fmt: skip
    fields = [one.figures for one in slicings]
    summary["slices"], sliced = rank_slices(fields, slice_shares(slicings, [trials]))
    return {SLICES: sliced}


def _list_changes(
    runs: Sequence[Run],
    queries: Sequence[tuple[str, str]],
    titles: Mapping[str, str],
    k: int,
    qrels: Qrels,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the changes of every query's top k, and the results within k of one side alone.

    The first are rows of QUERY_SCHEMA, the most changed query first. The others are rows of
    ONLY_SCHEMA, of given queries, relevant ones first. queries: ids and texts.
    """
    changes: list[dict[str, Any]] = []
    only: list[dict[str, Any]] = []
    for query, text in queries:
        before, after = (ranking(run.get(query, {})) for run in runs)
        entered = [doc for doc in after[:k] if doc not in before[:k]]
        left = [doc for doc in before[:k] if doc not in after[:k]]
        about, grades = {"query_id": query, "text": text}, qrels.get(query, {})
        names = ("; ".join(titles.get(doc) or doc for doc in docs) for docs in (entered, left))
        moves = dict(zip(("entered", "left"), names, strict=True))
        changes.append(about | moves | {"changed": len(entered) + len(left)})
        if query.startswith(OWN):
            continue
        for side, ids, ranked in (("before", left, before), ("after", entered, after)):
            only += [
                about
                | {"doc_id": id_, "label": titles.get(id_, ""), "only": side}
                | {"rank": ranked.index(id_) + 1, "grade": grades.get(id_)}
                for id_ in ids
            ]
    changes.sort(key=lambda row: (-row["changed"], row["query_id"]))
    only.sort(key=lambda row: (-(row["grade"] or 0), row["query_id"], row["rank"]))
    return changes, only


def _notes(systems: Sequence[System], known: set[str]) -> list[str]:
    """Return warnings: of the systems, and of queries left out."""
    notes = list(dict.fromkeys(s.warning for s in systems if s.warning))
    for system in systems:
        if system.failed:
            first = next(iter(system.failed.values()))
            notes.append(
                f"{system.name} failed {len(system.failed):,} queries: left out; the first: {first}"
            )
    of_one = sum(len(system.run.keys() - known) for system in systems)
    if of_one:
        notes.append(f"{of_one:,} queries are in one of the runs only: left out")
    return notes


def write_comparison(
    folder: ArtifactFolder,
    record: Record,
    about: Sequence[Path],
    summary: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    tables: Mapping[str, pa.Table],
) -> CompareResult:
    """Write tables, summary, manifest and report of two sides, before and after.

    about: folders of the two sides.
    """

    def order(row: Mapping[str, Any]) -> tuple[int, float, str]:
        """Sort losses first, then the greatest change first, then by id."""
        return VERDICTS.index(row["verdict"]), -abs(row["change"] or 0), row["id"]

    listed = sorted(rows, key=order)
    compared = pa.Table.from_pylist(listed, schema=SCHEMA)
    counts = Counter(row["verdict"] for row in listed)
    verdicts = {"document": {verdict: counts[verdict] for verdict in VERDICTS}} if listed else {}
    written = {"comparison": compared, **tables}
    summary = {**summary, "verdicts": verdicts}
    for verdict in (GAINED, LOST):
        summary[verdict] = [row for row in listed if row["verdict"] == verdict][:MAX_NAMED]
    record.encoder["fingerprint"] = " | ".join(dict.fromkeys(summary["fingerprints"]))
    record.open(folder, about=about)
    for name, content in written.items():
        folder.write_table(name, content, csv=True)
    write_whole(folder.own(PAGE), "\n".join(_page(summary, listed, tables)) + "\n")
    folder.write_results("comparison", summary, record.manifest(verdicts))
    return CompareResult(folder.path, write_report(folder.path), summary, compared)


def _page(
    summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], tables: Mapping[str, pa.Table]
) -> Iterator[str]:
    """Yield the lines of comparison.md."""
    yield f"# {summary['names'][0]} and {summary['names'][1]}"
    yield from ("", overlap_words(summary), *summary.get("why", {}).get("words", ()))
    for verdict in (LOST, GAINED, MOVED):
        own = [row for row in rows if row["verdict"] == verdict]
        cells = [[naming(row["label"], row["id"]), *(row[c] for c in ("before", "after"))]
                 if row["value_before"] is None and row["value_after"] is None else
                 [naming(row["label"], row["id"]), *(row[f"value_{c}"] or f"beyond {DEPTH}"
                                                     for c in ("before", "after"))]
                 for row in own]  # fmt: skip
        yield from _markdown(f"{verdict}: {len(own):,}", ("document", "before", "after"), cells)
    only = tables["comparison_only"].to_pylist()
    judged = [[row["text"], naming(row["label"], row["doc_id"]), row["only"]]
              for row in only if (row["grade"] or 0) > 0]  # fmt: skip
    if "judged" in summary:
        heading = f"judged questions that it touches: {len(judged):,} relevant documents"
        yield from _markdown(heading, ("question", "relevant document", "brought only"), judged)


def _markdown(
    heading: str, names: Sequence[str], rows: Sequence[Sequence[object]]
) -> Iterator[str]:
    """Yield a table of the first rows, and how many there are."""
    yield from ("", f"## {heading[0].upper()}{heading[1:]}")
    if not rows:
        return
    yield from ("", f"| {' | '.join(names)} |", f"|{'---|' * len(names)}")
    for row in rows[:IN_PAGE]:
        cells = (" ".join(str(cell).replace("|", "\\|").split())[:120] for cell in row)
        yield f"| {' | '.join(cells)} |"
    if len(rows) > IN_PAGE:
        yield f"\n{len(rows) - IN_PAGE:,} more are in the Parquet files beside this page."


def section(folder: Path, comparison: Mapping[str, Any]) -> Section:
    """Build the report's section from the summary and the tables in the folder."""
    verdicts = comparison["verdicts"]
    columns = dict.fromkeys(("document", "verdict", "by A", "by B"), "text")
    rows = read_table(folder / "comparison.parquet").to_pylist()
    by_words = any(row["value_before"] is not None for row in rows)
    if by_words:
        columns |= dict.fromkeys(("rank by its words, A", "rank, B"), "count")
    changes = [row for row in rows if row["verdict"] != SAME]
    shown = []
    for row in changes[:MAX_ROWS]:
        words = [row["verdict"], row["before"] or "", row["after"] or ""]
        ranks = [row["value_before"], row["value_after"]] if by_words else []
        shown.append([naming(row["label"], row["id"]), *words, *ranks])
    tables = {"comparison": table(columns, shown, total=len(changes))}
    queries = read_table(folder / "comparison_queries.parquet").to_pylist()
    moved = [list(row.values())[1:] for row in queries if row["changed"]]
    texts = ("question", "by B alone", "by A alone")
    columns = dict.fromkeys(texts, "text") | {"changes": "count"}
    tables["comparison_queries"] = table(columns, moved)
    if "judged" in comparison:
        only = read_table(folder / "comparison_only.parquet").to_pylist()
        wanted = (r for r in only if (r["grade"] or 0) > 0)
        relevant = [[r["text"], naming(r["label"], r["doc_id"]), r["only"], r["rank"]]
                    for r in wanted]  # fmt: skip
        columns = dict.fromkeys(("question", "relevant document", "only"), "text")
        columns |= {"rank": "count"}
        tables["comparison_only"] = table(columns, relevant)
    if "slices" in comparison:
        tables[SLICES] = slices_table(folder, SLICES)
    parts = [f"{v['gained']:,} documents gained, {v['lost']:,} lost" for v in verdicts.values()]
    return Section({}, tables, "; ".join([overlap_words(comparison), *parts]))
