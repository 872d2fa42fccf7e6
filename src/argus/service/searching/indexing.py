"""The index follows the stream: documents that come are embedded, those that go are taken out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

from argus.data.types import Document
from argus.indexes.job import add_documents, delete_documents
from argus.indexes.spec import parse_index_spec
from argus.indexes.views import ORIGINAL, ViewIndex
from argus.service.searching.authority import ServedAuthority
from argus.service.searching.searcher import Searcher
from argus.service.searching.sources import IndexSource
from argus.service.telemetry.log import Log
from argus.service.workplace import Workplace

AGAIN_S = 5.0
"""Seconds until what could not be written is tried again."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What is to be done that an index holds the documents of a stream.

    held: documents that it holds with a text that the stream never brought; they stay.
    """

    gone: list[str]
    come: list[Document]
    held: list[str]


class Indexing:
    """Brings an index to what the stream says, in the background, by the encoder that is warm.

    Nothing is noted down: what is missing is seen by comparing the two, so that a service that was
    killed goes on from the journal. writing: holds a folder against the jobs that write it.
    """

    def __init__(
        self,
        workplace: Workplace,
        authority: ServedAuthority,
        searcher: Searcher,
        log: Log,
        writing: Callable[[Path], AbstractAsyncContextManager[None]],
    ) -> None:
        self.why_not = why_not_indexed(workplace)
        self.held: set[str] = set()
        """Documents that the index holds otherwise than the stream says."""
        self._place, self._authority, self._searcher = workplace, authority, searcher
        self._log, self._writing = log, writing
        self._due: set[str] = set()
        self._under_way: set[str] = set()
        self._lock = threading.Lock()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> list[str]:
        """Documents that came or went, and of which the index does not know yet."""
        with self._lock:
            return sorted(self._due | self._under_way)

    def want(self, ids: Collection[str]) -> None:
        """Have the index follow what became of some records; called in the event loop."""
        if self.why_not is None and ids:
            with self._lock:
                self._due |= set(ids)
            self._wanted.set()

    def start(self) -> None:
        """Begin to follow, first with what came before the last service ended."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Follow no more; what is being written is written whole."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        if self._authority.has_journal:
            await self._insist(self._begin)
        while self.why_not is None:
            await self._wanted.wait()
            self._wanted.clear()
            await self._insist(self._write)

    async def _begin(self) -> None:
        """Want what came before; read where nothing is indexed, too, so that damage is told."""
        self.want(await asyncio.to_thread(self._authority.brought))

    async def _write(self) -> None:
        async with self._writing(self._path):
            await asyncio.shield(asyncio.to_thread(self._follow))

    async def _insist(self, step: Callable[[], Awaitable[None]]) -> None:
        """Take a step, again and again until it can be taken; the log has why it cannot."""
        while True:
            try:
                return await step()
            except Exception as error:  # else what comes from then on would wait for ever
                self._log.write(
                    "records not indexed", error=str(error), kind=type(error).__name__,
                    waiting=len(self.waiting),
                )  # fmt: skip
                await asyncio.sleep(AGAIN_S)

    def _follow(self) -> None:
        """Write what is due to the index, and have the next version of it read."""
        with self._lock:
            self._due, self._under_way = set(), self._due | self._under_way
        change = self._difference(self._under_way)
        if change.gone:
            delete_documents(self._path, change.gone)
        if change.come:
            source = self._searcher.source()
            assert isinstance(source, IndexSource)
            add_documents(self._path, change.come, encoder=source.retriever.encoder)
        self._searcher.refresh()
        with self._lock:
            self.held = (self.held - self._under_way) | set(change.held)
            self._under_way = set()
        self._log.write(
            "records indexed", added=len(change.come), removed=len(change.gone),
            held=len(change.held),
        )  # fmt: skip

    def _difference(self, ids: Collection[str]) -> Difference:
        views = ViewIndex.open(self._path).views_of_all(ids)
        change = Difference([], [], [])
        for one in self._authority.streamed(ids):
            own = next((v.text for v in views.get(one.id, ()) if v.kind == ORIGINAL), None)
            document = one.document
            if own == (None if document is None else document.content):
                continue
            if own is not None and not one.has_brought(own):
                change.held.append(one.id)
                continue
            if own is not None:
                change.gone.append(one.id)
            if document is not None:
                change.come.append(document)
        return change

    @property
    def _path(self) -> Path:
        return parse_index_spec(str(self._place.index)).path


def why_not_indexed(place: Workplace) -> str | None:
    """Return why documents of the stream do not enter what is searched; None where they do."""
    if place.retriever or place.store:
        return (
            f"{place.searches} is searched, which is not the service's to write: add the documents "
            "where it retrieves from"
        )
    if place.index is None:
        return "no index is searched: start the service over one"
    spec = parse_index_spec(place.index)
    if spec.as_of is not None:
        return f"the state {spec.as_of!r} of the index is searched, to which nothing is added"
    if not place.contains(spec.path):
        return f"{spec.path} lies outside the folders of the service: start it over that one, too"
    return None
