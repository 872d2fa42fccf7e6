"""Ask a retriever many queries: several at once, at a pace, each within its time, each kept."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

from argus.data.types import Query, Run
from argus.errors import ArgusError
from argus.hidden import without_likely
from argus.http_retry import Pace
from argus.progress import Advance, progress
from argus.retrievers.config import AskingConfig
from argus.retrievers.forecast import forecast
from argus.retrievers.kept import KeptAnswers
from argus.retrievers.protocol import Answers, AskLater, RetrievalError
from argus.retrievers.python_file import first_line

T = TypeVar("T")
Answer = dict[str, float]
BATCH = 64
"""Queries that a retriever is given at once that takes several."""
ENDS = (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit)
"""What ends the asking; whatever else a retriever raises is a failed query."""
ATTEMPTS = 3
"""Of one query, where the server asks for a pause."""


class Answering(Protocol):
    """Something that is asked one query at a time."""

    @property
    def name(self) -> str:
        """For messages."""

    def session(self) -> AbstractAsyncContextManager[None]:
        """Hold what the queries of one job share, such as connections."""

    async def answer(self, text: str, k: int) -> Answer:
        """Return documents with falling scores. Raises RetrievalError, and ArgusError to stop."""


@runtime_checkable
class AnsweringMany(Answering, Protocol):
    """Something that takes several queries at once."""

    @property
    def takes_all(self) -> bool:
        """Whether it is given all queries at once, since each call costs it much."""

    async def answer_many(self, queries: Sequence[Query], k: int) -> Run:
        """Return an answer to every query. Raises RetrievalError where any of them fails."""


@dataclass(frozen=True)
class _Turns:
    """Hands out turns to ask, one at a time."""

    pace: Pace
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def next(self) -> None:
        """Return when a query may be sent."""
        async with self.lock:
            await self.pace.turn()


@dataclass
class QuerySession:
    """The queries of one job: what is answered, what failed, and when it is given up.

    config: with `at_once` set. Raises ArgusError when `give_up_after` queries in a row have failed;
    what was answered is kept.
    """

    retriever: Answering
    k: int
    config: AskingConfig
    loop: AskingLoop
    kept: KeptAnswers | None = None
    answers: dict[str, Answer] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    _failed_in_a_row: int = 0
    _n_kept: int = 0

    def ask(self, queries: Sequence[Query]) -> Answers:
        """Ask what is not kept yet; a query without text finds nothing, and is not sent."""
        self._take_kept(queries)
        pending = [query for query in queries if query.id not in self.answers]
        if pending:
            self.loop.run(lambda: self._ask_pending(pending))
        ids = (query.id for query in queries)
        run = {i: self.answers[i] for i in ids if i in self.answers}
        return Answers(run, self.failed, self._n_kept)

    def _take_kept(self, queries: Sequence[Query]) -> None:
        answers = self.kept.read((query.text for query in queries), self.k) if self.kept else {}
        for query in queries:
            if not query.text.strip():
                self.answers[query.id] = {}
            elif (answer := answers.get(query.text)) is not None:
                self.answers[query.id] = dict(answer)
                self._n_kept += 1

    async def _ask_pending(self, queries: Sequence[Query]) -> None:
        async with self.retriever.session():
            await self._ask_in_session(queries)

    async def _ask_in_session(self, queries: Sequence[Query]) -> None:
        with progress("asking", len(queries)) as bar:
            advance = forecast(self.retriever.name, len(queries), self._n_kept, bar)
            if isinstance(self.retriever, AnsweringMany) and self.config.per_minute is None:
                queries = await self._ask_in_batches(self.retriever, queries, advance)
            pace, rest = _Turns(Pace(self.config.per_minute)), iter(queries)
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self.config.at_once or 1, len(queries))):
                        group.create_task(self._work(rest, pace, advance))
            except* ArgusError as errors:
                raise _first(errors) from None

    async def _ask_in_batches(
        self, retriever: AnsweringMany, queries: Sequence[Query], advance: Advance
    ) -> list[Query]:
        """Return the queries of batches that failed: to be asked alone, so that few fail."""
        left: list[Query] = []
        size = len(queries) if retriever.takes_all else BATCH
        for i in range(0, len(queries), size):
            batch = queries[i : i + size]
            timeout_s = self.config.timeout_s and self.config.timeout_s * len(batch)
            try:
                async with asyncio.timeout(timeout_s):
                    answers = await retriever.answer_many(batch, self.k)
            except (ArgusError, *ENDS):
                raise
            except BaseException:  # whatever it was, alone they tell
                left += batch
                continue
            for query in batch:
                self._keep(query, answers[query.id])
            advance(len(batch))
        return left

    async def _work(self, rest: Iterator[Query], turns: _Turns, advance: Advance) -> None:
        """Take the queries that nobody took, one after the other."""
        for query in rest:
            for attempt in range(1, ATTEMPTS + 1):
                if not turns.pace.is_free:
                    await turns.next()
                pause_s = await self._ask_one(query, is_last=attempt == ATTEMPTS)
                if pause_s is None:
                    break
                turns.pace.pause(pause_s)
            advance(1)

    async def _ask_one(self, query: Query, *, is_last: bool) -> float | None:
        """Ask once; return seconds to wait before the same query is asked again, None if not."""
        timeout_s = self.config.timeout_s
        limit = None if timeout_s is None else asyncio.timeout(timeout_s)
        try:
            if limit is None:  # a timeout that never comes costs, too
                answer = await self.retriever.answer(query.text, self.k)
            else:
                async with limit:
                    answer = await self.retriever.answer(query.text, self.k)
        except (ArgusError, *ENDS):
            raise
        except RetrievalError as error:
            if isinstance(error, AskLater) and not is_last:
                return error.wait_s
            self._fail(query, str(error))
        except BaseException as error:  # of a stranger's code: one query's trouble, not the job's
            is_late = limit is not None and limit.expired()
            self._fail(query, f"no answer in {timeout_s:g} s" if is_late else raised(error))
        else:
            self._keep(query, answer)
        return None

    def _keep(self, query: Query, answer: Answer) -> None:
        if self.kept:
            self.kept.put(query.text, self.k, answer)
        self.answers[query.id], self._failed_in_a_row = answer, 0

    def _fail(self, query: Query, reason: str) -> None:
        self.failed[query.id] = reason
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= self.config.give_up_after:
            raise ArgusError(
                f"{self.retriever.name} failed {self._failed_in_a_row} queries in a row; the last: "
                f"{reason}. What was answered so far is kept: once that is mended, the same "
                "command asks only the rest."
            )


@dataclass
class AskingLoop:
    """The event loop of all that one retriever is asked: its connections may last as long.

    Where the caller's thread has a loop already (a notebook), each run is made in another thread.
    """

    _runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run to the end."""

        def run() -> T:
            try:
                with _ctrl_c_ends_calls():
                    return self._runner.run(work())
            except KeyboardInterrupt:  # of tasks that end by it nobody asks for the result
                self._runner.get_loop().set_exception_handler(lambda *_: None)
                raise

        return _where_no_loop_is(run)

    def close(self) -> None:
        """Cancel what is left, and close the loop."""
        _where_no_loop_is(self._runner.close)


