"""Chunks folded to the documents they are of: the same probes, asked of documents.

A document counts by its best chunk, so that a chunk's siblings are no rivals of it, and its rank is
one among documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from argus.data.texts import holders
from argus.data.types import Document, IntArray
from argus.indexes.dense import Groups, RowLists
from argus.retrievability.exposure.findings import Findings, ParentFindings, Searched
from argus.retrievability.exposure.probes import (
    SENTENCE,
    TITLE,
    FailedProbe,
    Probes,
    summarise_probes,
)


@dataclass(frozen=True)
class Parents:
    """The document of every chunk. Chunks without text are of one, too, but of no group."""

    field: str
    of_chunk: Mapping[str, str]
    """Id of each chunk of the corpus to that of its document."""
    ids: list[str]
    """Ids of documents with a chunk that can be retrieved, in order."""
    groups: Groups
    """Positions of these chunks in `ids`."""

    @classmethod
    def of(cls, field: str, of_chunk: Mapping[str, str], chunks: Sequence[Document]) -> Parents:
        """Group chunks that can be retrieved. of_chunk: as `read_parents` returns it."""
        ids = sorted({of_chunk[chunk.id] for chunk in chunks})
        places = {id_: place for place, id_ in enumerate(ids)}
        rows = [places[of_chunk[chunk.id]] for chunk in chunks]
        return cls(field, of_chunk, ids, Groups(np.array(rows, np.int64)))

    def documents(self, chunks: Sequence[Document]) -> list[Document]:
        """Return the documents of some chunks, by id, with the title that all of theirs share."""
        titles: dict[str, set[str]] = {}
        for chunk in chunks:
            titles.setdefault(self.of_chunk[chunk.id], set()).add(chunk.title)
        return [
            Document(id_, "", next(iter(own)) if len(own) == 1 else "")
            for id_, own in sorted(titles.items())
        ]


@dataclass(frozen=True)
class DocumentLists:
    """Answers to probes, as documents. rank: as `Probes.rank`. top: the documents of k chunks."""

    rank: IntArray
    top: IntArray
    in_siblings: int = 0


def siblings_with_sentence(
    chunks: Sequence[Document],
    parents: Parents,
    kinds: Sequence[str],
    targets: IntArray,
    texts: Sequence[str],
) -> RowLists:
    """Return, for each probe, the chunks of its document that hold the sentence that asks for it.

    Chunks may overlap: a sentence taken out of one would still stand in the next. List 0, of probes
    that no other chunk answers by itself, is empty. The others may hold the target.
    """
    by_group: dict[int, dict[str, list[int]]] = {}
    for i in np.flatnonzero(np.asarray(kinds) == SENTENCE).tolist():
        group = int(parents.groups.of[targets[i]])
        by_group.setdefault(group, {}).setdefault(texts[i], []).append(i)
    of, lists = np.zeros(len(texts), np.int64), [list[int]()]
    for group, probes in by_group.items():
        rows = parents.groups.rows(group).tolist()
        holding = holders(list(probes), [chunks[row].text for row in rows])
        for own, places in zip(probes.values(), holding, strict=True):
            holds = [rows[place] for place in places]
            answered = [i for i in own if any(row != targets[i] for row in holds)]
            if answered:
                of[answered] = len(lists)
                lists.append(holds)
    return RowLists.of_queries(of, lists)


class RankedChunks(Protocol):
    """Probes of chunks, and the searched chunks."""

    @property
    def probes(self) -> Probes:
        """Those that were answered."""

    @property
    def searched(self) -> Searched:
        """Documents that were searched, and those that could not be."""


def fold_findings(
    corpus: Sequence[Document],
    parents: Parents,
    ranked: RankedChunks,
    lists: DocumentLists,
    k: int,
) -> ParentFindings:
    """Return the figures of the documents of chunks. lists: of each of the probes."""
    searched, probes = ranked.searched, ranked.probes
    of = parents.groups.of
    target = np.where(probes.target >= 0, of[probes.target], -1)
    once = _once(probes, target)
    texts = [probes.text[i] for i in once.tolist()]
    folded = Probes(probes.kind[once], target[once], texts, lists.rank[once], lists.top[once])
    of_documents = Searched(
        parents.documents(searched.documents),
        _failures(parents, searched.failures),
        {int(of[row]): why for row, why in searched.without_sentence.items()},
        [FailedProbe(p.kind, _parent(of, p.target), p.reason) for p in searched.failed],
        None if searched.drawn is None else np.unique(of[searched.drawn]),
    )
    exposure = summarise_probes(folded, len(parents.ids), k=k)
    findings = Findings(parents.documents(corpus), of_documents, folded, exposure)
    return ParentFindings(parents.field, findings, of, lists.rank, lists.in_siblings)


def _once(probes: Probes, target: IntArray) -> IntArray:
    """Return the probes without titles that ask for their document again: its chunks share one."""
    first: dict[tuple[int, str], int] = {}
    again = np.zeros(len(target), bool)
    for i in np.flatnonzero(probes.kind == TITLE).tolist():
        again[i] = first.setdefault((int(target[i]), probes.text[i]), i) != i
    return np.flatnonzero(~again)


def folded_lists(top: IntArray, of: IntArray) -> IntArray:
    """Return the documents of lists of chunks, each once and in its first place. -1 elsewhere."""
    folded = np.where(top >= 0, of[top], -1)
    order = np.argsort(folded, axis=1, kind="stable")
    ordered = np.take_along_axis(folded, order, axis=1)
    again = np.zeros(top.shape, bool)
    np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    folded[again] = -1
    return np.asarray(folded, np.int64)


def _parent(of: IntArray, row: int) -> int:
    return int(of[row]) if row >= 0 else row


def _failures(parents: Parents, failures: Mapping[str, str]) -> dict[str, str]:
    """Return why a document has no chunk that can be retrieved: a failure before a lack of text."""
    out: dict[str, str] = {}
    retrievable = set(parents.ids)
    for chunk, why in failures.items():
        parent = parents.of_chunk[chunk]
        if parent not in retrievable and out.get(parent, "no text") == "no text":
            out[parent] = why
    return out
