"""Embed documents and probes, and search all documents exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import Document, IntArray, Query
from argus.encoders import Embedded, Encoder, Store, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.encoders.rows import Rows, arrays_of, replaced
from argus.encoders.scoring import scoring_of
from argus.engine import Engine, Work
from argus.indexes import known_item_search, search
from argus.indexes.dense import Groups, RowLists, queries_per_block
from argus.jobs.parts import Parts
from argus.jobs.workspace import require_some
from argus.progress import progress
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.findings import Findings, Searched
from argus.retrievability.exposure.parents import (
    DocumentLists,
    Parents,
    fold_findings,
    folded_lists,
    siblings_with_sentence,
)
from argus.retrievability.exposure.probes import (
    SENTENCE,
    FailedProbe,
    Probes,
    probe_texts,
    summarise_probes,
)


@dataclass(frozen=True)
class Index:
    """The documents that could be embedded, ordered by id, with their vectors."""

    documents: list[Document]
    vectors: Rows
    failures: dict[str, str]
    """Document id to why it has no vector."""


@dataclass(frozen=True)
class Searches:
    """Embedded probes. Arrays have shape (n_probes, ...)."""

    kind: npt.NDArray[np.str_]
    target: IntArray
    text: list[str]
    vectors: Rows
    stand_in: Rows
    """The target's vector as this probe sees it: the document, or the rest of it."""
    without_sentence: dict[int, str]
    failed: list[FailedProbe]
    drawn: IntArray | None
    """Rows of the documents that are asked for. None: all."""


def embed_documents(
    documents: Sequence[Document], model: Encoder[Rows], store: Store[Rows]
) -> Index:
    """Embed items that have text. The rest are failures that say so."""
    usable = [d for d in documents if d.content.strip()]
    embedded = embed(as_documents([d.content for d in usable]), model, store, what="documents")
    failures = {usable[i].id: why for i, why in embedded.failures.items()}
    failures |= {d.id: "no text" for d in documents if not d.content.strip()}
    indexed = [d for d, ok in zip(usable, embedded.ok, strict=True) if ok]
    return Index(indexed, embedded.vectors, failures)


def embed_probes(
    index: Index,
    queries: Sequence[Query],
    config: ExposureConfig,
    model: Encoder[Rows],
    store: Store[Rows],
) -> Searches:
    """Embed titles, sentences that are held out, and real queries, and the rest of each text.

    queries: of no document. Raises NothingMeasured where none can be embedded.
    """
    plain = probe_texts(index.documents, queries, config)
    kind, target, texts = plain.kind, plain.target, plain.texts
    probes = embed(as_queries(texts), model, store, what="titles and sentences")
    left = as_documents([s.rest for s in plain.sentences])
    rests = embed(left, model, store, what="documents less a sentence")
    usable = probes.ok & _stand_in_exists(kind, rests)
    reasons = _reasons(kind, probes, rests)
    require_some(int(usable.sum()), "probe has a vector", next(iter(reasons.values()), ""))
    return Searches(
        kind=kind[usable],
        target=target[usable],
        text=[text for text, ok in zip(texts, usable, strict=True) if ok],
        vectors=probes.vectors[_rows(probes.ok)[usable]],
        stand_in=_stand_ins(index, kind, target, rests, usable),
        without_sentence=plain.without_sentence,
        failed=[FailedProbe(str(kind[i]), int(target[i]), why) for i, why in reasons.items()],
        drawn=plain.drawn,
    )


def _reasons(
    kind: npt.NDArray[np.str_], probes: Embedded[Rows], rests: Embedded[Rows]
) -> dict[int, str]:
    """Return the row of every probe that cannot be asked, and why."""
    sentences = np.flatnonzero(kind == SENTENCE).tolist()
    reasons = {sentences[i]: why for i, why in rests.failures.items()} | probes.failures
    return dict(sorted(reasons.items()))