@contextmanager
def _ctrl_c_ends_calls() -> Iterator[None]:
    """Have Ctrl-C end a call that blocks, too: asyncio's own way waits until it returns."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _where_no_loop_is(call: Callable[[], T]) -> T:
    if not _has_loop():
        return call()
    with ThreadPoolExecutor(1, "argus-asking") as pool:
        return pool.submit(call).result()


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def raised(error: BaseException) -> str:
    """Return what an error of a stranger's code says, for the query that failed; no secrets.

    Of a group, such as those of anyio, it is the first that says something.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"raised {type(error).__name__}: {without_likely(first_line(error))}"


async def in_a_thread(function: Callable[[], T]) -> T:
    """Return what a blocking call returns. A call that hangs is left behind, and ends with us."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def deliver(settle: Callable[[Any], None], value: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(lambda: None if future.done() else settle(value))

    def run() -> None:
        try:
            result = function()
        except StopIteration as error:  # which no future can hold
            stopped = RuntimeError("StopIteration: an iterator had nothing left")
            stopped.__cause__ = error
            deliver(future.set_exception, stopped)
        except BaseException as error:
            deliver(future.set_exception, error)
        else:
            deliver(future.set_result, result)

    threading.Thread(target=run, name="argus-retriever", daemon=True).start()
    return await future


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
