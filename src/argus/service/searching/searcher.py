"""The searcher of a service: opened once, when the service starts, and warm from then on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from argus.corpora.opening import read_corpus
from argus.data.types import Query, Run
from argus.errors import ArgusError, InputError
from argus.retrievers.config import AskingConfig
from argus.service.searching.batching import Batcher
from argus.service.searching.sources import Answered, IndexSource, ServedRetriever, Source, Text
from argus.service.telemetry.log import Log
from argus.service.workplace import Workplace

State = Literal["ready", "opening", "failed"]


@dataclass
class Searcher:
    """Answers questions from what a workplace searches; questions that come at once in one batch.

    It is an `argus.Retriever`. seen: is told the size of each batch. Raises InputError where there
    is nothing to search, ArgusError where it cannot be opened; the next question tries again.
    """

    workplace: Workplace
    seen: Callable[[int], None] = lambda size: None
    log: Log = field(default_factory=Log)
    _source: Source | None = field(default=None, repr=False)
    _opening: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _warming: threading.Thread | None = field(default=None, repr=False)
    _since: float = field(default=0.0, repr=False)
    _failed: bool = False
    _batcher: Batcher[Answered] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._batcher = Batcher(lambda texts, k: self.source().answer(texts, k), self._seen)

    def _seen(self, size: int) -> None:
        self.seen(size)

    @property
    def name(self) -> str:
        """What is searched, as the command line named it."""
        place = self.workplace
        return place.retriever or place.store or place.index or "nothing"

    @property
    def is_warm(self) -> bool:
        """Whether it is open."""
        return self._source is not None

    @property
    def waiting(self) -> int:
        """Questions that wait now."""
        return self._batcher.waiting

    def state(self) -> State:
        """Return whether it is open; where it is not, it is being opened from now on."""
        if self.is_warm or self.workplace.searches is None:
            return "ready"
        if self._warming is None or not self._warming.is_alive():
            failed, self._failed = self._failed, False
            self._since = time.monotonic()
            self._warming = threading.Thread(target=self._warm_up, daemon=True)
            self._warming.start()
            return "failed" if failed else "opening"
        return "opening"

    def opening_s(self) -> float | None:
        """Return for how many seconds it has been opening; None where it does not."""
        return time.monotonic() - self._since if self.state() == "opening" else None

    def _warm_up(self) -> None:
        try:
            self.source()
        except Exception as error:  # whoever asks is told; here nobody does
            self._failed = True
            self.log.write("not ready", error=str(error))

    def source(self) -> Source:
        """Return what is searched, opened; other threads wait for the one that opens it."""
        with self._opening:
            if self._source is None:
                self._source = _open(self.workplace, self.log)
            return self._source

    async def ask(self, text: str, k: int) -> Answered:
        """Return the k best documents for a question."""
        return await asyncio.wrap_future(self._batcher.ask(text, k))

    def answer(self, texts: Sequence[str], k: int) -> list[Answered]:
        """Return the k best documents for each question; for threads that may wait."""
        return [future.result() for future in [self._batcher.ask(text, k) for text in texts]]

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return at most k documents per query."""
        answers = self.answer([query.text for query in queries], k)
        return {
            query.id: {hit["id"]: hit["score"] for hit in answered.hits}
            for query, answered in zip(queries, answers, strict=True)
        }

    def texts(self, ids: Collection[str]) -> dict[str, Text]:
        """Return title and text of documents, where they are known."""
        return self.source().texts(ids)

    def refresh(self) -> None:
        """See what has been written to the index; the old version answers until it is read."""
        if self._source is not None:
            self._source.refresh()

    def close(self) -> None:
        """Answer no more."""
        self._batcher.close()
        if self._source is not None:
            self._source.close()


def _open(workplace: Workplace, log: Log) -> Source:
    """Open what a workplace searches: a retriever or a store before an index."""
    name = workplace.retriever or workplace.store
    if name is None and workplace.index is None:
        raise InputError(
            "nothing to search",
            expected="an index among the folders, or --index, --retriever or --store",
            fix="Build one with `argus index build`, and start the service over it.",
        )
    try:
        if name is None:
            return IndexSource(str(workplace.index), log)
        corpus = workplace.corpus
        documents = [] if corpus is None else read_corpus(corpus, workplace.fields)
        asking = workplace.asking or AskingConfig()
        return ServedRetriever(name, asking, workplace.encoder, documents)
    except InputError as error:  # of the command line, not of the question
        raise ArgusError(str(error)) from error
