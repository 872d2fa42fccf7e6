"""Open the indexes that pages search, keep them warm, and look up documents in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, Request

from argus.errors import InputError
from argus.indexes.header import FILE as INDEX_FILE
from argus.indexes.remedy_views import ORIGINAL
from argus.indexes.spec import IndexSpec, parse_index_spec
from argus.service.page.rendering import any_of
from argus.service.searcher import IndexSource
from argus.service.state import Service, service_of
from argus.service.workplace import Workplace

if TYPE_CHECKING:
    from argus.encoders import Encoder
    from argus.indexes.retriever import IndexRetriever
    from argus.indexes.snapshot import Snapshot
    from argus.indexes.views import ViewIndex

MAX_TITLES = 20  # documents that are offered at a time


def index_of(workplace: Workplace, folder: Path | None) -> IndexSpec:
    """Return the index that a folder's pages search: the folder itself, else the workplace's.

    Raises InputError where there is none.
    """
    if folder is not None and any_of(folder, INDEX_FILE):
        return IndexSpec(folder)
    if workplace.index is not None:
        return parse_index_spec(workplace.index)
    raise InputError(
        "no index to search",
        expected="a folder that is an index, or --index",
        fix="Make one with argus index build, and name it: argus serve FOLDER --index INDEX.",
        where=folder,
    )


class WarmIndexes:
    """Indexes by folder, one encoder for all that were made with it.

    The index that the service itself searches is held once, by its searcher. The lock is held while
    another is opened: reading a state into memory twice at once would double it.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self._lock = RLock()
        self._opened: dict[IndexSpec, IndexRetriever] = {}
        self._encoders: dict[str, Encoder] = {}
        self._read: dict[IndexSpec, ViewIndex] = {}  # for their texts alone, without an encoder

    def retriever(self, spec: IndexSpec) -> IndexRetriever:
        """Return the retriever of an index as it is now."""
        from argus.indexes.retriever import IndexRetriever, encoder_of

        if (held := self._of_searcher(spec, opens=True)) is not None:
            return held
        with self._lock:
            if (retriever := self._opened.get(spec)) is not None:
                retriever.index.refresh()
                return retriever
            index = self._index(spec)
            if (held := self._of_searcher(None, opens=True)) is not None:
                self._encoders.setdefault(held.index.fingerprint, held.encoder)
            if index.fingerprint not in self._encoders:
                self._encoders[index.fingerprint] = encoder_of(index)
            encoder = self._encoders[index.fingerprint]
            made = self._opened[spec] = IndexRetriever(index, encoder, spec.as_of)
            return made

    def snapshot(self, spec: IndexSpec) -> Snapshot:
        """Return the state of an index in memory; no encoder is loaded for it."""
        if (held := self._of_searcher(spec, opens=False)) is not None:
            self._read.pop(spec, None)
            return held.index.snapshot(held.as_of)
        with self._lock:
            index = self._index(spec)
            index.refresh()
            return index.snapshot(spec.as_of)

    def _index(self, spec: IndexSpec) -> ViewIndex:
        from argus.indexes.views import ViewIndex

        if spec in self._opened:
            return self._opened[spec].index
        if spec not in self._read:
            self._read[spec] = ViewIndex.open(spec.path)
        return self._read[spec]

    def _of_searcher(self, spec: IndexSpec | None, *, opens: bool) -> IndexRetriever | None:
        """Return the retriever of the service's searcher, if it is of this index (None: any).

        opens: whether it is opened for that.
        """
        place, searcher = self.service.workplace, self.service.searcher
        if place.index is None or place.asks or not (opens or searcher.is_warm):
            return None
        if spec is not None and spec != parse_index_spec(place.index):
            return None
        source = searcher.source()
        return source.retriever if isinstance(source, IndexSource) else None


def _warm_indexes(request: Request) -> WarmIndexes:
    state = request.app.state
    if not hasattr(state, "warm_indexes"):
        state.warm_indexes = WarmIndexes(service_of(request))
    return cast(WarmIndexes, state.warm_indexes)


Warm = Annotated[WarmIndexes, Depends(_warm_indexes)]
"""A handler's parameter: the warm indexes."""


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document's id, title and text; "" where they are not known."""

    id: str
    title: str
    text: str = ""


def titled(snapshot: Snapshot, words: str) -> list[DocumentText]:
    """Return documents whose id or title holds some words, whole titles first, then short ones."""
    import pyarrow.compute as pc

    text = words.strip()
    if not text:
        return []
    columns = snapshot.columns
    is_one = pc.or_(
        pc.match_substring(columns["source"], text, ignore_case=True),
        pc.match_substring(columns["doc_id"], text, ignore_case=True),
    )
    rows = columns.filter(pc.and_(is_one, pc.equal(columns["kind"], ORIGINAL)))
    rows = rows.select(["doc_id", "source"]).slice(0, 50 * MAX_TITLES)
    return nearest_titles(
        (DocumentText(r["doc_id"], r["source"] or "") for r in rows.to_pylist()), text
    )


def nearest_titles(pairs: Iterable[DocumentText], words: str) -> list[DocumentText]:
    """Return the nearest to some words: whole titles and ids, then beginnings, then short ones."""
    low = words.strip().casefold()

    def nearness(one: DocumentText) -> tuple[bool, bool, int, str]:
        title = one.title.casefold()
        is_whole = low in (one.id.casefold(), title)
        return not is_whole, not title.startswith(low), len(one.title), one.id

    return sorted(pairs, key=nearness)[:MAX_TITLES]


def text_of(snapshot: Snapshot, doc_id: str) -> DocumentText:
    """Return a document's own title and text; empty ones where this state lacks it."""
    if doc_id not in snapshot:
        return DocumentText(doc_id, "")
    rows = snapshot.rows_of(doc_id)
    views = snapshot.columns.slice(rows.start, len(rows)).to_pylist()
    own = next((view for view in views if view["kind"] == ORIGINAL), None)
    return DocumentText(doc_id, *(("",) if own is None else (own["source"] or "", own["text"])))