def _rows(ok: npt.NDArray[np.bool_]) -> IntArray:
    """Return the row of each item among those that were embedded. Rows of others mean nothing."""
    rows: IntArray = np.cumsum(ok) - 1
    return rows


def _stand_in_exists(kind: npt.NDArray[np.str_], rests: Embedded[Rows]) -> npt.NDArray[np.bool_]:
    exists = np.ones(len(kind), bool)
    exists[kind == SENTENCE] = rests.ok
    return exists


def _stand_ins(
    index: Index,
    kind: npt.NDArray[np.str_],
    target: IntArray,
    rests: Embedded[Rows],
    usable: npt.NDArray[np.bool_],
) -> Rows:
    """Return one row per usable probe: the document's, or its rest's."""
    sentences = kind == SENTENCE
    left = _rows(rests.ok)[usable[sentences]]
    whole = index.vectors[np.maximum(target[usable], 0)]
    return replaced(whole, sentences[usable], rests.vectors[left])


@dataclass(frozen=True)
class ExactSearch:
    """State of every worker: the rows of the documents, and how deep they are searched."""

    documents: Rows
    k: int
    groups: Groups | None = None
    """Chunks by document, where they are folded."""


@dataclass(frozen=True)
class ProbeQueries:
    """Queries. `targets` (-1: none) and the rest as in `known_item_search`. All of n rows."""

    vectors: Rows
    targets: IntArray
    stand_ins: Rows
    hidden: RowLists | None = None

    def part(self, rows: IntArray) -> ProbeQueries:
        """Return some of them."""
        hidden = None if self.hidden is None else self.hidden.part(rows)
        return ProbeQueries(self.vectors[rows], self.targets[rows], self.stand_ins[rows], hidden)


@dataclass(frozen=True)
class ProbeRanks:
    """Ranks of the targets, 0 where there is none, and the best rows, (n,) and (n, k)."""

    rank: IntArray
    top: IntArray
    group_rank: IntArray | None = None
    """Ranks of the targets' groups among groups, where there are any."""

    def arrays(self) -> dict[str, IntArray]:
        """Return the kept values of a part."""
        arrays = {"rank": self.rank, "top": self.top}
        return arrays if self.group_rank is None else {**arrays, "group_rank": self.group_rank}


def begin_search(index: ExactSearch) -> Callable[[ProbeQueries], ProbeRanks]:
    """Return the search with a block of queries, all with a target or all without."""
    rows = index.documents
    documents = scoring_of(np.asarray(rows) if isinstance(rows, np.ndarray) else rows)

    def answer(queries: ProbeQueries) -> ProbeRanks:
        if queries.targets[0] < 0:
            top = search(queries.vectors, documents, index.k).rows
            none = np.zeros(len(top), np.int64)
            return ProbeRanks(none, top, None if index.groups is None else none)
        known = known_item_search(
            queries.vectors, documents, queries.targets, index.k,
            target_vectors=queries.stand_ins, groups=index.groups, hidden=queries.hidden,
        )  # fmt: skip
        return ProbeRanks(known.rank, known.top.rows, known.group_rank)

    return answer


def search_in_parts(
    index: ExactSearch,
    queries: ProbeQueries,
    folder: ArtifactFolder,
    engine: Engine | None = None,
) -> tuple[ProbeRanks, Parts]:
    """Search with every query, but for those of parts that are on disk from before.

    Returns ranks and best rows, and the parts, to be removed when the results are written. Their
    keys are all that determines them. Blocks are those of `known_item_search`, so that its results
    do not depend on where they are made.
    """
    n = len(queries.targets)
    parts = Parts(folder, _key(index, queries))
    blocks = [*_blocks(queries.targets >= 0, queries_per_block(len(index.documents)))]
    missing = [number for number in range(len(blocks)) if number not in parts]
    done = n - sum(len(blocks[number]) for number in missing)
    with progress("searching", n, done=done) as advance:
        for number, ranks in _searched(index, queries, blocks, missing, engine):
            parts.write(number, ranks.arrays())
            advance(len(ranks.rank))
    ranks = ProbeRanks(
        np.zeros(n, np.int64),
        np.zeros((n, min(index.k, len(index.documents))), np.int64),
        None if index.groups is None else np.zeros(n, np.int64),
    )
    whole = ranks.arrays()
    for number, rows in enumerate(blocks):
        for name, values in parts.read(number).items():
            whole[name][rows] = values
    return ranks, parts


