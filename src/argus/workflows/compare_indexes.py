"""Two indexes over one corpus: which documents enter and leave the top k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from argus.data.runs import ranking
from argus.data.types import Document, Query, Run
from argus.errors import InputError
from argus.evaluation import top_k_changes
from argus.workflows.compare_results import (
    GAINED,
    LOST,
    NOT_COMPARABLE,
    ONLY_AFTER,
    ONLY_BEFORE,
    SAME,
    SCHEMA,
    VERDICTS,
    counts,
)
from argus.workflows.systems import DENSE, System, open_index, search_index, with_corpus

DEPTH = 100
"""How far down the rank of a document under its own title is looked for."""
QUERY_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("query_id", "text", "entered", "left")]
    + [("changed", pa.int64())]
)
_TITLE = "title of "


def compare_indexes(
    names: tuple[str, str],
    queries: Sequence[Query],
    *,
    k: int,
    corpus: Sequence[Document] | None = None,
    ranked_by: Sequence[str] = (DENSE, DENSE),
) -> tuple[pa.Table, pa.Table, dict[str, Any], list[str]]:
    """Ask two indexes for every document by its own title, and the given queries.

    Returns the table of documents, the table of queries, the summary and the fingerprints. Titles
    come from `corpus`, or from the indexes. ranked_by: of each index, see
    `argus.workflows.systems.rankings`. Raises InputError when the indexes have no document in
    common, and when there is neither a title nor a query to ask.
    """
    opened = [open_index(name, ranked_by=how) for name, how in zip(names, ranked_by, strict=True)]
    known = [search_index(name, retriever, [], DEPTH) for name, retriever in opened]
    if corpus is not None:
        known = [with_corpus(system, corpus) for system in known]
    before, after = (system.documents or frozenset() for system in known)
    if not before & after:
        raise InputError(
            "the indexes have no document in common",
            expected="two indexes over one corpus",
            fix="Compare indexes that were built from the same documents.",
            where=" and ".join(names),
        )
    titles = {
        d: t for d, t in {**known[1].titles, **known[0].titles}.items() if d in before | after
    }
    asked = [Query(_TITLE + doc, title) for doc, title in sorted(titles.items())] + list(queries)
    if not asked:
        raise InputError(
            "no document has a title, and there are no queries",
            expected="something to ask both indexes",
            fix="Give --corpus, whose titles are asked, or --queries.",
            where=" and ".join(names),
        )
    systems = [search_index(name, retriever, asked, max(k, DEPTH)) for name, retriever in opened]
    rows = _documents(systems, titles, k)
    changes = _queries(systems, asked, titles, k)
    summary = {
        "k": k,
        "queries": {"titles": len(titles), "given": len(queries)},
        "without_title": len(before | after) - len(titles),
        "changed_queries": sum(row["changed"] > 0 for row in changes),
        **counts(rows),
    }
    return (
        pa.Table.from_pylist(rows, schema=SCHEMA),
        pa.Table.from_pylist(changes, schema=QUERY_SCHEMA),
        summary,
        [system.fingerprint for system in systems],
    )


def _documents(systems: Sequence[System], titles: dict[str, str], k: int) -> list[dict[str, Any]]:
    """Call a document gained when its title now brings it into the top k, lost the other way."""
    ranks = [{doc: _rank(s.run, doc) for doc in titles} for s in systems]
    lists = [_lists(system.run, k) for system in systems]
    held = [system.documents or frozenset() for system in systems]
    rows = []
    for doc in sorted(held[0] | held[1]):
        old, new = ranks[0].get(doc), ranks[1].get(doc)
        sides = [
            f"in {lists[i][doc]} lists" if doc in held[i] else "not in the index" for i in (0, 1)
        ]
        rows.append(
            {
                "kind": "document",
                "id": doc,
                "label": titles.get(doc, ""),
                "verdict": _verdict(doc, held, doc in titles, old, new, k),
                "before": sides[0],
                "after": sides[1],
                "value_before": old,
                "value_after": new,
                "change": None if old is None or new is None else new - old,
            }
        )
    order = {name: i for i, name in enumerate(VERDICTS)}
    return sorted(rows, key=lambda r: (order[r["verdict"]], -abs(r["change"] or 0), r["id"]))


def _verdict(
    doc: str,
    held: Sequence[frozenset[str]],
    titled: bool,
    old: int | None,
    new: int | None,
    k: int,
) -> str:
    if doc not in held[0] or doc not in held[1]:
        return ONLY_BEFORE if doc in held[0] else ONLY_AFTER
    if not titled:
        return NOT_COMPARABLE
    inside = [rank is not None and rank <= k for rank in (old, new)]
    return SAME if inside[0] == inside[1] else GAINED if inside[1] else LOST


def _rank(run: Run, doc: str) -> int | None:
    ranked = ranking(run.get(_TITLE + doc, {}))
    return ranked.index(doc) + 1 if doc in ranked else None


def _lists(run: Run, k: int) -> Counter[str]:
    """Count the top-k lists that hold each document."""
    return Counter(doc for scores in run.values() for doc in ranking(scores)[:k])


def _queries(
    systems: Sequence[System], asked: Sequence[Query], titles: dict[str, str], k: int
) -> list[dict[str, Any]]:
    def names(docs: Sequence[str]) -> str:
        return "; ".join(titles.get(doc) or doc for doc in docs)

    rows = []
    for query in asked:
        lists = [ranking(system.run.get(query.id, {})) for system in systems]
        entered, left = top_k_changes(lists[0], lists[1], k=k)
        rows.append(
            {
                "query_id": query.id,
                "text": query.text,
                "entered": names(entered),
                "left": names(left),
                "changed": len(entered) + len(left),
            }
        )
    return sorted(rows, key=lambda row: (-row["changed"], row["query_id"]))
