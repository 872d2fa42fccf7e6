"""Compare two indexes, retrievers or runs by the top k of the same queries (`argus evaluate`).

Two indexes are also asked for every document by its own title, and for every entity of a diagnosis
by its name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.corpora import NamedCorpus
from argus.corpora.opening import open_corpus
from argus.data.documents import read_queries
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import RUN_FILE, first_rank, ranking, read_judgements, read_run
from argus.data.types import Document, Qrels, Query, Run
from argus.data.writing import one_writer
from argus.encoders import EncoderConfig
from argus.errors import ArgusError, InputError
from argus.evaluation.comparison import CompareResult, comparison_row, write_comparison
from argus.evaluation.judged import (
    ParentFold,
    deeper,
    diagnosis_file,
    fold_system,
    read_entities,
    slicer,
)
from argus.evaluation.systems import (
    System,
    ask,
    ask_retriever,
    contents,
    index_settings,
    open_index,
    with_corpus,
)
from argus.indexes.header import parse_index_spec
from argus.indexes.retriever import IndexRetriever
from argus.jobs.workspace import Record, check_folder
from argus.measures import top_k_changes
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import all_opened, note_retrievers
from argus.retrievers.protocol import kept_note
from argus.retrievers.session import ANSWERS
from argus.settings import TOP_K

if TYPE_CHECKING:
    from argus.encoders import Encoder

DEPTH = 100  # how far down a document under its own title, or an entity's, is looked for


@one_writer
def compare_indexes(
    names: tuple[str, str],
    *,
    out: Path,
    queries: Path | Sequence[Query] = (),
    corpus: NamedCorpus | None = None,
    diagnosis: Path | None = None,
    k: int = TOP_K,
    hybrid: Sequence[str] = (),
    weights: Sequence[float] = (),
    parent_field: str | None = None,
    by: Sequence[str] = (),
    fields: FieldNames | None = None,
    fresh: bool = False,
) -> CompareResult:
    """Ask two indexes for every document by its own title, and given queries. Compare the top k.

    names: `PATH`, `PATH@original` or `PATH@REMEDY`. diagnosis: folder with diagnosis.parquet, whose
    entities are asked for by name. Without it, documents alone are compared. hybrid,
    weights: as for `argus.evaluate`. parent_field: where the chunks of `corpus` name their
    document. by: fields of `corpus`, by which losses and gains are counted, too. fields: the
    columns of `corpus`. Raises InputError if the indexes have no document in common, and if there
    is neither a title nor a query to ask.
    """
    settings = index_settings(hybrid, weights, len(names))
    questions = read_queries(queries) if isinstance(queries, Path) else list(queries)
    named = open_corpus(corpus) if corpus else None
    documents = named.documents(fields or FieldNames()) if named else None
    parents = ParentFold.of(parent_field, documents)
    by_slice = slicer(by, documents, parents)
    entities: dict[str, set[str]] = defaultdict(set)  # by name, the documents that name them
    for row in read_entities(diagnosis) if diagnosis else ():
        entities[row["entity"]].add(row["doc_id"])
    folder = ArtifactFolder(out, fresh=fresh)
    record = Record(
        "comparison",
        {
            "before": names[0], "after": names[1], "k": k, "queries": len(questions),
            "hybrid": [fusion for fusion, _ in settings], "parent_field": parent_field,
            "by": list(by),
        },
        {
            "corpus": named.origin if named else None,
            "queries": queries if isinstance(queries, Path) else None,
            "diagnosis": diagnosis_file(diagnosis) if diagnosis else None,
        },
    )  # fmt: skip
    about = [parse_index_spec(name).path for name in names]
    check_folder(folder, record, about=about)
    indexes = [
        open_index(name, ranked_by=fusion, weight=weight)
        for name, (fusion, weight) in zip(names, settings, strict=True)
    ]
    record.config["lambda"] = [retriever.weight for _, retriever in indexes]
    with record.timed("asking both"):
        compared = _compare_states(indexes, questions, k, documents, entities, parents)
    return write_comparison(folder, record, about, by_slice, *compared)


def _compare_states(
    indexes: Sequence[tuple[str, IndexRetriever]],
    queries: Sequence[Query],
    k: int,
    corpus: Sequence[Document] | None,
    entities: Mapping[str, Collection[str]],
    parents: ParentFold | None,
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return summary, rows and queries of two indexes. Titles come from the corpus, or from them.

    A document is gained if its title brings it into the top k after and not before, an entity if
    its name brings a document of it there. They are lost the other way round.
    """
    systems = [contents(name, retriever) for name, retriever in indexes]
    if parents is not None and corpus is not None:
        systems = [fold_system(system, parents) for system in systems]
        corpus = parents.documents(corpus)
        entities = {name: parents.ids(chunks) for name, chunks in entities.items()}
    if corpus is not None:
        systems = [with_corpus(system, corpus) for system in systems]
    documents = [system.documents or frozenset() for system in systems]
    where = " and ".join(system.name for system in systems)
    if not documents[0] & documents[1]:
        got, expected = "the indexes have no document in common", "two indexes over one corpus"
        fix = "Compare indexes that were built from the same documents."
        raise InputError(got, expected=expected, fix=fix, where=where)
    held = documents[0] | documents[1]
    titles = {**systems[1].titles, **systems[0].titles}
    titles = {doc: title for doc, title in titles.items() if doc in held}
    questions = [Query(f"title of {doc}", title) for doc, title in sorted(titles.items())]
    questions += [Query(f"name of {name}", name) for name in sorted(entities)] + list(queries)
    if not questions:
        got = "no document has a title, and there are no queries"
        expected = "something to ask both indexes"
        fix = "Give --corpus, whose titles are asked, --diagnosis or --queries."
        raise InputError(got, expected=expected, fix=fix, where=where)
    failures: dict[str, str] = {}
    runs: list[Run] = []
    for _, retriever in indexes:
        run, failed = ask(retriever, questions, max(k, DEPTH))
        runs.append(run if parents is None else parents.run(run))
        failures |= failed
    lists = [_count_lists(run, k) for run in runs]
    rows: list[dict[str, Any]] = []
    for doc in sorted(held):
        is_held = [doc in side for side in documents]
        words = [f"in {n[doc]} lists" if own else "not in the index"
                 for n, own in zip(lists, is_held, strict=True)]  # fmt: skip
        query = f"title of {doc}"
        ranks: list[int | None] = [None, None]
        levels: list[int | None] = [None, None]
        if doc in titles and query not in failures:
            ranks = [first_rank(run.get(query, {}), (doc,)) for run in runs]
            levels = [rank is not None and rank <= k for rank in ranks]
        title = titles.get(doc, "")
        rows.append(comparison_row("document", doc, title, levels, words, ranks, held=is_held))
    for name, own in sorted(entities.items()):
        query = f"name of {name}"
        if query in failures or any(side.isdisjoint(own) for side in documents):
            rows.append(comparison_row("entity", name, name, (None, None), (None, None)))
            continue
        ranks = [first_rank(run.get(query, {}), own) for run in runs]
        words = [f"not in the top {DEPTH}" if rank is None else f"rank {rank}" for rank in ranks]
        levels = [rank is not None and rank <= k for rank in ranks]
        rows.append(comparison_row("entity", name, name, levels, words, ranks))
    answered = [query for query in questions if query.id not in failures]
    changes, _ = _list_changes(runs, answered, titles, k, {})
    notes = list(dict.fromkeys(system.warning for system in systems if system.warning))
    if failures:
        first, n = next(iter(failures.values())), len(failures)
        notes.append(f"{n:,} of {len(questions):,} queries could not be asked; the first: {first}")
    counts = {"titles": len(titles), "entities": len(entities), "given": len(queries)}
    summary = {
        "of": "indexes",
        "names": [name for name, _ in indexes],
        "fingerprints": [retriever.encoder.fingerprint for _, retriever in indexes],
        "notes": notes,
        "k": k,
        "queries": counts | {"failed": len(failures)},
        "without_title": len(held) - len(titles),
        "changed_queries": sum(row["changed"] > 0 for row in changes),
    }
    return summary, rows, changes


