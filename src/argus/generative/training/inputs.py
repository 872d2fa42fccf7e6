"""Read training data from files: passages, judged questions, pseudo-queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.corpora import Corpus
from argus.corpora.opening import Origin
from argus.data.documents import read_queries
from argus.data.fields import FieldNames
from argus.data.qrels import read_judgements
from argus.data.types import Document, Qrels, Query
from argus.errors import InputError
from argus.generative.pseudo_queries import of_documents
from argus.generative.training.examples import TrainingSet, build_examples
from argus.generative.training.settings import ExampleConfig
from argus.generative.vocabulary import Vocabulary
from argus.jobs.workspace import read_documents


@dataclass(frozen=True)
class Inputs:
    """Training data. files: by option, None for an option without a file."""

    documents: Sequence[Document]
    questions: list[Query]
    qrels: Qrels
    pseudo_queries: dict[str, list[str]]
    files: dict[str, Origin | None]

    def examples(
        self, vocabulary: Vocabulary, config: ExampleConfig, held_out: Sequence[str]
    ) -> TrainingSet:
        """Return the examples. held_out: ids of documents whose titles are in none."""
        return build_examples(
            self.documents, vocabulary, config, queries=self.questions, qrels=self.qrels,
            pseudo_queries=self.pseudo_queries, held_out=held_out,
        )  # fmt: skip


def read_inputs(
    corpus: Corpus,
    queries: Path | str | None,
    qrels: Path | str | None,
    pseudo_queries: Path | str | None,
    fields: FieldNames,
    limit: int | None,
) -> Inputs:
    """Read a corpus and its questions. limit: only the first documents.

    queries, qrels: both or neither. Raises InputError for one without the other, and for files that
    are not valid.
    """
    documents, path = read_documents(corpus, fields, limit, None)
    questions, judged = _questions(queries, qrels, fields)
    pseudo = of_documents(pseudo_queries, documents, coerce_ids=fields.coerce_ids)
    files = {
        "corpus": path,
        "queries": _path(queries),
        "qrels": _path(qrels),
        "pseudo_queries": pseudo.file,
    }
    return Inputs(documents, questions, judged, pseudo.by_document, files)


def _questions(
    queries: Path | str | None, qrels: Path | str | None, fields: FieldNames
) -> tuple[list[Query], Qrels]:
    if (queries is None) != (qrels is None):
        there, missing = ("--questions", "--qrels")[:: 1 if qrels is None else -1]
        raise InputError(
            f"given without {missing}",
            expected="questions and the passages that answer them, or neither",
            fix=f"Add {missing}, or leave out {there}.",
            where=there,
        )
    if queries is None or qrels is None:
        return [], {}
    return read_queries(Path(queries), coerce_ids=fields.coerce_ids), read_judgements(qrels)


def _path(path: Path | str | None) -> Path | None:
    return None if path is None else Path(path)
