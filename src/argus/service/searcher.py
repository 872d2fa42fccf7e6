"""Search an index, a retriever or a store that is opened once and kept warm, in batches.

The searching of `argus serve`: question text -> hits, from any thread. One thread answers.
Questions that come meanwhile wait, and are then embedded and answered together. A single question
never waits for others. `argus.service.answering` replaces superseded hits afterwards.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, Literal

from argus.corpora.opening import read_corpus
from argus.data.types import Query, Run
from argus.errors import ArgusError, EndpointRefusal, InputError
from argus.indexes.retriever import Hit, IndexRetriever, hits_of, own_texts
from argus.indexes.views import ViewIndex
from argus.retrievers.config import AskingConfig
from argus.retrievers.dense import open_index
from argus.retrievers.opening import opened
from argus.service.telemetry import Log
from argus.service.workplace import Workplace

AT_ONCE = 64  # questions of one batch
WAITING = 1024  # questions that may wait before new ones are refused
CHECK_S = 1.0  # least seconds between two looks at an index for a new version
State = Literal["ready", "opening", "failed"]
Text = tuple[str, str]
"""Title and text of a document."""


class TooManyQuestions(ArgusError):
    """More questions wait than the service holds."""


class Stopped(ArgusError):
    """The service ends."""


class Batcher:
    """Answer questions in batches, in a thread that starts with the first one.

    answer: takes texts and k, and returns an answer each. If it raises, each question of the batch
    is asked again by itself: a text that cannot be embedded fails alone. seen: called with the size
    of each batch.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[str], int], Sequence[Any]],
        seen: Callable[[int], object] = lambda size: None,
    ) -> None:
        self._answer, self._seen = answer, seen
        self._queue: queue.Queue[tuple[str, int, Future[Any]] | None] = queue.Queue(WAITING)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def ask(self, text: str, k: int) -> Future[Any]:
        """Return the answer to come. Raises TooManyQuestions, and Stopped after `close`."""
        future: Future[Any] = Future()
        with self._lock:
            if self._stopped:
                raise Stopped("The service ends. Ask again when it is back.")
            try:
                self._queue.put_nowait((text, k, future))
            except queue.Full:
                full = f"{WAITING:,} questions wait already. Ask again in a moment."
                raise TooManyQuestions(full) from None
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="argus-search", daemon=True)
                self._thread.start()
        return future

    @property
    def waiting(self) -> int:
        """Number of questions that wait now."""
        return self._queue.qsize()

    def close(self) -> None:
        """Refuse new questions, fail those that wait, and join the thread."""
        with self._lock:
            self._stopped = True
        with suppress(queue.Empty):
            while True:
                item = self._queue.get_nowait()
                if item and item[2].set_running_or_notify_cancel():
                    item[2].set_exception(Stopped("The service ends."))
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()

    def _work(self) -> None:
        is_last = False
        while not is_last:
            items = [self._queue.get()]
            with suppress(queue.Empty):
                while len(items) < AT_ONCE:
                    items.append(self._queue.get_nowait())
            is_last = None in items
            batch = [one for one in items if one and one[2].set_running_or_notify_cancel()]
            if batch:
                self._seen(len(batch))
            for k in dict.fromkeys(k for _, k, _ in batch):  # a deeper search may rank otherwise
                self._settle({future: text for text, own, future in batch if own == k}, k)

    def _settle(self, batch: dict[Future[Any], str], k: int) -> None:
        try:
            answers = self._answer(list(batch.values()), k)
        except BaseException as error:
            if len(batch) == 1 or isinstance(error, EndpointRefusal):
                for future in batch:
                    future.set_exception(error)
                return
            for future, text in batch.items():
                self._settle({future: text}, k)
        else:
            for future, answer in zip(batch, answers, strict=True):
                future.set_result(answer)


@dataclass(frozen=True, slots=True)
class Answered:
    """Hits of one question. version: of the index, None for a retriever or store."""

    hits: list[Hit]
    ranked_by: str
    warning: str | None
    version: int | None


class IndexSource:
    """An index in memory with its encoder.

    A reader never waits for a writer. A new version is read beside the one that answers, and takes
    its place when it is whole. If it cannot be read, the last version goes on answering.
    """

    def __init__(self, name: str, log: Log | None = None) -> None:
        self._name, self._log = name, log or Log()
        self.retriever = _warmed(open_index(name))
        self._watched = ViewIndex.open(self.retriever.index.path)
        self._checked = time.monotonic()
        self._reading = threading.Lock()
        hits_of(self.retriever, ["a question"], 1)  # compile now, not at the first question

    def answer(self, texts: Sequence[str], k: int) -> list[Answered]:
        """Return the best documents of each question, by the version in memory."""
        if time.monotonic() - self._checked > CHECK_S and not self._reading.locked():
            self._checked = time.monotonic()
            threading.Thread(target=self._refresh, name="argus-index", daemon=True).start()
        retriever = self.retriever
        return [
            Answered(hits, retriever.name, None, retriever.index.version)
            for hits in hits_of(retriever, texts, k)
        ]

    def texts(self, ids: Collection[str]) -> dict[str, Text]:
        """Return title and text of documents."""
        return own_texts(self.retriever, ids)

    def _refresh(self) -> None:
        """Read the index again if it has changed."""
        try:
            with self._reading:
                self._watched.refresh()
                old = self.retriever
                new = self._watched.version, self._watched.header
                if new != (old.index.version, old.index.header):
                    index = ViewIndex.open(old.index.path)
                    is_same_encoder = index.fingerprint == old.index.fingerprint
                    again = old.over(index) if is_same_encoder else open_index(self._name)
                    self.retriever = _warmed(again)
        except Exception as error:  # the version in memory goes on answering
            self._log.write("index not read again", error=str(error))