def _searched(
    index: ExactSearch,
    queries: ProbeQueries,
    blocks: Sequence[IntArray],
    missing: Sequence[int],
    engine: Engine | None,
) -> Iterator[tuple[int, ProbeRanks]]:
    if not missing:
        return
    pending = (queries.part(blocks[number]) for number in missing)
    if engine is None:
        answer = begin_search(index)
        yield from zip(missing, map(answer, pending), strict=True)
        return
    work = Work[ExactSearch, ProbeQueries, ProbeRanks](
        setup=begin_search, shared=index, what="searching"
    )
    for i, ranks in engine.run(work, pending):
        yield missing[i], ranks


def _blocks(own: np.ndarray, size: int) -> Iterator[IntArray]:
    """Yield positions: of the queries with a target, block by block, then of those without."""
    for these in (own, ~own):
        rows = np.flatnonzero(these)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


def _key(index: ExactSearch, queries: ProbeQueries) -> str:
    arrays = [*arrays_of(index.documents), *arrays_of(queries.vectors), queries.targets]
    arrays += arrays_of(queries.stand_ins)
    arrays += [] if index.groups is None else [index.groups.of]
    hidden = queries.hidden
    arrays += [] if hidden is None else [hidden.of, hidden.starts, hidden.rows]
    parts = (np.ascontiguousarray(a).data for a in arrays)
    return f"search-{content_hash(*parts, str(index.k), size=8).hex()}"


@dataclass(frozen=True)
class VectorProbes:
    """Probes that were searched with."""

    probes: Probes
    searched: Searched
    parents: Parents | None = None
    lists: DocumentLists | None = None
    """Lists of documents, where there are parents."""

    def findings(self, corpus: Sequence[Document], k: int) -> Findings:
        """Return their findings on the documents of a corpus, ordered by id."""
        exposed = summarise_probes(self.probes, len(self.searched.documents), k=k)
        of_parents = None
        if self.parents is not None and self.lists is not None:
            of_parents = fold_findings(corpus, self.parents, self, self.lists, k)
        return Findings(corpus, self.searched, self.probes, exposed, of_parents)


def search_probes(
    index: Index,
    searches: Searches,
    parents: Parents | None,
    k: int,
    folder: ArtifactFolder,
    engine: Engine | None,
) -> tuple[VectorProbes, Parts]:
    """Search with every probe. Return the parts to be removed, too."""
    groups = hidden = None
    if parents is not None:
        groups = parents.groups
        hidden = siblings_with_sentence(
            index.documents, parents, searches.kind.tolist(), searches.target, searches.text
        )
    exact = ExactSearch(index.vectors, k, groups)
    queries = ProbeQueries(searches.vectors, searches.target, searches.stand_in, hidden)
    ranks, parts = search_in_parts(exact, queries, folder, engine)
    probes = Probes(searches.kind, searches.target, searches.text, ranks.rank, ranks.top)
    searched = Searched(
        index.documents, index.failures, searches.without_sentence, searches.failed, searches.drawn
    )
    lists = None
    if groups is not None and hidden is not None and ranks.group_rank is not None:
        in_siblings = int((hidden.of > 0).sum())
        lists = DocumentLists(ranks.group_rank, folded_lists(ranks.top, groups.of), in_siblings)
    return VectorProbes(probes, searched, parents, lists), parts
