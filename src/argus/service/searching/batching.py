"""Questions that come at once are embedded at once, and searched at once.

One thread answers. While it does, what is asked waits; then all of that is answered together. So a
question alone waits for nobody, and many at once cost little more than one.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from argus.errors import ArgusError, EndpointRefusal

A = TypeVar("A")
AT_ONCE = 64
"""Questions of one batch at most."""
WAITING = 1024
"""Questions that may wait; who asks beyond that is told to come again."""


class TooManyQuestions(ArgusError):
    """More questions wait than the service holds."""

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting:,} questions wait already. Ask again in a moment.")


class Stopped(ArgusError):
    """The service ends."""


@dataclass(frozen=True)
class _Question(Generic[A]):
    text: str
    k: int
    future: Future[A] = field(default_factory=Future)


@dataclass
class Batcher(Generic[A]):
    """Answers questions in batches, in a thread of its own that starts with the first one.

    answer: takes texts and k and returns an answer each. Where it raises, every question of the
    batch is asked alone, so that one text that cannot be embedded fails alone. seen: is told the
    size of each batch.
    """

    answer: Callable[[Sequence[str], int], Sequence[A]]
    seen: Callable[[int], None] = lambda size: None
    _waiting: queue.Queue[_Question[A] | None] = field(
        default_factory=lambda: queue.Queue(WAITING), repr=False
    )
    _thread: threading.Thread | None = field(default=None, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _stopped: bool = False

    def ask(self, text: str, k: int) -> Future[A]:
        """Return the answer to come; raises TooManyQuestions, and Stopped after `close`."""
        question: _Question[A] = _Question(text, k)
        with self._lock:
            if self._stopped:
                raise Stopped("The service ends. Ask again when it is back.")
            try:
                self._waiting.put_nowait(question)
            except queue.Full:
                raise TooManyQuestions(WAITING) from None
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="argus-search", daemon=True)
                self._thread.start()
        return question.future

    @property
    def waiting(self) -> int:
        """How many questions wait now."""
        return self._waiting.qsize()

    def close(self) -> None:
        """Answer no more; what waits is told so."""
        with self._lock:
            self._stopped = True
            thread = self._thread
        for question in self._drained():
            question.future.set_exception(Stopped("The service ends."))
        if thread is not None:
            self._waiting.put(None)
            thread.join()

    def _drained(self) -> list[_Question[A]]:
        drained: list[_Question[A]] = []
        while True:
            try:
                question = self._waiting.get_nowait()
            except queue.Empty:
                return drained
            if question is not None and question.future.set_running_or_notify_cancel():
                drained.append(question)

    def _work(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, ends = [first], False
            while len(batch) < AT_ONCE:
                try:
                    further = self._waiting.get_nowait()
                except queue.Empty:
                    break
                if further is None:
                    ends = True
                    break
                batch.append(further)
            self._answer([one for one in batch if one.future.set_running_or_notify_cancel()])
            if ends:
                return

    def _answer(self, batch: list[_Question[A]]) -> None:
        """Answer a batch, those of one k together: a deeper search may rank otherwise."""
        if batch:
            self.seen(len(batch))
        for k in dict.fromkeys(question.k for question in batch):
            self._answer_alike([question for question in batch if question.k == k], k)

    def _answer_alike(self, batch: list[_Question[A]], k: int) -> None:
        try:
            answers = self.answer([question.text for question in batch], k)
        except BaseException as error:
            if len(batch) == 1 or isinstance(error, EndpointRefusal):
                for question in batch:
                    question.future.set_exception(error)
                return
            for question in batch:
                self._answer_alike([question], k)
        else:
            for question, answer in zip(batch, answers, strict=True):
                question.future.set_result(answer)
