"""Ask a retriever many queries: several at once, at a pace, each within its time, each cached.

`QuerySession`: queries -> answers and failures, for every kind of retriever. These derive from
`Source`. `AnswerCache` saves answers on disk as they come, so a killed job does not ask again.
`AskingLoop` runs it all, in a notebook too. `argus.retrievers.opening` opens sessions.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from argus.data.provenance import absorb
from argus.data.reading import parse_json
from argus.data.types import Query, Run
from argus.data.writing import SQLITE_DAMAGE, closing_if_it_fails, connect
from argus.errors import ArgusError, first_line
from argus.hidden import without_likely
from argus.progress import Advance, progress
from argus.retrievers.config import AskingConfig
from argus.retrievers.protocol import Answers, AskLater, RetrievalError

T = TypeVar("T")
Scores = dict[str, float]
LOG = logging.getLogger(__name__)
# Queries in one call to a source that takes several.
BATCH = 64
# Attempts at a query when the server asks for a pause.
ATTEMPTS = 3
# Seconds to wait for a call that was given up, before the next call and before closing.
PATIENCE_S = 5.0
ANSWERS = "answers.sqlite"
# Flush interval of cached answers. A kill loses at most this much.
FLUSH_S = 0.25
# Answers in one SELECT. Older versions of SQLite take 999 parameters.
READ_AT_ONCE = 500
# Exceptions that end the session. Any other exception of a retriever is a failed query.
ENDS = (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit)


class Source(ABC):
    """A retriever of some kind, as a session asks it. `name` is for messages and reports."""

    name: str
    # Queries per call.
    batch = 1

    # A doubt about all answers.
    warning: str | None = None

    @property
    def fingerprint(self) -> str | None:
        """Fingerprint of the encoder of its queries. None without one, or if it is not known."""
        return None

    def session(self) -> AbstractAsyncContextManager[None]:
        """Hold whatever the queries of one job share, such as connections."""
        return nullcontext()

    @abstractmethod
    async def answer(self, queries: Sequence[Query], k: int) -> Run:
        """Return documents with decreasing scores for every query, at most `batch` at once.

        Raises RetrievalError if any query fails, ArgusError to stop the job.
        """


@dataclass
class QuerySession:
    """The queries of one job: answers and failures so far.

    config: with `at_once` set. Raises ArgusError when `give_up_after` queries in a row have failed.
    The cache holds the answers until then.
    """

    source: Source
    k: int
    config: AskingConfig
    loop: AskingLoop
    cache: AnswerCache | None = None
    answers: Run = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    ms: dict[str, float] = field(default_factory=dict)
    _failed_in_a_row: int = 0

    def ask(self, queries: Sequence[Query]) -> Answers:
        """Ask all queries that are not cached. One without text is not sent and finds nothing."""
        cached = self.cache.read((q.text for q in queries), self.k) if self.cache else {}
        n_cached = 0
        for query in queries:
            if not query.text.strip():
                self.answers[query.id] = {}
            elif (answer := cached.get(query.text)) is not None:
                self.answers[query.id] = dict(answer)
                n_cached += 1
        pending = [query for query in queries if query.id not in self.answers]
        if pending:
            self.loop.run(lambda: self._ask_pending(pending))
        run = {q.id: self.answers[q.id] for q in queries if q.id in self.answers}
        return Answers(run, self.failed, n_cached, ms=self.ms)

    async def _ask_pending(self, queries: Sequence[Query]) -> None:
        from argus.http_retry import Pace  # which imports httpx

        async with self.source.session():
            with progress(f"asking {self.source.name}", len(queries)) as advance:
                if self.source.batch != 1 and self.config.per_minute is None:
                    queries = await self._ask_batches(queries, advance)
                pace, turns, rest = Pace(self.config.per_minute), asyncio.Lock(), iter(queries)

                async def work() -> None:
                    """Ask queries that no other worker has begun, one after the other."""
                    for query in rest:
                        for attempt in range(1, ATTEMPTS + 1):
                            if not pace.is_free:
                                async with turns:
                                    await pace.turn()
                            pause_s = await self._ask_one(query, is_last=attempt == ATTEMPTS)
                            if pause_s is None:
                                break
                            pace.pause(pause_s)
                        advance(1)

                try:
                    async with asyncio.TaskGroup() as group:
                        for _ in range(min(self.config.at_once or 1, len(queries))):
                            group.create_task(work())
                except* ArgusError as errors:
                    raise _first(errors) from None

    async def _ask_batches(self, queries: Sequence[Query], advance: Advance) -> list[Query]:
        """Return the queries of batches that failed. Asked one by one, few of them fail."""
        left: list[Query] = []
        size = self.source.batch
        for start in range(0, len(queries), size):
            batch = queries[start : start + size]
            timeout_s = self.config.timeout_s and self.config.timeout_s * len(batch)
            began = time.perf_counter()
            try:
                async with asyncio.timeout(timeout_s):
                    answers = await self.source.answer(batch, self.k)
            except (ArgusError, *ENDS):
                raise
            except BaseException:  # each query gives its own reason later
                left += batch
                continue
            took = 1e3 * (time.perf_counter() - began) / len(batch)
            for query in batch:
                self._save(query, answers[query.id], took)
            advance(len(batch))
        return left

    async def _ask_one(self, query: Query, *, is_last: bool) -> float | None:
        """Ask once. Return the seconds to wait before another attempt, None if it is done."""
        limit, began = asyncio.timeout(self.config.timeout_s), time.perf_counter()
        try:
            async with limit:
                answers = await self.source.answer([query], self.k)
        except (ArgusError, *ENDS):
            raise
        except RetrievalError as error:
            if isinstance(error, AskLater) and not is_last:
                return error.wait_s
            self._fail(query, str(error))
        except BaseException as error:  # of user code: trouble of one query, not of the job
            late = f"no answer in {self.config.timeout_s:g} s" if limit.expired() else ""
            self._fail(query, late or raised(error))
        else:
            self._save(query, answers[query.id], 1e3 * (time.perf_counter() - began))
        return None

    def _save(self, query: Query, answer: Scores, ms: float) -> None:
        self.ms[query.id] = ms
        if self.cache:
            self.cache.put(query.text, self.k, answer)
        self.answers[query.id], self._failed_in_a_row = answer, 0

    def _fail(self, query: Query, reason: str) -> None:
        self.failed[query.id] = reason
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= self.config.give_up_after:
            raise ArgusError(
                f"{self.source.name} failed {self._failed_in_a_row} queries in a row; the last: "
                f"{reason}. What was answered so far is kept: once that is mended, the same "
                "command asks only the rest."
            )


class AnswerCache:
    """Answers of one retriever on disk, by query text and k. A failure is not cached.

    identity: differs between retrievers whose answers differ. Raises ArgusError if the file cannot
    be used.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self.path, self._lock = path, threading.Lock()
        self._identity = absorb(hashlib.blake2b(digest_size=16), identity)
        self._waiting: list[tuple[str, str, str]] = []
        self._written = 0.0
        with self._naming_the_file():
            self._connection = connect(path, check_same_thread=False, isolation_level=None)
            with closing_if_it_fails(self._connection):
                self._connection.executescript(
                    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
                    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, query TEXT NOT NULL,"
                    " answer TEXT NOT NULL) WITHOUT ROWID"
                )

    def close(self) -> None:
        """Write all that waits, and close the file."""
        try:
            with self._lock:
                self._write()
        finally:
            self._connection.close()

    def read(self, texts: Iterable[str], k: int) -> dict[str, Scores]:
        """Return cached answers by text. Damaged ones are left out, so they are asked again."""
        texts = list(dict.fromkeys(texts))
        answers: dict[str, Scores] = {}
        with self._lock, self._naming_the_file():
            self._write()
            for start in range(0, len(texts), READ_AT_ONCE):
                keys = {self._key(text, k): text for text in texts[start : start + READ_AT_ONCE]}
                marks = ",".join("?" * len(keys))
                select = f"SELECT key, answer FROM answers WHERE key IN ({marks})"
                for key, row in self._connection.execute(select, tuple(keys)).fetchall():
                    with suppress(ValueError, TypeError, AttributeError, OverflowError):
                        answer = {id_: float(score) for id_, score in parse_json(str(row)).items()}
                        if all(map(math.isfinite, answer.values())):
                            answers[keys[key]] = answer
        return answers

    def put(self, text: str, k: int, answer: Scores) -> None:
        """Cache one answer. It is on disk at once, or together with those of the next FLUSH_S."""
        shown = text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be written
        with self._lock:
            self._waiting.append((self._key(text, k), shown, json.dumps(answer)))
            if time.monotonic() - self._written >= FLUSH_S:
                self._write()

    def _write(self) -> None:
        if not self._waiting:
            return
        insert = "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)"
        with self._naming_the_file():
            self._connection.execute("BEGIN")
            self._connection.executemany(insert, self._waiting)
            self._connection.execute("COMMIT")
        self._waiting, self._written = [], time.monotonic()

    def _key(self, text: str, k: int) -> str:
        return absorb(self._identity.copy(), text, str(k)).hexdigest()

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        try:
            yield
        except SQLITE_DAMAGE as error:
            raise ArgusError(
                f"{self.path}: the answers that were kept cannot be used ({error}). See that there "
                "is space and that the file can be written; or remove it, and everything is asked "
                "again."
            ) from error


