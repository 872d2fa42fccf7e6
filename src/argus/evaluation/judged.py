"""Judged queries, read once: what is asked, what is relevant, and the files that say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from argus.corpora.names import NamedCorpus
from argus.corpora.opening import open_corpus
from argus.corpora.stored import Origin
from argus.data.corpus import read_queries
from argus.data.fields import FieldNames
from argus.data.qrels import read_qrels
from argus.data.types import Document, Qrels, Query
from argus.evaluation.parents import ParentFold
from argus.evaluation.systems import Judged, System, judge, with_corpus


@dataclass(frozen=True)
class JudgedQueries:
    """Queries and judgements of which some can be measured."""

    queries: list[Query]
    qrels: Qrels
    judged: Judged
    files: dict[str, Path]
    """Those of queries and judgements that were read from a file."""
    corpus: Origin | None = None
    """What stands for the documents in a manifest."""
    documents: Sequence[Document] | None = None
    """Where titles and texts come from; None leaves it to the index."""
    fold: ParentFold | None = None
    """Of chunks to documents, where judgements are of these."""

    def folded(self, field: str | None) -> JudgedQueries:
        """Return them with judgements of the documents that chunks are of.

        field: where the document of a chunk stands; None leaves all as it is. Raises InputError as
        `ParentFold.of` does.
        """
        fold = ParentFold.of(field, self.documents)
        if fold is None:
            return self
        qrels = fold.qrels(self.qrels)
        return replace(self, qrels=qrels, judged=judge(self.queries, qrels), fold=fold)

    def folded_systems(self, systems: Sequence[System]) -> list[System]:
        """Return systems with titles and texts; of documents, where chunks are folded."""
        documents = self.documents
        if documents is None:
            return list(systems)
        if self.fold is not None:
            systems = [self.fold.system(system) for system in systems]
            documents = self.fold.documents(documents)
        return [with_corpus(system, documents) for system in systems]

    @property
    def with_judgements(self) -> list[Query]:
        """The queries that have text and judgements."""
        return [q for q in self.queries if q.text.strip() and q.id in self.qrels]


def read_judged(
    queries: Path | str | Sequence[Query],
    qrels: Path | str | Qrels,
    corpus: NamedCorpus | None = None,
) -> JudgedQueries:
    """Read what is not at hand. Raises InputError when no query can be measured."""
    sources = {"queries": queries, "qrels": qrels}
    files = {name: Path(v) for name, v in sources.items() if isinstance(v, (str, Path))}
    questions = read_queries(Path(queries)) if isinstance(queries, (str, Path)) else list(queries)
    judgements = read_qrels(Path(qrels)) if isinstance(qrels, (str, Path)) else qrels
    judged = judge(questions, judgements)
    if corpus is None:
        return JudgedQueries(questions, judgements, judged, files)
    source = open_corpus(corpus)
    documents = source.documents(FieldNames())
    return JudgedQueries(questions, judgements, judged, files, source.origin, documents)
