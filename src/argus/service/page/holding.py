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

    def retriever(self, spec: IndexSpec) -> IndexRetriever:
        """Return what searches an index, as it is now."""
        from argus.indexes.retriever import IndexRetriever, encoder_of
        from argus.indexes.views import ViewIndex

        place = self.service.workplace
        if place.index is not None and spec == parse_index_spec(place.index):
            source = None if place.retriever or place.store else self.service.searcher.source()
            if isinstance(source, IndexSource):
                return source.retriever
        with self.lock:
            kept = self._opened.get(spec)
            if kept is not None:
                kept.index.refresh()
                return kept
            index = ViewIndex.open(spec.path)
            self._take_over()
            encoder = self._encoders.get(index.fingerprint)
            if encoder is None:
                encoder = self._encoders[index.fingerprint] = encoder_of(index)
            made = self._opened[spec] = IndexRetriever(index, encoder, spec.as_of)
            return made

    def _take_over(self) -> None:
        """Share the encoder that the service's own searcher has loaded."""
        if self.service.workplace.searches is None:
            return
        source = self.service.searcher.source()
        if isinstance(source, IndexSource):
            held = source.retriever
            self._encoders.setdefault(held.index.fingerprint, held.encoder)

    def snapshot(self, spec: IndexSpec) -> Snapshot:
        """Return the state of an index in memory."""
        with self.lock:
            return self.retriever(spec).index.snapshot(spec.as_of)


def warm_indexes(request: Request) -> WarmIndexes:
    """Return the service's warm indexes."""
    state = request.app.state
    if not hasattr(state, "warm_indexes"):
        state.warm_indexes = WarmIndexes(service_of(request))
    return cast(WarmIndexes, state.warm_indexes)


Warm = Annotated[WarmIndexes, Depends(warm_indexes)]
"""A handler's parameter: the warm indexes."""