@dataclass
class AskingLoop:
    """The event loop of one open retriever, whose connections may last as long.

    Where the caller's thread has a running loop already (a notebook), it runs in another thread.
    """

    _runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run to the end. Ctrl-C ends a blocking call, too, for which asyncio's own would wait."""

        def to_the_end() -> T:
            loop = self._runner.get_loop()
            task = loop.create_task(work())
            try:
                return loop.run_until_complete(task)
            except KeyboardInterrupt:
                task.cancel()
                with suppress(KeyboardInterrupt, asyncio.CancelledError):
                    loop.run_until_complete(task)
                raise

        return _without_running_loop(to_the_end)

    def close(self) -> None:
        """Cancel whatever is left, and close the loop."""
        _without_running_loop(self._runner.close)


def _without_running_loop(call: Callable[[], T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return call()
    with ThreadPoolExecutor(1, "argus-asking") as pool:
        return pool.submit(call).result()


@dataclass(frozen=True)
class Blocking:
    """Makes blocking calls one at a time, since few clients serve several threads.

    is_timed: make calls in threads, so that they can be given up. Otherwise in the caller's own.
    interrupt: stops the call under way, if anything can. Used when a call is given up.
    """

    is_timed: bool = False
    interrupt: Callable[[], None] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    async def call(self, work: Callable[[], T]) -> T:
        """Return the result of a call."""
        if not self.is_timed:
            return work()
        given_up = threading.Event()

        def in_turn() -> T:
            with self._lock:
                if given_up.is_set():
                    raise RetrievalError("given up before it began")
                return work()

        try:
            return await in_a_thread(in_turn)
        except asyncio.CancelledError:
            given_up.set()
            if self.interrupt is not None:
                self.interrupt()
            await in_a_thread(self.finish)  # the next call has its whole time
            raise

    def finish(self) -> None:
        """Wait up to PATIENCE_S for a call that was given up and is still under way."""
        if self._lock.acquire(timeout=PATIENCE_S):
            self._lock.release()


async def in_a_thread(function: Callable[[], T]) -> T:
    """Return the result of a blocking call. A call that hangs is left behind and ends with us."""
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


def raised(error: BaseException) -> str:
    """Describe an exception of user code, for the query that failed, without secrets.

    Of a group, such as those of anyio, it is the first exception that is no group.
    """
    if isinstance(error, BaseExceptionGroup):
        error = _first(error)
    return f"raised {type(error).__name__}: {without_likely(first_line(error))}"


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
