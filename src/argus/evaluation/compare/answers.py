"""Compare two retrievers, asked or by their runs: who loses what the other brings back."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.corpora import NamedCorpus
from argus.corpora.opening import CorpusSource, open_corpus
from argus.data.artifacts import ArtifactFolder
from argus.data.corpus import read_queries
from argus.data.fields import FieldNames
from argus.data.locks import one_writer
from argus.data.qrels import read_judgements
from argus.data.runs import RUN_FILE, read_run
from argus.data.types import Document, Qrels, Query, Run
from argus.errors import InputError
from argus.evaluation.compare.job import CompareResult, Comparison, write_comparison
from argus.evaluation.compare.runs import compare_lists
from argus.evaluation.compare.slices import changes_by_slice
from argus.evaluation.parents import ParentFold, deeper, fold_system
from argus.evaluation.slices import Slicer
from argus.evaluation.systems import (
    System,
    ask_retriever,
    one_for_each,
    open_index,
    rankings,
)
from argus.indexes.spec import parse_index_spec
from argus.jobs.workspace import Record, check_folder
from argus.retrievers.asking import all_opened, note_retrievers
from argus.retrievers.config import AskingConfig
from argus.retrievers.kept import FILE as ANSWERS
from argus.settings import TOP_K

if TYPE_CHECKING:
    from argus.encoders import Encoder, EncoderConfig


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
    exact: bool | None = None,
    weights: Sequence[float] = (),
    asking: AskingConfig | None = None,
    fields: FieldNames | None = None,
    fresh: bool = False,
) -> CompareResult:
    """Compare the top k of two, which stand in the order indexes, retrievers, runs.

    retrievers: named (see `argus.retrievers.names`), or objects that retrieve; runs: files, TREC or
    JSON, or runs. queries: what is asked; of two runs their texts, to show. qrels: whose relevant
    documents are told apart. corpus: titles, and what retrievers may need, by the columns that
    `fields` names. parent_field: folds its chunks to documents; retrievers are asked deeper then.
    by: fields of the corpus, by which what is lost and gained is told, too. encoder: of a store's
    queries, and of an index that names none. hybrid, exact, weights: of the indexes, as for
    `argus.evaluate`. A query that fails on one side is left out. Raises InputError for bad input,
    ArgusError where no query is answered by both.
    """
    fusions, lambdas = rankings(hybrid, len(indexes)), one_for_each(weights, len(indexes))
    asking = asking or AskingConfig()
    files = {"queries": queries, "qrels": qrels}
    questions = read_queries(Path(queries)) if isinstance(queries, str | Path) else list(queries)
    judged = None if qrels is None else read_judgements(qrels)
    _check_two(indexes, retrievers, runs, questions)
    named = open_corpus(corpus) if corpus else None
    documents = named.documents(fields or FieldNames()) if named else []
    parents = ParentFold.of(parent_field, documents if corpus else None)
    slicer = Slicer.by(by, documents if corpus else None, parents)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = _record(k, runs, files, named)
    record.config |= {"parent_field": parent_field, "by": list(by)}
    about = [parse_index_spec(name).path for name in indexes]
    check_folder(folder, record, about=about)
    with record.timed("asking"), ExitStack() as stack:
        states = [
            open_index(name, encoder, fusion, exact, weight)
            for name, fusion, weight in zip(indexes, fusions, lambdas, strict=True)
        ]
        things = [*(state for _, state in states), *retrievers]
        answers = folder.path / ANSWERS
        sources = stack.enter_context(all_opened(things, documents, asking, answers, encoder))
        if sources:
            note_retrievers(things, sources, asking, folder, record, about)
        depth = deeper(k, parents)
        systems = [ask_retriever(source, questions, depth) for source in sources]
        systems[: len(states)] = [
            replace(system, name=name) for (name, _), system in zip(states, systems, strict=False)
        ]
        systems += [_of_run(run, i, questions if sources else ()) for i, run in enumerate(runs, 1)]
    record.config |= {"before": systems[0].name, "after": systems[1].name}
    with record.timed("comparing"):
        comparison = _compared(systems, questions, documents, judged, parents, k, slicer)
    return write_comparison(folder, record, about, comparison)


def _compared(
    systems: Sequence[System],
    questions: Sequence[Query],
    documents: Sequence[Document],
    judged: Qrels | None,
    parents: ParentFold | None,
    k: int,
    slicer: Slicer | None,
) -> Comparison:
    """Compare two systems; parents: as documents, where what they bring back are chunks."""
    if parents is not None:
        systems = [fold_system(system, parents) for system in systems]
        documents, judged = parents.documents(documents), judged and parents.qrels(judged)
    lists = compare_lists((systems[0], systems[1]), questions, documents, k=k, qrels=judged)
    return Comparison(
        "runs" if all(s.fingerprint == RUN_FILE for s in systems) else "retrievers",
        [system.name for system in systems],
        [system.fingerprint for system in systems],
        lists.rows, lists.queries, lists.figures, lists.notes, lists.only,
        changes_by_slice(slicer, lists.rows, lists.pairs),
    )  # fmt: skip


def _check_two(
    indexes: Sequence[str],
    retrievers: Sequence[Any],
    runs: Sequence[Path | Run],
    queries: Sequence[Query],
) -> None:
    if len(indexes) + len(retrievers) + len(runs) != 2:
        raise InputError(
            f"{len(indexes)} indexes, {len(retrievers)} retrievers and {len(runs)} runs",
            expected="two, before and after",
            fix="Name them with --index, --retriever and --run.",
            where="--index, --retriever, --run",
        )
    if not queries and len(runs) < 2:
        raise InputError(
            "no queries",
            expected="what to ask a retriever",
            fix="Give --queries FILE.",
            where="--queries",
        )


def _record(
    k: int,
    runs: Sequence[Path | Run],
    files: dict[str, Any],
    corpus: CorpusSource | None,
) -> Record:
    sides = ("before", "after")[-len(runs) :] if runs else ()
    return Record(
        "comparison",
        {"k": k},
        {
            **{
                s: run if isinstance(run, Path) else None
                for s, run in zip(sides, runs, strict=True)
            },
            "corpus": corpus.origin if corpus else None,
            **{name: Path(v) for name, v in files.items() if isinstance(v, str | PathLike)},
        },
    )


def _of_run(run: Path | Run, number: int, queries: Sequence[Query]) -> System:
    """Return a run as a system. queries: those that count, all where there are none."""
    content = read_run(run) if isinstance(run, Path) else run
    if queries:
        content = {query.id: content[query.id] for query in queries if query.id in content}
    return System(str(run) if isinstance(run, Path) else f"run {number}", content)
