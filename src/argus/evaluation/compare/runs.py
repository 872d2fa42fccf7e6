"""What two retrievers, or two runs, bring back of the same queries, and what one alone does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from argus.data.runs import ranking
from argus.data.types import Document, Qrels, Query, Run
from argus.errors import ArgusError, InputError
from argus.evaluation.compare.indexes import ListComparison, query_rows
from argus.evaluation.compare.rows import (
    GAINED,
    LOST,
    SAME,
    RelevantPair,
    count_verdicts,
    row_order,
)
from argus.evaluation.compare.summary import ComparisonRow, JudgedSides, OnlyRow
from argus.evaluation.systems import System
from argus.measures import top_k_changes
from argus.retrievers.protocol import kept_note


def compare_lists(
    systems: tuple[System, System],
    queries: Sequence[Query],
    corpus: Sequence[Document],
    *,
    k: int,
    qrels: Qrels | None = None,
) -> ListComparison:
    """Compare the top k of the queries that both answer.

    A document is gained when it is in some list after and in none before, lost the other way
    round. queries, corpus: texts and titles to show; empty where they are not at hand. qrels: what
    of it is relevant. Raises InputError when both have no query in common, ArgusError when each
    query failed on one side.
    """
    both = _shared(systems)
    titles = {d.id: d.title for d in corpus if d.title.strip()}
    texts = {query.id: query.text for query in queries}
    shared = [Query(id_, texts.get(id_, id_)) for id_ in both]
    runs = [{id_: system.run[id_] for id_ in both} for system in systems]
    rows, changes = _documents(runs, titles, k), query_rows(systems, shared, titles, k)
    only = _only_one(runs, shared, titles, k, qrels or {})
    failed = {id_ for system in systems for id_ in system.failed}
    comparison = ListComparison(
        rows,
        changes,
        {
            "k": k,
            "queries": {"titles": 0, "entities": 0, "given": len(shared), "failed": len(failed)},
            "without_title": 0,
            "changed_queries": sum(row["changed"] > 0 for row in changes),
            "only_before": sum(row["only"] == "before" for row in only),
            "only_after": sum(row["only"] == "after" for row in only),
            "verdicts": count_verdicts(rows),
        },
        _notes(systems, both, failed),
        only,
    )
    if qrels is None:
        return comparison
    pairs = _relevant(runs, qrels, k)
    comparison.figures["judged"] = _judged(pairs)
    return replace(comparison, pairs=[pair for own in pairs for pair in own])


def _shared(systems: tuple[System, System]) -> list[str]:
    """Return the queries that both answer."""
    both = [query for query in systems[0].run if query in systems[1].run]
    if both:
        return both
    failures = [reason for system in systems for reason in system.failed.values()]
    if failures:
        raise ArgusError(f"No query is answered by both. The first failure: {failures[0]}")
    raise InputError(
        "the runs have no query in common",
        expected="two runs of the same queries",
        fix="Check that they belong together.",
        where=" and ".join(system.name for system in systems),
    )


def _notes(systems: Sequence[System], both: Sequence[str], failed: set[str]) -> list[str]:
    """Return what is doubtful: queries that are left out, and answers of an earlier run."""
    notes = list(dict.fromkeys(s.warning for s in systems if s.warning))
    for system in systems:
        if system.failed:
            first = next(iter(system.failed.values()))
            notes.append(
                f"{system.name} failed {len(system.failed):,} queries: left out; the first: {first}"
            )
        if system.kept:
            notes.append(f"{system.name}: {kept_note(system.kept, len(system.run))}")
    alone = sum(len(system.run.keys() - set(both) - failed) for system in systems)
    return [*notes, f"{alone:,} queries are in one of the runs only: left out"] if alone else notes


def _documents(runs: Sequence[Run], titles: Mapping[str, str], k: int) -> list[ComparisonRow]:
    lists = [Counter(d for scores in run.values() for d in ranking(scores)[:k]) for run in runs]
    rows: list[ComparisonRow] = []
    for doc in sorted(lists[0] | lists[1]):
        before, after = lists[0][doc], lists[1][doc]
        verdict = SAME if before and after else GAINED if after else LOST
        rows.append(
            {
                "kind": "document", "id": doc, "label": titles.get(doc, ""), "verdict": verdict,
                "before": f"in {before:,} lists", "after": f"in {after:,} lists",
                "value_before": None, "value_after": None, "rps_change": None, "rank_change": None,
            }
        )  # fmt: skip
    return sorted(rows, key=row_order)


def _only_one(
    runs: Sequence[Run],
    queries: Sequence[Query],
    titles: Mapping[str, str],
    k: int,
    qrels: Qrels,
) -> list[OnlyRow]:
    """Return what one of two brings back within k and the other does not, relevant ones first."""
    rows: list[OnlyRow] = []
    for query in queries:
        lists = [ranking(run[query.id]) for run in runs]
        entered, left = top_k_changes(lists[0], lists[1], k=k)
        grades = qrels.get(query.id, {})
        for side, ids, ranked in (("before", left, lists[0]), ("after", entered, lists[1])):
            rows += [
                {
                    "query_id": query.id, "text": query.text, "doc_id": id_,
                    "label": titles.get(id_, ""), "only": side,
                    "rank": ranked.index(id_) + 1, "grade": grades.get(id_),
                }
                for id_ in ids
            ]  # fmt: skip
    return sorted(rows, key=lambda row: (-(row["grade"] or 0), row["query_id"], row["rank"]))


def _relevant(runs: Sequence[Run], qrels: Qrels, k: int) -> list[list[RelevantPair]]:
    """Return the relevant documents of each judged query that both answer."""
    pairs: list[list[RelevantPair]] = []
    for query in (query for query in runs[0] if query in qrels):
        before, after = (set(ranking(run[query])[:k]) for run in runs)
        relevant = [doc for doc, grade in qrels[query].items() if grade > 0]
        pairs.append([RelevantPair(doc, doc in before, doc in after) for doc in relevant])
    return pairs


def _judged(pairs: Sequence[Sequence[RelevantPair]]) -> JudgedSides:
    """Count relevant documents by who brings them back."""
    sides = Counter((pair.before, pair.after) for own in pairs for pair in own)
    return {
        "queries": sum(map(bool, pairs)),
        "relevant": sides.total(),
        "both": sides[True, True],
        "only_before": sides[True, False],
        "only_after": sides[False, True],
        "neither": sides[False, False],
    }
