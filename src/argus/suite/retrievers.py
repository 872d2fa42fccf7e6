"""Ask the retrievers of a suite: an index under remedies, BM25, a source, or an output."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from argus.data.runs import cut
from argus.data.writing import writable
from argus.encoders import (
    Encoder,
    EncoderConfig,
    LoadedEncoder,
    load_encoder,
    stored_fingerprint,
)
from argus.encoders.embed import on_engine
from argus.encoders.store import sharing
from argus.engine import Engine
from argus.errors import NothingToMend
from argus.evaluation.systems import System, ask_retriever, search_index
from argus.indexes.job import build_index
from argus.indexes.lexical import LexicalIndex
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.repair.trials import take_out
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import opened, run_answers
from argus.suite.config import SuiteRemedy, SuiteRetriever
from argus.suite.remedies import Patient, apply_remedy, unchanged
from argus.suite.toml import Table
from argus.tasks.task import Task

VECTORS = "embeddings"
Ask = Callable[[Task, SuiteRemedy, Table, int], System]
"""Asks all questions of a task under a remedy with these settings, to a depth."""


@contextmanager
def passing_indexes(folder: Path) -> Iterator[Path]:
    """Yield an empty folder for temporary indexes, and remove it.

    Removes first the leftovers of a killed run. Raises NotWritten if the disk is full.
    """
    shutil.rmtree(folder, ignore_errors=True)
    with writable(folder):
        folder.mkdir(exist_ok=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Models:
    """The encoders of a suite, each loaded once, with one store of all its vectors.

    home: the suite's folder. vectors: folder of the stores. indexes: folder of temporary indexes.
    """

    def __init__(
        self, home: Path, vectors: Path, indexes: Path, engine: Engine | None = None
    ) -> None:
        self.home, self.vectors, self.indexes, self.engine = home, vectors, indexes, engine
        self._loaded: dict[str, LoadedEncoder] = {}
        self._prompted: dict[str, Encoder] = {}

    def store(self, retriever: SuiteRetriever) -> Path:
        """Return the folder of an encoder's vectors, another one for another query prompt."""
        return self.vectors / retriever.folder

    def encoder(self, retriever: SuiteRetriever, sample: Sequence[str]) -> Encoder:
        """Return an encoder. Prompts share one model. sample: for the precision check."""
        if retriever.folder not in self._prompted:
            assert isinstance(retriever.encoder, EncoderConfig)
            if retriever.name not in self._loaded:
                stored = stored_fingerprint(self.store(retriever))
                loaded = load_encoder(retriever.encoder, sample=sample, stored=stored)
                self._loaded[retriever.name] = loaded
            loaded = self._loaded[retriever.name]
            prompt = retriever.encoder.query_prompt
            if prompt is not None and prompt != loaded.config.query_prompt:
                loaded = loaded.with_query_prompt(prompt)
            encoder = on_engine(loaded.encoder, self.engine, loaded.config)
            self._prompted[retriever.folder] = encoder
        return self._prompted[retriever.folder]

    @contextmanager
    def open(self, retriever: SuiteRetriever, name: str, task: Task) -> Iterator[Ask]:
        """Open a retriever on a task's documents. name: of the task in the suite."""
        if retriever.encoder is not None:
            with self._index(retriever, task) as patient:
                yield lambda task, remedy, table, depth: _ask_index(
                    patient, task, remedy, table, depth
                )
        elif retriever.bm25:
            ids = [document.id for document in task.documents]
            words = LexicalIndex.build(ids, [document.content for document in task.documents])

            def ask_words(task: Task, _: SuiteRemedy, __: Table, depth: int) -> System:
                hits = words.search([query.text for query in task.queries], depth)
                return System("bm25", hits.run([query.id for query in task.queries]))

            yield ask_words
        elif retriever.output:
            output = Path(retriever.named(retriever.output, name))
            yield lambda task, _, __, depth: _read_output(output, task, depth)
        else:
            answers = self.home / "answers" / f"{retriever.folder}.sqlite"
            source = retriever.named(retriever.source, name)
            yield lambda task, _, __, depth: _ask_source(source, answers, task, depth)

    @contextmanager
    def _index(self, retriever: SuiteRetriever, task: Task) -> Iterator[Patient]:
        """Build an index with all its vectors, of remedies and questions too, in the one store."""
        sample = [d.content for d in task.documents if d.content.strip()]
        encoder, store = self.encoder(retriever, sample), self.store(retriever)
        with TemporaryDirectory(dir=self.indexes, ignore_cleanup_errors=True) as folder:
            index = Path(folder) / "index"
            build_index(task.documents, out=index, encoder=encoder, store=store)
            with sharing(index, store):
                yield Patient(index, encoder)


def _ask_index(
    patient: Patient, task: Task, remedy: SuiteRemedy, table: Table, depth: int
) -> System:
    """Add a remedy to an index, ask it, and take the remedy out again."""
    warning = None
    try:
        try:
            apply_remedy(remedy, table, patient)
        except NothingToMend as error:
            warning = unchanged(error)
        retriever = IndexRetriever(ViewIndex.open(patient.index), patient.encoder)
        system = search_index(retriever.name, retriever, task.queries, depth)
        return replace(system, warning=warning)
    finally:
        take_out(patient.index, ())


def _ask_source(name: str, answers: Path, task: Task, depth: int) -> System:
    answers.parent.mkdir(parents=True, exist_ok=True)
    config = AskingConfig()
    with opened(name, documents=task.documents, config=config, cache=answers) as source:
        return ask_retriever(source, task.queries, depth)


def _read_output(output: Path, task: Task, depth: int) -> System:
    """Read the answers of a generative search."""
    from argus.generative.failures.jobs.ranked import ranked

    answers = run_answers(ranked(output, task.queries), task.queries, str(output))
    return System(str(output), cut(answers.run, depth), failed=answers.failed)
