"""Read judged queries, and turn results for chunks into results for their documents.

`read_judged`: files of queries and judgements -> `JudgedQueries`. `ParentFold`: a run of chunks ->
a run of documents, each with the score of its best chunk. An id that is no chunk of the corpus
stays. `highest_rps`: the table of `argus research diagnose` -> predicted reachability (RPS) by
document. `rps_association` compares it in found and in missed documents (ARGUS Table 4).
`argus evaluate` and all jobs that try a repair on judged questions use it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.corpora import Corpus
from argus.corpora.opening import Origin, open_corpus, read_corpus
from argus.data.documents import read_queries
from argus.data.fields import FieldNames, parent_ids
from argus.data.runs import (
    Excluded,
    ranking,
    read_excluded,
    read_judgements,
    spare,
    without_excluded,
)
from argus.data.tables import read_table
from argus.data.types import Document, Qrels, Query, Run
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus
from argus.evaluation.systems import Judged, System, judge, with_corpus
from argus.measures import RESAMPLES
from argus.measures.measures import Coverage, cover
from argus.measures.slices import Trials, rank_slices, slice_shares, slicings
from argus.retrievers.config import DEEPER

DIAGNOSIS = "diagnosis.parquet"
TABLE_4_K = (10, 20, 50)
MIN_USABLE = 0.95  # share of the bootstrap draws that must hold both groups for an interval


def _no_corpus(field: str, expected: str, option: str) -> InputError:
    got, fix = f"{field!r} without a corpus", "Give it with --corpus."
    return InputError(got, expected=expected, fix=fix, where=option)


@dataclass(frozen=True)
class ParentFold:
    """The document of every chunk. field: the field that names it."""

    field: str
    of_chunk: Mapping[str, str]
    parents: frozenset[str]

    @classmethod
    def of(cls, field: str | None, chunks: Sequence[Document] | None) -> ParentFold | None:
        """Return the fold by a field. None without one.

        Raises InputError without a corpus, and if no chunk has the field.
        """
        if field is None:
            return None
        if chunks is None:
            expected = "the corpus of chunks, which tells the document of each"
            raise _no_corpus(field, expected, "--parent-field")
        names = parent_ids(chunks, field)
        of_chunk = {chunk.id: name for chunk, name in zip(chunks, names, strict=True)}
        return cls(field, of_chunk, frozenset(names))

    @classmethod
    def of_corpus(cls, source: ChunkedCorpus | None) -> ParentFold | None:
        """Read a corpus and return its fold. None without a field. Raises as `of` does."""
        if source is None or source.parent_field is None:
            return None
        corpus = source.corpus
        documents = None if corpus is None else read_corpus(corpus, source.fields)
        return cls.of(source.parent_field, documents)

    def run(self, run: Run) -> Run:
        """Return a run of documents."""
        return {query: self.best(scores) for query, scores in run.items()}

    def best(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the highest value of each document's chunks."""
        best: dict[str, float] = {}
        for chunk, value in values.items():
            parent = self.of_chunk.get(chunk, chunk)
            best[parent] = max(value, best.get(parent, value))
        return best

    def chunks_of(self, id_: str) -> frozenset[str]:
        """Return a document and its chunks. Of a chunk, its document and that one's chunks."""
        parent = self.of_chunk.get(id_, id_)
        return frozenset([parent, *(c for c, own in self.of_chunk.items() if own == parent)])

    def ids(self, chunks: Iterable[str]) -> frozenset[str]:
        """Return the documents of some chunks."""
        return frozenset(self.of_chunk.get(chunk, chunk) for chunk in chunks)

    def qrels(self, qrels: Qrels) -> Qrels:
        """Return judgements of documents. Each has the highest grade of itself and its chunks."""
        folded: Qrels = {}
        for query, grades in qrels.items():
            own = folded.setdefault(query, {})
            for id_, grade in grades.items():
                parent = id_ if id_ in self.parents else self.of_chunk.get(id_, id_)
                own[parent] = max(grade, own.get(parent, grade))
        return folded

    def documents(self, chunks: Sequence[Document]) -> list[Document]:
        """Return the documents, each with the texts of its chunks and their first title."""
        own: dict[str, list[Document]] = {}
        for chunk in chunks:
            own.setdefault(self.of_chunk[chunk.id], []).append(chunk)
        documents = []
        for parent, parts in own.items():
            title = next((chunk.title for chunk in parts if chunk.title.strip()), "")
            documents.append(Document(parent, "\n".join(chunk.text for chunk in parts), title))
        return documents


def fold_system(system: System, fold: ParentFold) -> System:
    """Return a system whose results are documents."""
    run, ids = fold.run(system.run), system.documents
    longest = system.longest and max(map(len, run.values()), default=0)
    documents = None if ids is None else fold.ids(ids)
    return replace(system, run=run, documents=documents, longest=longest)


def deeper(k: int, fold: ParentFold | None) -> int:
    """Return how many results to ask for, so that k documents are among them."""
    return k if fold is None else DEEPER * k


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
        longest = max(map(len, run.values()), default=0)
        return replace(system, run=run, longest=system.longest and min(system.longest, longest))

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