def _warmed(retriever: IndexRetriever) -> IndexRetriever:
    """Load vectors, and words if they count, into memory."""
    retriever.index.snapshot(retriever.as_of)
    if retriever.hybrid is not None:
        retriever.lexical()
    return retriever


class ServedRetriever:
    """A retriever or a store. documents: its corpus, for their texts, if it is known."""

    def __init__(self, place: Workplace) -> None:
        corpus, self._stack = place.chunks.corpus, ExitStack()
        self.documents = [] if corpus is None else read_corpus(corpus, place.chunks.fields)
        self._texts = {one.id: (one.title, one.text) for one in self.documents}
        config = place.asking or AskingConfig()
        self._open = self._stack.enter_context(
            opened(str(place.asks), documents=self.documents, config=config, encoder=place.encoder)
        )
        self.close = self._stack.close

    def answer(self, texts: Sequence[str], k: int) -> list[Answered]:
        """Return the best documents of each question. Raises ArgusError if one fails."""
        queries = [Query(str(number), text) for number, text in enumerate(texts)]
        answers = self._open.ask(queries, k)
        if answers.failed:
            raise ArgusError(f"{self._open.name} failed: {next(iter(answers.failed.values()))}")
        return [
            Answered(
                [
                    hit_of(id_, self._texts.get(id_, ("", "")), rank, score)
                    for rank, (id_, score) in enumerate(answers.run[query.id].items(), 1)
                ],
                self._open.name, answers.warning, None,
            )
            for query in queries
        ]  # fmt: skip

    def texts(self, ids: Collection[str]) -> dict[str, Text]:
        """Return title and text of those documents that the corpus has."""
        return {id_: self._texts[id_] for id_ in ids if id_ in self._texts}


def hit_of(id_: str, text: Text, rank: int = 0, score: float = 0.0) -> Hit:
    """Return a hit by its document alone, without a view."""
    return {
        "rank": rank, "id": id_, "score": score, "view": None, "kind": None, "text": text[1],
        "title": text[0], "scenario": None,
    }  # fmt: skip


class Searcher:
    """Answer questions from the index, retriever or store of a workplace.

    It is an `argus.Retriever`. seen: called with the size of each batch. Raises InputError if there
    is nothing to search, ArgusError if it cannot be opened. The next question tries again.
    """

    def __init__(
        self,
        workplace: Workplace,
        seen: Callable[[int], object] = lambda size: None,
        log: Log | None = None,
    ) -> None:
        self.workplace, self.log = workplace, log or Log()
        self.name = workplace.searches or "nothing"
        self._source: IndexSource | ServedRetriever | None = None
        self._opening = threading.Lock()
        self._warming: threading.Thread | None = None
        self._failed = False
        self._batcher = Batcher(lambda texts, k: self.source().answer(texts, k), seen)

    @property
    def is_warm(self) -> bool:
        """Tell whether it is open."""
        return self._source is not None

    @property
    def waiting(self) -> int:
        """Number of questions that wait now."""
        return self._batcher.waiting

    def state(self) -> State:
        """Return whether it is open, and begin to open it in the background if not."""
        if self.is_warm or self.workplace.searches is None:
            return "ready"
        if self._warming is not None and self._warming.is_alive():
            return "opening"
        failed, self._failed = self._failed, False
        self._warming = threading.Thread(target=self._warm_up, daemon=True)
        self._warming.start()
        return "failed" if failed else "opening"

    def _warm_up(self) -> None:
        try:
            self.source()
        except Exception as error:  # a question raises it again
            self._failed = True
            self.log.write("not ready", error=str(error))

    def source(self) -> IndexSource | ServedRetriever:
        """Return the opened source. Other threads wait for the one that opens it."""
        with self._opening:
            if self._source is None:
                place = self.workplace
                if place.searches is None:
                    expected = "an index among the folders, or --index, --retriever or --store"
                    fix = "Build one with `argus index build`, and start the service over it."
                    raise InputError("nothing to search", expected=expected, fix=fix)
                try:
                    if place.asks is None:
                        self._source = IndexSource(place.searches, self.log)
                    else:
                        self._source = ServedRetriever(place)
                except InputError as error:  # of the command line, not of the question
                    raise ArgusError(str(error)) from error
            return self._source

    async def ask(self, text: str, k: int) -> Answered:
        """Return the k best documents for a question."""
        return await asyncio.wrap_future(self._batcher.ask(text, k))

    def answer(self, texts: Sequence[str], k: int) -> list[Answered]:
        """Return the k best documents for each question. The calling thread waits."""
        return [future.result() for future in [self._batcher.ask(text, k) for text in texts]]

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return at most k documents per query."""
        answers = self.answer([query.text for query in queries], k)
        return {
            query.id: {hit["id"]: hit["score"] for hit in answered.hits}
            for query, answered in zip(queries, answers, strict=True)
        }

    def close(self) -> None:
        """Refuse new questions, and close connections."""
        self._batcher.close()
        if isinstance(self._source, ServedRetriever):
            self._source.close()
