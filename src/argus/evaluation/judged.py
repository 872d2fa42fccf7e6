"""Judged queries, read once: what is asked, what is relevant, and the files that say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from argus.corpora import Corpus
from argus.corpora.opening import Origin, open_corpus
from argus.data.corpus import read_queries
from argus.data.excluded import Excluded, read_excluded, spare, without_excluded
from argus.data.fields import FieldNames
from argus.data.qrels import read_judgements
from argus.data.types import Document, Qrels, Query
from argus.errors import InputError
from argus.evaluation.parents import ParentFold, fold_system
from argus.evaluation.systems import Judged, System, judge, with_corpus
from argus.measures.coverage import Coverage, cover


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

    @property
    def excluded(self) -> Excluded:
        """What is taken out of each query's results before anything is measured."""
        return self.judged.excluded

    @property
    def spare(self) -> int:
        """How many results more are asked for, because of what is taken out."""
        if self.fold is None:
            return spare(self.excluded)
        of_chunk = self.fold.of_chunk
        sizes = Counter(of_chunk.values())
        return max(
            (
                len(ids & of_chunk.keys()) + sum(sizes[id_] for id_ in ids)
                for ids in self.excluded.values()
            ),
            default=0,
        )

    def folded(self, field: str | None) -> JudgedQueries:
        """Return them with judgements of the documents that chunks are of.

        field: where the document of a chunk stands; None leaves all as it is. Raises InputError as
        `ParentFold.of` does.
        """
        fold = ParentFold.of(field, self.documents)
        if fold is None:
            return self
        qrels = fold.qrels(self.qrels)
        return replace(
            self, qrels=qrels, judged=judge(self.queries, qrels, self.excluded), fold=fold
        )

    def folded_systems(self, systems: Sequence[System], depth: int) -> list[System]:
        """Return what is measured of systems: `depth` results, without what queries exclude.

        With titles and texts; of documents, where chunks are folded. What is excluded may be a
        chunk or a document.
        """
        first = depth if self.fold is None else None
        systems = [self._without_excluded(system, first) for system in systems]
        documents = self.documents
        if documents is None:
            return systems
        if self.fold is not None:
            systems = [self._without_excluded(fold_system(s, self.fold), depth) for s in systems]
            documents = self.fold.documents(documents)
        return [with_corpus(system, documents) for system in systems]

    def _without_excluded(self, system: System, depth: int | None) -> System:
        if not self.excluded:
            return system
        run = without_excluded(system.run, self.excluded, depth)
        most = max(map(len, run.values()), default=0)
        return replace(system, run=run, longest=system.longest and min(system.longest, most))

    def coverage(self, documents: Sequence[str], with_remedy: Collection[str]) -> Coverage:
        """Count the documents that have a remedy, by ids of what an index holds."""
        relevant = [self.judged.relevant(query) for query in self.judged.queries]
        if self.fold is None:
            return cover(documents, with_remedy, relevant)
        return cover(self.fold.ids(documents), self.fold.ids(with_remedy), relevant)

    @property
    def with_judgements(self) -> list[Query]:
        """The queries that have text and judgements."""
        return [q for q in self.queries if q.text.strip() and q.id in self.qrels]


def read_judged(
    queries: Path | str | Sequence[Query],
    qrels: Path | str | Qrels,
    corpus: Corpus | None = None,
    excluded: Path | str | Excluded | None = None,
    fields: FieldNames | None = None,
) -> JudgedQueries:
    """Read what is not at hand. Raises InputError when no query can be measured.

    excluded: per query, or a file as `read_excluded` reads it. fields: columns of the corpus.
    """
    sources = {"queries": queries, "qrels": qrels, "excluded": excluded}
    files = {name: Path(v) for name, v in sources.items() if isinstance(v, str | PathLike)}
    questions = read_queries(Path(queries)) if isinstance(queries, (str, Path)) else list(queries)
    judgements = read_judgements(qrels)
    if isinstance(excluded, (str, Path)):
        excluded = read_excluded(Path(excluded))
    judged = judge(questions, judgements, _of(excluded or {}, questions))
    result = JudgedQueries(questions, judgements, judged, files)
    if corpus is None:
        return result
    source = open_corpus(corpus)
    documents = source.documents(fields or FieldNames())
    return replace(result, corpus=source.origin, documents=documents)


def _of(excluded: Mapping[str, Iterable[str]], queries: Sequence[Query]) -> Excluded:
    """Return what some of the queries exclude; InputError where none of those named is a query."""
    sets = {query: frozenset(ids) for query, ids in excluded.items()}
    if sets and sets.keys().isdisjoint(query.id for query in queries):
        raise InputError(
            f"none of the {len(sets):,} queries that exclude documents is asked "
            f"(the first: {next(iter(sets))!r})",
            expected="ids of the queries",
            fix="Check that both are of one task.",
            where="--excluded",
        )
    return sets
