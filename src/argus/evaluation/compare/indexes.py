"""Two indexes over one corpus: which documents and entities enter and leave the top k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from argus.data.runs import first_rank, ranking
from argus.data.types import Document, Query, Run
from argus.errors import InputError
from argus.evaluation.compare.results import (
    GAINED,
    LOST,
    NOT_COMPARABLE,
    ONLY_AFTER,
    ONLY_BEFORE,
    SAME,
    SCHEMA,
    counts,
    row_order,
)
from argus.evaluation.systems import System, ask, contents, with_corpus
from argus.indexes.retriever import IndexRetriever
from argus.measures import top_k_changes

DEPTH = 100
"""How far down a document under its own title, or one that names an entity, is looked for."""
QUERY_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("query_id", "text", "entered", "left")]
    + [("changed", pa.int64())]
)
_TITLE = "title of "
_NAME = "name of "
_NONE: frozenset[str] = frozenset()


def compare_indexes(
    opened: Sequence[tuple[str, IndexRetriever]],
    queries: Sequence[Query],
    *,
    k: int,
    corpus: Sequence[Document] | None = None,
    entities: Mapping[str, Collection[str]] | None = None,
) -> tuple[pa.Table, pa.Table, dict[str, Any], list[str]]:
    """Ask two indexes for every document by its own title, every entity by its name, and queries.

    opened: as `argus.evaluation.systems.open_index` returns them. entities: name to the documents
    that name it. Returns the table of documents and entities, the table of queries, the summary,
    and what is doubtful. Titles come from `corpus`, or from the indexes. Raises InputError when the
    indexes have no document in common, and when there is neither a title nor a query to ask.
    """
    known = [contents(name, retriever) for name, retriever in opened]
    if corpus is not None:
        known = [with_corpus(system, corpus) for system in known]
    titles = _titles(known)
    named = entities or {}
    asked = [Query(_TITLE + doc, title) for doc, title in sorted(titles.items())]
    asked += [Query(_NAME + name, name) for name in sorted(named)] + list(queries)
    if not asked:
        raise InputError(
            "no document has a title, and there are no queries",
            expected="something to ask both indexes",
            fix="Give --corpus, whose titles are asked, --diagnosis or --queries.",
            where=" and ".join(name for name, _ in opened),
        )
    answers = [ask(retriever, asked, max(k, DEPTH)) for _, retriever in opened]
    systems = [
        replace(s, run=run, failed=failed) for s, (run, failed) in zip(known, answers, strict=True)
    ]
    failed = {id_: why for system in systems for id_, why in system.failed.items()}
    rows = _documents(systems, titles, k, failed) + _entities(systems, named, k, failed)
    rows.sort(key=row_order)
    changes = query_rows(systems, [q for q in asked if q.id not in failed], titles, k)
    held = known[0].documents, known[1].documents
    summary = {
        "k": k,
        "queries": {
            "titles": len(titles),
            "entities": len(named),
            "given": len(queries),
            "failed": len(failed),
        },
        "without_title": len((held[0] or _NONE) | (held[1] or _NONE)) - len(titles),
        "changed_queries": sum(row["changed"] > 0 for row in changes),
        **counts(rows),
    }
    return (
        pa.Table.from_pylist(rows, schema=SCHEMA),
        pa.Table.from_pylist(changes, schema=QUERY_SCHEMA),
        summary,
        _notes(systems, failed, len(asked)),
    )


def _titles(known: Sequence[System]) -> dict[str, str]:
    """Return doc_id -> title of what either index holds; InputError when they share nothing."""
    before, after = (system.documents or _NONE for system in known)
    if not before & after:
        raise InputError(
            "the indexes have no document in common",
            expected="two indexes over one corpus",
            fix="Compare indexes that were built from the same documents.",
            where=" and ".join(system.name for system in known),
        )
    titles = {**known[1].titles, **known[0].titles}
    return {doc: title for doc, title in titles.items() if doc in before | after}


def _notes(systems: Sequence[System], failed: dict[str, str], asked: int) -> list[str]:
    notes = list(dict.fromkeys(s.warning for s in systems if s.warning))
    if failed:
        first = next(iter(failed.values()))
        notes.append(f"{len(failed):,} of {asked:,} queries could not be asked; the first: {first}")
    return notes


def _documents(
    systems: Sequence[System], titles: dict[str, str], k: int, failed: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Call a document gained when its title now brings it into the top k, lost the other way."""
    asked = {doc for doc in titles if _TITLE + doc not in failed}
    ranks = [
        {doc: first_rank(s.run.get(_TITLE + doc, {}), (doc,)) for doc in asked} for s in systems
    ]
    lists = [_lists(system.run, k) for system in systems]
    held = [system.documents or _NONE for system in systems]
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
                "verdict": _verdict(doc, held, doc in asked, old, new, k),
                "before": sides[0],
                "after": sides[1],
                **_ranks(old, new),
            }
        )
    return rows


def _entities(
    systems: Sequence[System],
    named: Mapping[str, Collection[str]],
    k: int,
    failed: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Call an entity gained when its name now brings a document that names it into the top k."""
    held = [system.documents or _NONE for system in systems]
    rows = []
    for name, documents in sorted(named.items()):
        both = all(not there.isdisjoint(documents) for there in held)
        query = _NAME + name
        known = both and query not in failed
        old, new = (first_rank(s.run.get(query, {}), documents) if known else None for s in systems)
        rows.append(
            {
                "kind": "entity",
                "id": name,
                "label": name,
                "verdict": _change(old, new, k) if known else NOT_COMPARABLE,
                "before": _placed(old) if known else None,
                "after": _placed(new) if known else None,
                **_ranks(old, new),
            }
        )
    return rows


def _placed(rank: int | None) -> str:
    return f"not in the top {DEPTH}" if rank is None else f"rank {rank}"


def _ranks(old: int | None, new: int | None) -> dict[str, Any]:
    change = None if old is None or new is None else new - old
    return {"value_before": old, "value_after": new, "rps_change": None, "rank_change": change}


def _verdict(
    doc: str,
    held: Sequence[frozenset[str]],
    asked: bool,
    old: int | None,
    new: int | None,
    k: int,
) -> str:
    if doc not in held[0] or doc not in held[1]:
        return ONLY_BEFORE if doc in held[0] else ONLY_AFTER
    if not asked:
        return NOT_COMPARABLE
    return _change(old, new, k)


def _change(old: int | None, new: int | None, k: int) -> str:
    inside = [rank is not None and rank <= k for rank in (old, new)]
    return SAME if inside[0] == inside[1] else GAINED if inside[1] else LOST


def _lists(run: Run, k: int) -> Counter[str]:
    """Count the top-k lists that hold each document."""
    return Counter(doc for scores in run.values() for doc in ranking(scores)[:k])


def query_rows(
    systems: Sequence[System], asked: Sequence[Query], titles: dict[str, str], k: int
) -> list[dict[str, Any]]:
    """Return what entered and left the top k of every query, the most changed first."""

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
