"""Two runs over one corpus, of any retrievers: which documents enter and leave the top k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from argus.data.runs import RUN_FILE, ranking, read_run
from argus.data.types import Document, Query, Run
from argus.errors import InputError
from argus.evaluation.compare.indexes import ListComparison, query_rows
from argus.evaluation.compare.rows import GAINED, LOST, SAME, count_verdicts, row_order
from argus.evaluation.compare.summary import ComparisonRow
from argus.evaluation.parents import ParentFold
from argus.evaluation.systems import System


def compare_runs(
    files: tuple[Path, Path],
    queries: Sequence[Query],
    corpus: Sequence[Document],
    *,
    k: int,
    parents: ParentFold | None = None,
) -> ListComparison:
    """Compare the top k of the queries that both runs answer.

    A document is gained when it is in some list after and in none before, lost the other way
    round. queries, corpus: texts and titles to show; empty where they are not at hand. parents:
    folds the corpus's chunks to documents. Raises InputError when the runs have no query in common.
    """
    systems, alone = _shared(files)
    if parents is not None:
        systems = [parents.system(system) for system in systems]
        corpus = parents.documents(corpus)
    titles = {d.id: d.title for d in corpus if d.title.strip()}
    texts = {query.id: query.text for query in queries}
    shared = [Query(query, texts.get(query, query)) for query in systems[0].run]
    rows = _documents([system.run for system in systems], titles, k)
    changes = query_rows(systems, shared, titles, k)
    return ListComparison(
        rows,
        changes,
        {
            "k": k,
            "queries": {"titles": 0, "entities": 0, "given": len(shared), "failed": 0},
            "without_title": 0,
            "changed_queries": sum(row["changed"] > 0 for row in changes),
            "verdicts": count_verdicts(rows),
        },
        [f"{alone:,} queries are in one of the runs only: left out"] if alone else [],
    )


def _shared(files: tuple[Path, Path]) -> tuple[list[System], int]:
    """Return both runs, of the queries that both answer, and how many queries one alone has."""
    runs = [read_run(path) for path in files]
    both = [query for query in runs[0] if query in runs[1]]
    if not both:
        raise InputError(
            "the runs have no query in common",
            expected="two runs of the same queries",
            fix="Check that they belong together.",
            where=" and ".join(map(str, files)),
        )
    systems = [
        System(str(path), {query: run[query] for query in both}, RUN_FILE)
        for path, run in zip(files, runs, strict=True)
    ]
    return systems, sum(len(run) - len(both) for run in runs)


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
