"""The index that pages search: opened once, kept warm, read anew when it was changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, Request

from argus.errors import InputError
from argus.indexes.header import FILE as INDEX_FILE
from argus.indexes.spec import IndexSpec, parse_index_spec
from argus.service.searching.sources import IndexSource
from argus.service.state import Service, service_of
from argus.service.workplace import Workplace

if TYPE_CHECKING:
    from argus.encoders import Encoder
    from argus.indexes.retriever import IndexRetriever
    from argus.indexes.snapshot import Snapshot
    from argus.indexes.views import ViewIndex


def index_of(workplace: Workplace, folder: Path | None) -> IndexSpec:
    """Return the index that a folder's pages search: the folder itself, else the workplace's.

    Raises InputError where there is none.
    """
    if folder is not None and (folder / INDEX_FILE).is_file():
        return IndexSpec(folder)
    if workplace.index is not None:
        return parse_index_spec(workplace.index)
    raise InputError(
        "no index to search",
        expected="a folder that is an index, or --index",
        fix="Make one with argus index build, and name it: argus serve FOLDER --index INDEX.",
        where=folder,
    )


@dataclass
class WarmIndexes:
    """Indexes by folder, one encoder for all that were made with it.

    The index that the service itself searches is held once, by its searcher. lock: held while
    another is opened: reading a state into memory twice at once would double it.
    """

    service: Service
    lock: RLock = field(default_factory=RLock)
    _opened: dict[IndexSpec, IndexRetriever] = field(default_factory=dict)
    _encoders: dict[str, Encoder] = field(default_factory=dict)
    _read: dict[IndexSpec, ViewIndex] = field(default_factory=dict)
    """Those that only texts were read of: no encoder is loaded for these."""

    def retriever(self, spec: IndexSpec) -> IndexRetriever:
        """Return what searches an index, as it is now."""
        from argus.indexes.retriever import IndexRetriever, encoder_of

        if (held := self._of_searcher(spec, opens=True)) is not None:
            return held
        with self.lock:
            retriever = self._opened.get(spec)
            if retriever is not None:
                retriever.index.refresh()
                return retriever
            index = self._index(spec)
            if (held := self._of_searcher(None, opens=True)) is not None:
                self._encoders.setdefault(held.index.fingerprint, held.encoder)
            encoder = self._encoders.get(index.fingerprint)
            if encoder is None:
                encoder = self._encoders[index.fingerprint] = encoder_of(index)
            made = self._opened[spec] = IndexRetriever(index, encoder, spec.as_of)
            return made

    def snapshot(self, spec: IndexSpec) -> Snapshot:
        """Return the state of an index in memory; no encoder is loaded for it."""
        if (held := self._of_searcher(spec, opens=False)) is not None:
            self._read.pop(spec, None)
            return held.index.snapshot(held.as_of)
        with self.lock:
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
        """Return what the service's own searcher holds, if that is this index (None: any).

        opens: whether it is opened for that.
        """
        place, searcher = self.service.workplace, self.service.searcher
        if place.index is None or place.retriever or place.store:
            return None
        if spec is not None and spec != parse_index_spec(place.index):
            return None
        if not opens and not searcher.is_warm:
            return None
        source = searcher.source()
        return source.retriever if isinstance(source, IndexSource) else None


def warm_indexes(request: Request) -> WarmIndexes:
    """Return the service's warm indexes."""
    state = request.app.state
    if not hasattr(state, "warm_indexes"):
        state.warm_indexes = WarmIndexes(service_of(request))
    return cast(WarmIndexes, state.warm_indexes)


Warm = Annotated[WarmIndexes, Depends(warm_indexes)]
"""A handler's parameter: the warm indexes."""