def _count_lists(run: Run, k: int) -> Counter[str]:
    """Count the top-k lists that hold each document."""
    return Counter(doc for scores in run.values() for doc in ranking(scores)[:k])


def _list_changes(
    runs: Sequence[Run], queries: Sequence[Query], titles: Mapping[str, str], k: int, qrels: Qrels
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the changes of every query's top k, and the results within k of one side alone.

    The first are rows of QUERY_SCHEMA, the most changed query first. The others are rows of
    ONLY_SCHEMA, relevant ones first.
    """
    changes: list[dict[str, Any]] = []
    only: list[dict[str, Any]] = []
    for query in queries:
        before, after = (ranking(run.get(query.id, {})) for run in runs)
        entered, left = top_k_changes(before, after, k=k)
        about, grades = {"query_id": query.id, "text": query.text}, qrels.get(query.id, {})
        names = ("; ".join(titles.get(doc) or doc for doc in docs) for docs in (entered, left))
        moves = dict(zip(("entered", "left"), names, strict=True))
        changes.append(about | moves | {"changed": len(entered) + len(left)})
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


@one_writer
def compare_retrievers(
    retrievers: Sequence[Any] = (),
    *,
    out: Path | str,
    runs: Sequence[Path | Run] = (),
    indexes: Sequence[str] = (),
    queries: Path | str | Sequence[Query] = (),
    qrels: Path | str | Qrels | None = None,
    corpus: NamedCorpus | None = None,
    k: int = TOP_K,
    parent_field: str | None = None,
    by: Sequence[str] = (),
    encoder: Encoder | EncoderConfig | str | None = None,
    hybrid: Sequence[str] = (),
    weights: Sequence[float] = (),
    asking: AskingConfig | None = None,
    fields: FieldNames | None = None,
    fresh: bool = False,
) -> CompareResult:
    """Compare the top k of two systems, in the order indexes, retrievers, runs.

    retrievers: named (see `argus.retrievers.names`), or objects that retrieve. runs: files, TREC or
    JSON, or runs. queries: for the retrievers, and of two runs only their texts, to show. qrels:
    relevant documents, which are counted apart. corpus: titles, and documents that a retriever may
    need, by the columns of `fields`. parent_field: folds its chunks to documents. Retrievers are
    asked deeper then. by: fields of the corpus, by which losses and gains are counted, too.
    encoder: of a store's queries, and of an index that names none. hybrid, weights: of the
    indexes, as for `argus.evaluate`. A query that fails on one side is left out. Raises InputError
    for bad input, ArgusError if no query is answered by both.
    """
    settings = index_settings(hybrid, weights, len(indexes))
    asking = asking or AskingConfig()
    questions = read_queries(Path(queries)) if isinstance(queries, str | Path) else list(queries)
    judged = None if qrels is None else read_judgements(qrels)
    if len(indexes) + len(retrievers) + len(runs) != 2:
        got = f"{len(indexes)} indexes, {len(retrievers)} retrievers and {len(runs)} runs"
        expected, fix = "two, before and after", "Name them with --index, --retriever and --run."
        raise InputError(got, expected=expected, fix=fix, where="--index, --retriever, --run")
    if not questions and len(runs) < 2:
        got, expected, fix = "no queries", "what to ask a retriever", "Give --queries FILE."
        raise InputError(got, expected=expected, fix=fix, where="--queries")
    named = open_corpus(corpus) if corpus else None
    documents = named.documents(fields or FieldNames()) if named else []
    parents = ParentFold.of(parent_field, documents if corpus else None)
    by_slice = slicer(by, documents if corpus else None, parents)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    sides = ("before", "after")[-len(runs) :] if runs else ()
    files = {**dict(zip(sides, runs, strict=True)), "queries": queries, "qrels": qrels}
    inputs = {n: Path(v) if isinstance(v, str | PathLike) else None for n, v in files.items()}
    origin = named.origin if named else None
    record = Record("comparison", {"k": k}, {**inputs, "corpus": origin})
    record.config |= {"parent_field": parent_field, "by": list(by)}
    about = [parse_index_spec(name).path for name in indexes]
    check_folder(folder, record, about=about)
    with record.timed("asking"), ExitStack() as stack:
        states = [
            open_index(name, encoder, fusion, weight)
            for name, (fusion, weight) in zip(indexes, settings, strict=True)
        ]
        things = [*(state for _, state in states), *retrievers]
        answers = folder.path / ANSWERS
        sources = stack.enter_context(all_opened(things, documents, asking, answers, encoder))
        if sources:
            note_retrievers(things, sources, asking, folder, record, about)
        depth = deeper(k, parents)
        systems = [ask_retriever(source, questions, depth) for source in sources]
        for i, (name, _) in enumerate(states):
            systems[i] = replace(systems[i], name=name)
        for i, run in enumerate(runs, 1):
            content = read_run(run) if isinstance(run, Path) else run
            if sources and questions:
                content = {q.id: content[q.id] for q in questions if q.id in content}
            systems.append(System(str(run) if isinstance(run, Path) else f"run {i}", content))
    record.config |= {"before": systems[0].name, "after": systems[1].name}
    with record.timed("comparing"):
        if parents is not None:
            systems = [fold_system(system, parents) for system in systems]
            documents, judged = parents.documents(documents), judged and parents.qrels(judged)
        compared = _compare_lists(systems, questions, documents, k, judged)
    return write_comparison(folder, record, about, by_slice, **compared)


def _compare_lists(
    systems: Sequence[System],
    queries: Sequence[Query],
    corpus: Sequence[Document],
    k: int,
    qrels: Qrels | None,
) -> dict[str, Any]:
    """Compare the top k of the queries that both answer. Return arguments of `write_comparison`.

    A document is gained if it is in some list after and in none before, lost the other way round.
    """
    both = [query for query in systems[0].run if query in systems[1].run]
    failures = {id_: why for system in reversed(systems) for id_, why in system.failed.items()}
    if not both and failures:
        first = next(why for system in systems for why in system.failed.values())
        raise ArgusError(f"No query is answered by both. The first failure: {first}")
    if not both:
        raise InputError(
            "the runs have no query in common",
            expected="two runs of the same queries",
            fix="Check that they belong together.",
            where=" and ".join(system.name for system in systems),
        )
    titles = {d.id: d.title for d in corpus if d.title.strip()}
    texts = {query.id: query.text for query in queries}
    shared = [Query(id_, texts.get(id_, id_)) for id_ in both]
    runs = [{id_: system.run[id_] for id_ in both} for system in systems]
    lists = [_count_lists(run, k) for run in runs]
    rows = []
    for doc in sorted(lists[0] | lists[1]):
        words, levels = [f"in {of[doc]:,} lists" for of in lists], [doc in of for of in lists]
        rows.append(comparison_row("document", doc, titles.get(doc, ""), levels, words))
    n_judged = 0
    changes, only = _list_changes(runs, shared, titles, k, qrels or {})
    counts = {"titles": 0, "entities": 0, "given": len(shared), "failed": len(failures)}
    summary: dict[str, Any] = {
        "of": "runs" if all(s.fingerprint == RUN_FILE for s in systems) else "retrievers",
        "names": [system.name for system in systems],
        "fingerprints": [system.fingerprint for system in systems],
        "notes": _notes(systems, {*both, *failures}),
        "k": k,
        "queries": counts,
        "without_title": 0,
        "changed_queries": sum(row["changed"] > 0 for row in changes),
        "only_before": sum(row["only"] == "before" for row in only),
        "only_after": sum(row["only"] == "after" for row in only),
    }
    pairs: list[tuple[str, tuple[bool, bool]]] = []  # relevant documents, and who brings them back
    for query in both if qrels is not None else ():
        before, after = (set(ranking(run[query])[:k]) for run in runs)
        wanted = (doc for doc, grade in (qrels or {}).get(query, {}).items() if grade > 0)
        new = [(doc, (doc in before, doc in after)) for doc in wanted]
        n_judged += bool(new)
        pairs += new
    if qrels is not None:
        sides = Counter(side for _, side in pairs)
        summary["judged"] = {
            "queries": n_judged,
            "relevant": len(pairs),
            "both": sides[True, True],
            "only_before": sides[True, False],
            "only_after": sides[False, True],
            "neither": sides[False, False],
        }
    return {
        "summary": summary, "rows": rows, "queries": changes, "only": only, "relevant": pairs
    }  # fmt: skip


def _notes(systems: Sequence[System], known: Collection[str]) -> list[str]:
    """Return warnings: of the systems, of queries left out, of answers of an earlier run."""
    notes = list(dict.fromkeys(s.warning for s in systems if s.warning))
    for system in systems:
        if system.failed:
            first = next(iter(system.failed.values()))
            notes.append(
                f"{system.name} failed {len(system.failed):,} queries: left out; the first: {first}"
            )
        if system.kept:
            notes.append(f"{system.name}: {kept_note(system.kept, len(system.run))}")
    of_one = sum(len(system.run.keys() - known) for system in systems)
    if of_one:
        notes.append(f"{of_one:,} queries are in one of the runs only: left out")
    return notes
