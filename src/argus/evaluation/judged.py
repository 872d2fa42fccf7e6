"""Read queries and judgements, and prepare systems to be measured on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from argus.corpora import Corpus
from argus.corpora.opening import Origin, open_corpus
from argus.data.documents import read_queries
from argus.data.fields import FieldNames
from argus.data.qrels import read_judgements
from argus.data.runs import Excluded, read_excluded, spare, without_excluded
from argus.data.types import Document, Qrels, Query
from argus.errors import InputError
from argus.evaluation.parents import ParentFold, fold_system
from argus.evaluation.systems import Judged, System, judge, with_corpus
from argus.measures.coverage import Coverage, cover


@dataclass(frozen=True)
class JudgedQueries:
    """Queries and judgements, of which some can be measured.

    files: those that queries and judgements were read from. corpus: its origin for a manifest.
    documents: titles and texts. None leaves them to the index. fold: of chunks to documents, if
    judgements are of documents.
    """

    queries: list[Query]
    qrels: Qrels
    judged: Judged
    files: dict[str, Path]
    corpus: Origin | None = None
    documents: Sequence[Document] | None = None
    fold: ParentFold | None = None

    @property
    def excluded(self) -> Excluded:
        """Documents to remove from each query's results before they are measured."""
        return self.judged.excluded

    @property
    def spare(self) -> int:
        """Number of further results to ask for, because some are removed."""
        if self.fold is None:
            return spare(self.excluded)
        of_chunk = self.fold.of_chunk
        sizes = Counter(of_chunk.values())
        own = self.excluded.values()
        needed = (len(ids & of_chunk.keys()) + sum(sizes[id_] for id_ in ids) for ids in own)
        return max(needed, default=0)

    def folded(self, field: str | None) -> JudgedQueries:
        """Return them with judgements of documents instead of chunks.

        field: where the document of a chunk stands. None changes nothing. Raises InputError as
        `ParentFold.of` does.
        """
        fold = ParentFold.of(field, self.documents)
        if fold is None:
            return self
        qrels = fold.qrels(self.qrels)
        judged = judge(self.queries, qrels, self.excluded)
        return replace(self, qrels=qrels, judged=judged, fold=fold)

    def folded_systems(self, systems: Sequence[System], depth: int) -> list[System]:
        """Return systems as they are measured: `depth` results, without excluded ones.

        They get titles and texts. Chunks are folded to documents. An excluded id may be a chunk or
        a document.
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
        """Count the documents that have a remedy, by ids of an index."""
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
    excluded: Path | str | Mapping[str, Collection[str]] | None = None,
    fields: FieldNames | None = None,
) -> JudgedQueries:
    """Read queries, judgements and a corpus from files, or take them as they are.

    excluded: ids per query, or a file for `read_excluded`. fields: columns of the corpus. Raises
    InputError if no query can be measured, and if none of those that exclude is a query.
    """
    sources = {"queries": queries, "qrels": qrels, "excluded": excluded}
    files = {name: Path(v) for name, v in sources.items() if isinstance(v, str | PathLike)}
    questions = read_queries(Path(queries)) if isinstance(queries, (str, Path)) else list(queries)
    judgements = read_judgements(qrels)
    if isinstance(excluded, (str, Path)):
        excluded = read_excluded(Path(excluded))
    removed = {query: frozenset(ids) for query, ids in (excluded or {}).items()}
    if removed and removed.keys().isdisjoint(query.id for query in questions):
        raise InputError(
            f"none of the {len(removed):,} queries that exclude documents is asked "
            f"(the first: {next(iter(removed))!r})",
            expected="ids of the queries",
            fix="Check that both are of one task.",
            where="--excluded",
        )
    result = JudgedQueries(questions, judgements, judge(questions, judgements, removed), files)
    if corpus is None:
        return result
    source = open_corpus(corpus)
    documents = source.documents(fields or FieldNames())
    return replace(result, corpus=source.origin, documents=documents)
