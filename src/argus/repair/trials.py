"""Trials on a copy of an index: each candidate is added, asked and taken out again."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from argus.data.artifacts import ArtifactFolder
from argus.data.locks import take_lock
from argus.data.types import FloatArray
from argus.data.writing import check_plain
from argus.encoders import Encoder
from argus.encoders.store import EMBEDDINGS as VECTORS
from argus.encoders.store import sharing
from argus.errors import InputError
from argus.evaluation.parents import deeper
from argus.indexes.job import OWN_NAMES
from argus.indexes.originals import originals
from argus.indexes.remedy_views import ORIGINAL
from argus.indexes.retriever import IndexRetriever
from argus.indexes.table import writing
from argus.indexes.views import ViewIndex
from argus.measures import evaluate
from argus.measures.coverage import Coverage, cover
from argus.progress import announce
from argus.remedies.blend.parts import JudgedVectors, Searched, rival_runs
from argus.remedies.repair.remedy import list_remedies
from argus.repair.candidates import ADAPT, SCENARIOS, Candidate, attempt, take_out
from argus.repair.choice import PerQuery
from argus.repair.config import FIRST, GUARD, MEASURE
from argus.repair.questions import NEEDS, Questions

DEPTH = 10
TRIAL = ".trial"
"""The folder, in that of an index, of the copy that is tried on."""
OF_NEEDS = (SCENARIOS, ADAPT)
"""Kinds of remedies that are made of needs."""


@dataclass(frozen=True)
class Tried:
    """Values of every question by what searched.

    before: the index as it is. after: each candidate. rivals: fixed fusions of the documents' own
    vectors with BM25. coverages: how many documents have each candidate. failed: why a candidate
    could not be tried.
    """

    before: PerQuery
    after: dict[str, PerQuery]
    rivals: dict[str, PerQuery]
    coverages: dict[str, Coverage]
    failed: dict[str, str]


def values_of(index: Path, encoder: Encoder, questions: Questions, vectors: FloatArray) -> PerQuery:
    """Return nDCG@10, R@10 and RR@10 of every question, as the index is searched now.

    vectors: (n_questions, dim), the questions' own.
    """
    retriever = IndexRetriever(ViewIndex.open(index), encoder)
    fold = questions.fold
    run = retriever.rank(questions.queries, vectors, deeper(DEPTH, fold))
    run = run if fold is None else fold.run(run)
    return evaluate(run, questions.qrels, [MEASURE, GUARD, FIRST]).per_query


def try_all(
    index: Path, candidates: Sequence[Candidate], encoder: Encoder, questions: Questions
) -> Tried:
    """Return the values as the index is, and those of each candidate and rival.

    The index itself is not touched, but for vectors of new texts, which are kept.
    """
    after: dict[str, PerQuery] = {}
    coverages: dict[str, Coverage] = {}
    failed: dict[str, str] = {}
    texts = [query.text for query in questions.queries]
    vectors = np.asarray(encoder.encode_queries(texts), np.float32)
    with _copy(index) as trial:
        if questions.kind == NEEDS:
            _forget_needs(trial)
        own = {remedy.id for remedy in ViewIndex.open(trial).remedies()}
        before = values_of(trial, encoder, questions, vectors)
        rivals = _values_of_rivals(trial, encoder, questions, vectors)
        for candidate in candidates:
            announce(f"repair: trying {candidate.name}")
            why = attempt(candidate, trial)
            if why is None:
                after[candidate.name] = values_of(trial, encoder, questions, vectors)
                coverages[candidate.name] = _coverage(trial, own, questions)
            else:
                failed[candidate.name] = why
            take_out(trial, own)
    return Tried(before, after, rivals, coverages, failed)


def _values_of_rivals(
    index: Path, encoder: Encoder, questions: Questions, vectors: FloatArray
) -> dict[str, PerQuery]:
    opened = ViewIndex.open(index)
    lexical = IndexRetriever(opened, encoder, ORIGINAL).lexical()
    runs = rival_runs(
        Searched(opened.snapshot(ORIGINAL), lexical),
        JudgedVectors(questions.queries, vectors, questions.qrels, questions.fold),
    )
    return {
        name: evaluate(run, questions.qrels, [MEASURE, GUARD]).per_query
        for name, run in runs.items()
    }


def _coverage(index: Path, but: Collection[str], questions: Questions) -> Coverage:
    """Count the documents that have remedies of an index, but for some.

    What mixes or corrects the search is of all documents.
    """
    opened = ViewIndex.open(index)
    documents = [document.id for document in originals(opened)]
    recipes = [recipe for recipe in opened.header.recipes if recipe.remedy not in but]
    having = set(documents)
    if not any(recipe.blend is not None or recipe.corrects for recipe in recipes):
        columns = opened.snapshot().columns.select(["doc_id", "remedy"]).to_pylist()
        having = {row["doc_id"] for row in columns if row["remedy"] not in {"", *but}}
    if questions.fold is None:
        return cover(documents, having, questions.relevant())
    return cover(questions.fold.ids(documents), questions.fold.ids(having), questions.relevant())


def _forget_needs(trial: Path) -> None:
    """Roll back what was made of needs, since some of them ask now."""
    kinds = {r["id"]: r["kind"] for r in list_remedies(trial)}
    take_out(trial, {remedy for remedy, kind in kinds.items() if kind not in OF_NEEDS})


@contextmanager
def _copy(index: Path) -> Iterator[Path]:
    """Copy an index for as long as it is tried on; vectors of texts are those of the index.

    The copy lies in the index's own folder: what a killed run left, the next one removes. Raises
    InputError where it cannot be made, ArgusError while another run tries.
    """
    busy = f"{index} is being repaired by another run; wait for it and run this again."
    with _making(index):
        lock = take_lock(index / f"{TRIAL}.lock", busy=busy)
    with lock:
        try:
            with _making(index), writing(index):  # not while it changes
                trial = _copied(index)
            with sharing(trial, check_plain(index / VECTORS)):
                yield trial
        finally:
            shutil.rmtree(index / TRIAL, ignore_errors=True)


@contextmanager
def _making(index: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error})",
            expected="an index that can be repaired",
            fix="Copy it to where you may write.",
            where=index,
        ) from error


def _copied(index: Path) -> Path:
    trial, vectors = ArtifactFolder(index).own(TRIAL), index / VECTORS
    shutil.rmtree(trial, ignore_errors=True)
    trial.mkdir()
    vectors.mkdir(exist_ok=True)
    for name in OWN_NAMES:
        if (index / name).is_dir():
            shutil.copytree(index / name, trial / name)
        elif (index / name).exists():
            shutil.copy2(index / name, trial / name)
    return trial
