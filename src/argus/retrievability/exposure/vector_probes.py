"""Probes over Argus's own vectors: searched with, and folded where documents are chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argus.data.folders import ArtifactFolder
from argus.data.types import Document
from argus.engine import Engine
from argus.jobs.parts import Parts
from argus.retrievability.exposure.embedding import Index, Searches
from argus.retrievability.exposure.findings import Findings, Searched
from argus.retrievability.exposure.parents import (
    DocumentLists,
    Parents,
    fold_findings,
    folded_lists,
    siblings_with_sentence,
)
from argus.retrievability.exposure.probes import Probes, summarise_probes
from argus.retrievability.exposure.search import ExactSearch, ProbeQueries, search_in_parts


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
