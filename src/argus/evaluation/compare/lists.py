"""Two indexes, retrievers or runs: what enters and leaves their lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from argus.data.runs import first_rank, ranking
from argus.data.types import Document, Qrels, Query, Run
from argus.errors import ArgusError, InputError
from argus.evaluation.compare.summary import (
    GAINED,
    LOST,
    NOT_COMPARABLE,
    ONLY_AFTER,
    ONLY_BEFORE,
    SAME,
    ComparisonRow,
    JudgedSides,
    ListFigures,
    OnlyRow,
    QueryRow,
    Ranks,
    RelevantPair,
    count_verdicts,
    row_order,
)
from argus.evaluation.parents import ParentFold, fold_system
from argus.evaluation.systems import System, ask, contents, with_corpus
from argus.indexes.retriever import IndexRetriever
from argus.measures import top_k_changes
from argus.retrievers.protocol import kept_note

DEPTH = 100
"""How far down a document under its own title, or one that names an entity, is looked for."""
_TITLE = "title of "
_NAME = "name of "
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ListComparison:
    """What two indexes, retrievers or runs bring back. notes: what is doubtful about it."""

    rows: list[ComparisonRow]
    queries: list[QueryRow]
    figures: ListFigures
    notes: list[str]
    only: list[OnlyRow] | None = None
    """Of retrievers and runs: what one alone brings back of a query."""
    pairs: Sequence[RelevantPair] = ()
    """Of retrievers and runs with judgements."""


def compare_states(
    indexes: Sequence[tuple[str, IndexRetriever]],
    queries: Sequence[Query],
    *,
    k: int,
    corpus: Sequence[Document] | None = None,
    entities: Mapping[str, Collection[str]] | None = None,
    parents: ParentFold | None = None,
) -> ListComparison:
    """Ask two indexes for every document by its own title, every entity by its name, and queries.

    indexes: as `argus.evaluation.systems.open_index` returns them. entities: name to the documents
    that name it. Titles come from `corpus`, or from the indexes. parents: folds the chunks of the
    corpus, and of the indexes, to documents. Raises InputError when the indexes have no document in
    common, and when there is neither a title nor a query to ask.
    """
    systems = [contents(name, retriever) for name, retriever in indexes]
    entities = entities or {}
    if parents is not None and corpus is not None:
        systems = [fold_system(system, parents) for system in systems]
        corpus = parents.documents(corpus)
        entities = {name: parents.ids(chunks) for name, chunks in entities.items()}
    if corpus is not None:
        systems = [with_corpus(system, corpus) for system in systems]
    titles = _titles(systems)
    questions = _questions(systems, titles, entities, queries)
    systems = [
        _answered(system, retriever, questions, max(k, DEPTH), parents)
        for system, (_, retriever) in zip(systems, indexes, strict=True)
    ]
    failures = {id_: why for system in systems for id_, why in system.failed.items()}
    rows = _documents(systems, titles, k, failures) + _entities(systems, entities, k, failures)
    rows.sort(key=row_order)
    changes = query_rows(systems, [q for q in questions if q.id not in failures], titles, k)
    before, after = _documents_of(systems)
    return ListComparison(
        rows,
        changes,
        {
            "k": k,
            "queries": {
                "titles": len(titles),
                "entities": len(entities),
                "given": len(queries),
                "failed": len(failures),
            },
            "without_title": len(before | after) - len(titles),
            "changed_queries": sum(row["changed"] > 0 for row in changes),
            "verdicts": count_verdicts(rows),
        },
        _notes(systems, failures, len(questions)),
    )


def _questions(
    systems: Sequence[System],
    titles: Mapping[str, str],
    entities: Mapping[str, Collection[str]],
    queries: Sequence[Query],
) -> list[Query]:
    """Return all that both are asked; InputError where it is nothing."""
    questions = [Query(_TITLE + doc, title) for doc, title in sorted(titles.items())]
    questions += [Query(_NAME + name, name) for name in sorted(entities)] + list(queries)
    if not questions:
        raise InputError(
            "no document has a title, and there are no queries",
            expected="something to ask both indexes",
            fix="Give --corpus, whose titles are asked, --diagnosis or --queries.",
            where=" and ".join(system.name for system in systems),
        )
    return questions


def _answered(
    system: System,
    retriever: IndexRetriever,
    queries: Sequence[Query],
    depth: int,
    parents: ParentFold | None,
) -> System:
    run, failures = ask(retriever, queries, depth)
    folded = run if parents is None else parents.run(run)
    return replace(system, run=folded, failed=failures)


def _documents_of(systems: Sequence[System]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the documents that both hold, before and after."""
    before, after = (system.documents or _NONE for system in systems)
    return before, after


