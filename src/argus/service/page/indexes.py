"""Open the indexes that pages of `argus serve` search, keep them warm, and look up documents.

`WarmIndexes` shares one encoder and gives retrievers and snapshots to the pages that compare,
explain and repair. `titled` finds documents by words of their title. Questions of the HTTP API are
answered in `argus.service.searcher`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from threading import RLock
from typing import Annotated, cast

from fastapi import Depends, Request

from argus.data.types import Document
from argus.encoders import Encoder
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import IndexSpec, parse_index_spec
from argus.indexes.retriever import IndexRetriever, encoder_of
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import ViewIndex
from argus.service.page.rendering import refused
from argus.service.searcher import IndexSource
from argus.service.state import Service
from argus.service.workplace import Workplace

MAX_TITLES = 20  # documents that are offered at a time


def index_of(workplace: Workplace, folder: Path | None) -> IndexSpec:
    """Return the index that a folder's pages search. Raises InputError where there is none."""
    if (found := workplace.index_of(folder)) is not None:
        return found
    fix = "Make one with argus index build, and name it: argus serve FOLDER --index INDEX."
    raise refused(folder, "no index to search", "a folder that is an index, or --index", fix)


class WarmIndexes:
    """Indexes by folder, with one encoder for all that were made with it.

    The service's searcher holds the index that it searches, and it is not opened again here. The
    lock is held while another is opened, so that no state is read into memory twice at once.
    """

    def __init__(self, service: Service) -> None:
        self.service, self._lock = service, RLock()
        self._own = parse_index_spec(str(service.workplace.index))
        self._indexes: dict[IndexSpec, ViewIndex] = {}
        self._encoders: dict[str, Encoder] = {}
        self._retrievers: dict[IndexSpec, IndexRetriever] = {}

    def retriever(self, spec: IndexSpec) -> IndexRetriever:
        """Return the retriever of an index as it is now."""
        held = self._of_searcher(opens=True)
        if held is not None and spec == self._own:
            return held
        with self._lock:
            index = self._index(spec)
            if spec not in self._retrievers:
                if held is not None:
                    self._encoders.setdefault(held.index.fingerprint, held.encoder)
                if (encoder := self._encoders.get(index.fingerprint)) is None:
                    encoder = self._encoders[index.fingerprint] = encoder_of(index)
                self._retrievers[spec] = IndexRetriever(index, encoder, spec.as_of)
            return self._retrievers[spec]

    def snapshot(self, spec: IndexSpec) -> Snapshot:
        """Return the state of an index in memory. No encoder is loaded for it."""
        held = self._of_searcher(opens=False)
        if held is not None and spec == self._own:
            return held.index.snapshot(held.as_of)
        with self._lock:
            return self._index(spec).snapshot(spec.as_of)

    def _index(self, spec: IndexSpec) -> ViewIndex:
        if spec not in self._indexes:
            self._indexes[spec] = ViewIndex.open(spec.path)
        self._indexes[spec].refresh()
        return self._indexes[spec]

    def _of_searcher(self, *, opens: bool) -> IndexRetriever | None:
        """Return the retriever of the service's searcher, if it searches an index.

        opens: whether it is opened for that.
        """
        place, searcher = self.service.workplace, self.service.searcher
        if place.index is None or place.asks or not (opens or searcher.is_warm):
            return None
        source = searcher.source()
        return source.retriever if isinstance(source, IndexSource) else None


async def _warm_indexes(request: Request) -> WarmIndexes:
    return cast(WarmIndexes, request.app.state.warm_indexes)


Warm = Annotated[WarmIndexes, Depends(_warm_indexes)]
"""A handler's parameter: the warm indexes."""


def titled(snapshot: Snapshot, words: str) -> list[Document]:
    """Return documents whose id or title holds some words, whole titles first, then short ones."""
    import pyarrow.compute as pc

    if not (text := words.strip()):
        return []
    columns = snapshot.columns
    is_one = pc.or_(
        pc.match_substring(columns["source"], text, ignore_case=True),
        pc.match_substring(columns["doc_id"], text, ignore_case=True),
    )
    rows = columns.filter(pc.and_(is_one, pc.equal(columns["kind"], ORIGINAL)))
    rows = rows.select(["doc_id", "source"]).slice(0, 50 * MAX_TITLES).to_pylist()
    return nearest_titles((Document(row["doc_id"], "", row["source"] or "") for row in rows), text)


def nearest_titles(documents: Iterable[Document], words: str) -> list[Document]:
    """Return the nearest to some words: whole titles and ids, then beginnings, then short ones."""
    low = words.strip().casefold()

    def nearness(one: Document) -> tuple[bool, bool, int, str]:
        title = one.title.casefold()
        is_whole = low in (one.id.casefold(), title)
        return not is_whole, not title.startswith(low), len(one.title), one.id

    return sorted(documents, key=nearness)[:MAX_TITLES]


def document_of(snapshot: Snapshot, doc_id: str) -> Document:
    """Return a document with its own title and text, empty where this state lacks it."""
    if doc_id in snapshot:
        rows = snapshot.rows_of(doc_id)
        for view in snapshot.columns.slice(rows.start, len(rows)).to_pylist():
            if view["kind"] == ORIGINAL:
                return Document(doc_id, view["text"], view["source"] or "")
    return Document(doc_id, "")