def slice_queries(
    fields: Sequence[str], questions: JudgedQueries, trials: Iterable[Trials]
) -> tuple[Any, pa.Table]:
    """Slice queries by fields of their relevant documents. Return a summary's part, and the table.

    A query is in the slices of all of its relevant documents, and of their chunks if these are
    folded. Raises InputError without a corpus, and as `argus.data.fields.payload_values` does.
    """
    corpus, judged = questions.documents, questions.judged
    if corpus is None:
        raise _no_corpus(fields[0], "the corpus, whose payload tells it", "--by")
    of_chunk = {} if questions.fold is None else questions.fold.of_chunk
    rows: dict[str, list[int]] = {}  # of the corpus, by document
    for row, document in enumerate(corpus):
        rows.setdefault(of_chunk.get(document.id, document.id), []).append(row)
    members = [
        [row for id_ in judged.relevant(query) for row in rows.get(id_, ())]
        for query in judged.queries
    ]
    slices = [slicing.of(members) for slicing in slicings(corpus, fields)]
    return rank_slices([one.figures for one in slices], slice_shares(slices, trials))


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


def diagnosis_file(path: Path) -> Path:
    """Return the file of a diagnosis, given it or its folder. Raises InputError without one."""
    file = path / DIAGNOSIS if path.is_dir() else path
    if not file.is_file():
        got, expected = f"no {DIAGNOSIS}", "a folder that holds a diagnosis"
        fix = "Make one with `argus research diagnose`, or leave out --diagnosis."
        raise InputError(got, expected=expected, fix=fix, where=path)
    return file


def highest_rps(path: Path) -> dict[str, float]:
    """Return doc_id -> highest predicted RPS of its entities, for documents that have one.

    path: of a diagnosis, or its folder. Raises InputError if nothing was measured.
    """
    file, highest = diagnosis_file(path), dict[str, float]()
    for row in read_table(file, ["doc_id", "rps"], fix="Make the diagnosis again.").to_pylist():
        if row["rps"] is not None:
            highest[row["doc_id"]] = max(highest.get(row["doc_id"], row["rps"]), row["rps"])
    if not highest:
        got, expected = "no entity in it has a predicted RPS", "at least one measured row"
        fix = "See the diagnosis's own report for what failed."
        raise InputError(got, expected=expected, fix=fix, where=file)
    return highest


def rps_association(
    run: Run,
    qrels: Qrels,
    max_rps: Mapping[str, float],
    *,
    seed: int,
    ks: Sequence[int] = TABLE_4_K,
    indexed: Collection[str] | None = None,
    resamples: int = RESAMPLES,
) -> list[dict[str, Any]]:
    """Compare the highest RPS in retrieved and in unretrieved gold documents, for each k.

    Pairs are (query, relevant document).

    k: depth.
    retrieved: pairs with a predicted RPS whose document is in the top k.
    unretrieved: pairs with a predicted RPS whose document is not.
    not_indexed: pairs whose document the index does not hold.
    without_rps: pairs whose document has no predicted RPS.
    mean_retrieved: mean of the documents' highest predicted RPS. None without a pair.
    mean_unretrieved: the same of the pairs that are not retrieved.
    difference: retrieved less unretrieved. None without both.
    low, high: 95% bootstrap interval over queries. None if too few draws hold both groups.

    max_rps: doc_id -> highest predicted RPS of its entities, only documents that have one.
    indexed: documents of the index. None if they are not known, so that every gold document counts.
    """
    found: list[dict[str, Any]] = []
    for k in ks:
        not_indexed = without_rps = 0
        sums = np.zeros((len(qrels), 4))  # by query: sum and number of retrieved, then unretrieved
        for row, query in enumerate(sorted(qrels)):
            top = set(ranking(run.get(query, {}))[:k])
            for doc in (doc for doc, grade in qrels[query].items() if grade > 0):
                if indexed is not None and doc not in indexed:
                    not_indexed += 1
                elif doc not in max_rps:
                    without_rps += 1
                else:
                    group = 0 if doc in top else 2
                    sums[row, group : group + 2] += max_rps[doc], 1
        total = sums.sum(axis=0)
        retrieved, unretrieved = (
            float(total[i] / total[i + 1]) if total[i + 1] else None for i in (0, 2)
        )
        difference = low = high = None
        if retrieved is not None and unretrieved is not None:
            difference = retrieved - unretrieved
            low, high = _resampled(sums, seed, resamples)
        found.append(
            {
                "k": k,
                "retrieved": int(total[1]),
                "unretrieved": int(total[3]),
                "not_indexed": not_indexed,
                "without_rps": without_rps,
                "mean_retrieved": retrieved,
                "mean_unretrieved": unretrieved,
                "difference": difference,
                "low": low,
                "high": high,
            }
        )
    return found


def _resampled(
    sums: npt.NDArray[np.float64], seed: int, resamples: int
) -> tuple[float | None, float | None]:
    """Resample queries, whose pairs stay together. sums: (n_queries, 4)."""
    n, rng = len(sums), np.random.default_rng(seed)
    blocks = [min(1000, resamples - start) for start in range(0, resamples, 1000)]
    equal = np.full(n, 1 / n)
    drawn = np.concatenate([rng.multinomial(n, equal, size=size) @ sums for size in blocks])
    drawn = drawn[(drawn[:, [1, 3]] > 0).all(axis=1)]
    if n < 2 or len(drawn) < MIN_USABLE * resamples:
        return None, None
    differences = drawn[:, 0] / drawn[:, 1] - drawn[:, 2] / drawn[:, 3]
    low, high = np.quantile(differences, [0.025, 0.975])
    return float(low), float(high)