def _titles(systems: Sequence[System]) -> dict[str, str]:
    """Return doc_id -> title of what either index holds; InputError when they share nothing."""
    before, after = _documents_of(systems)
    if not before & after:
        raise InputError(
            "the indexes have no document in common",
            expected="two indexes over one corpus",
            fix="Compare indexes that were built from the same documents.",
            where=" and ".join(system.name for system in systems),
        )
    titles = {**systems[1].titles, **systems[0].titles}
    return {doc: title for doc, title in titles.items() if doc in before | after}


def _notes(systems: Sequence[System], failures: Mapping[str, str], queries: int) -> list[str]:
    notes = list(dict.fromkeys(s.warning for s in systems if s.warning))
    if failures:
        first, n = next(iter(failures.values())), len(failures)
        notes.append(f"{n:,} of {queries:,} queries could not be asked; the first: {first}")
    return notes


def _documents(
    systems: Sequence[System], titles: Mapping[str, str], k: int, failures: Mapping[str, str]
) -> list[ComparisonRow]:
    """Call a document gained when its title now brings it into the top k, lost the other way."""
    titled = {doc for doc in titles if _TITLE + doc not in failures}
    ranks = [
        {doc: first_rank(s.run.get(_TITLE + doc, {}), (doc,)) for doc in titled} for s in systems
    ]
    lists = [_lists(system.run, k) for system in systems]
    documents = _documents_of(systems)
    rows: list[ComparisonRow] = []
    for doc in sorted(documents[0] | documents[1]):
        old, new = ranks[0].get(doc), ranks[1].get(doc)
        both = doc in documents[0] and doc in documents[1]
        only = ONLY_BEFORE if doc in documents[0] else ONLY_AFTER
        sides = [
            f"in {lists[i][doc]} lists" if doc in documents[i] else "not in the index"
            for i in (0, 1)
        ]
        rows.append(
            {
                "kind": "document",
                "id": doc,
                "label": titles.get(doc, ""),
                "verdict": only if not both
                else _change(old, new, k) if doc in titled
                else NOT_COMPARABLE,
                "before": sides[0],
                "after": sides[1],
                **_ranks(old, new),
            }
        )  # fmt: skip
    return rows


def _entities(
    systems: Sequence[System],
    entities: Mapping[str, Collection[str]],
    k: int,
    failures: Mapping[str, str],
) -> list[ComparisonRow]:
    """Call an entity gained when its name now brings a document that names it into the top k."""
    rows: list[ComparisonRow] = []
    for name, documents in sorted(entities.items()):
        both = all(not there.isdisjoint(documents) for there in _documents_of(systems))
        query = _NAME + name
        known = both and query not in failures
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


def _ranks(old: int | None, new: int | None) -> Ranks:
    change = None if old is None or new is None else new - old
    return {"value_before": old, "value_after": new, "rps_change": None, "rank_change": change}


def _change(old: int | None, new: int | None, k: int) -> str:
    inside = [rank is not None and rank <= k for rank in (old, new)]
    return SAME if inside[0] == inside[1] else GAINED if inside[1] else LOST


def _lists(run: Run, k: int) -> Counter[str]:
    """Count the top-k lists that hold each document."""
    return Counter(doc for scores in run.values() for doc in ranking(scores)[:k])


def query_rows(
    systems: Sequence[System], queries: Sequence[Query], titles: Mapping[str, str], k: int
) -> list[QueryRow]:
    """Return what entered and left the top k of every query, the most changed first."""

    def names(docs: Sequence[str]) -> str:
        return "; ".join(titles.get(doc) or doc for doc in docs)

    rows: list[QueryRow] = []
    for query in queries:
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
    rows, changes = _documents_of_lists(runs, titles, k), query_rows(systems, shared, titles, k)
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
        _notes_of_lists(systems, both, failed),
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


def _notes_of_lists(systems: Sequence[System], both: Sequence[str], failed: set[str]) -> list[str]:
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


def _documents_of_lists(
    runs: Sequence[Run], titles: Mapping[str, str], k: int
) -> list[ComparisonRow]:
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
