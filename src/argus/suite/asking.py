"""How the retrievers of a suite answer a task: an index to mend, BM25, a source, an output."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from argus.encoders.spread import on_engine
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
from argus.suite.config import SuiteRemedy, SuiteRetriever, SuiteTask
from argus.suite.remedies import Patient, filled, mend, unchanged
from argus.suite.toml import Table
from argus.tasks.task import Task

VECTORS = "embeddings"


class Answering(ABC):
    """A retriever before one task."""

    @abstractmethod
    def answer(self, task: Task, remedy: SuiteRemedy, table: Table, depth: int) -> System:
        """Ask it all questions under a remedy. table: the remedy's settings, filled."""


@dataclass(frozen=True)
class OfIndex(Answering):
    """An index of the task's documents: a remedy is added, asked and taken out again."""

    patient: Patient

    def answer(self, task: Task, remedy: SuiteRemedy, table: Table, depth: int) -> System:
        """See `Answering.answer`."""
        path, warning = self.patient.index, None
        try:
            try:
                mend(remedy, table, self.patient)
            except NothingToMend as error:
                warning = unchanged(error)
            retriever = IndexRetriever(ViewIndex.open(path), self.patient.encoder)
            system = search_index(retriever.name, retriever, task.queries, depth)
            return replace(system, warning=warning)
        finally:
            take_out(path, ())


@dataclass(frozen=True)
class OfWords(Answering):
    """BM25 of the task's documents."""

    words: LexicalIndex

    def answer(self, task: Task, remedy: SuiteRemedy, table: Table, depth: int) -> System:
        """See `Answering.answer`."""
        hits = self.words.search([query.text for query in task.queries], depth)
        return System("bm25", hits.run([query.id for query in task.queries]))


@dataclass(frozen=True)
class OfSource(Answering):
    """Whatever --retriever names."""

    name: str
    kept_in: Path

    def answer(self, task: Task, remedy: SuiteRemedy, table: Table, depth: int) -> System:
        """See `Answering.answer`."""
        self.kept_in.parent.mkdir(parents=True, exist_ok=True)
        with opened(
            self.name, documents=task.documents, config=AskingConfig(), cache=self.kept_in
        ) as source:
            return ask_retriever(source, task.queries, depth)


@dataclass(frozen=True)
class OfOutput(Answering):
    """What a generative search brought back."""

    output: Path

    def answer(self, task: Task, remedy: SuiteRemedy, table: Table, depth: int) -> System:
        """See `Answering.answer`."""
        from argus.generative.failures.jobs.ranked import ranked

        answers = run_answers(ranked(self.output, task.queries), task.queries, str(self.output))
        return System(str(self.output), cut(answers.run, depth), failed=answers.failed)


@contextmanager
def passing_indexes(folder: Path) -> Iterator[Path]:
    """Yield an empty folder for indexes that are searched and then gone.

    What a killed run left there is removed. Raises NotWritten where the disk is full.
    """
    shutil.rmtree(folder, ignore_errors=True)
    with writable(folder):
        folder.mkdir(exist_ok=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Models:
    """The encoders of a suite, each loaded once, with the one store of all its vectors.

    home: the suite's folder. indexes: where those are built that pass.
    """

    def __init__(
        self, home: Path, vectors: Path, indexes: Path, engine: Engine | None = None
    ) -> None:
        self.home, self.vectors, self.indexes, self.engine = home, vectors, indexes, engine
        self._loaded: dict[str, LoadedEncoder] = {}
        self._prompted: dict[str, Encoder] = {}

    def store(self, retriever: SuiteRetriever) -> Path:
        """Return the folder of an encoder's vectors: another for another text before queries."""
        return self.vectors / retriever.folder

    def encoder(self, retriever: SuiteRetriever, sample: Sequence[str]) -> Encoder:
        """Return an encoder, one model for all instructions. sample: for the precision check."""
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
    def before(self, retriever: SuiteRetriever, name: str, task: Task) -> Iterator[Answering]:
        """Open a retriever on a task's documents. name: the task's in the suite."""
        if retriever.encoder is not None:
            with self._index(retriever, task) as index:
                yield index
        elif retriever.bm25:
            ids = [document.id for document in task.documents]
            texts = [document.content for document in task.documents]
            yield OfWords(LexicalIndex.build(ids, texts))
        elif retriever.output:
            yield OfOutput(Path(retriever.named(retriever.output, name)))
        else:
            answers = self.home / "answers" / f"{retriever.folder}.sqlite"
            yield OfSource(retriever.named(retriever.source, name), answers)

    @contextmanager
    def _index(self, retriever: SuiteRetriever, task: Task) -> Iterator[OfIndex]:
        """Build an index whose vectors, of remedies and questions too, are in the one store."""
        sample = [d.content for d in task.documents if d.content.strip()]
        encoder, store = self.encoder(retriever, sample), self.store(retriever)
        with TemporaryDirectory(dir=self.indexes, ignore_cleanup_errors=True) as folder:
            index = Path(folder) / "index"
            build_index(task.documents, out=index, encoder=encoder, store=store)
            with sharing(index, store):
                yield OfIndex(Patient(index, encoder))


def settings_of(
    remedy: SuiteRemedy, retriever: SuiteRetriever, task: SuiteTask, file: Path
) -> Table:
    """Return a remedy's settings before one retriever and task."""
    return Table(filled(remedy.values, retriever, task), file, f"remedies.{remedy.name}")
