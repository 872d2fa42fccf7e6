"""Questions that come at once are answered at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from argus.errors import EncodingError
from argus.service import searcher
from argus.service.searcher import Batcher, Stopped, TooManyQuestions


class Held:
    """Answers as fast as it is let; keeps the batches."""

    def __init__(self):
        self.batches, self.free, self.begun = [], threading.Event(), threading.Event()

    def __call__(self, texts, k):
        self.begun.set()
        self.free.wait(10)
        self.batches.append((list(texts), k))
        if "bad" in texts:
            raise EncodingError("no such text")
        return [f"{text}@{k}" for text in texts]


@pytest.fixture
def held():
    answer = Held()
    batcher = Batcher(answer)
    yield answer, batcher
    answer.free.set()
    batcher.close()


def ask_while_one_is_answered(held, texts, k=10):
    answer, batcher = held
    first = batcher.ask("first", 1)
    assert answer.begun.wait(10)
    futures = [batcher.ask(text, k) for text in texts]
    answer.free.set()
    return first, futures


def test_a_text_that_cannot_be_embedded_fails_alone(held):
    _, (good, bad, other) = ask_while_one_is_answered(held, ["good", "bad", "other"])
    assert (good.result(10), other.result(10)) == ("good@10", "other@10")
    with pytest.raises(EncodingError):
        bad.result(10)


def test_more_than_may_wait_are_told_to_come_again(monkeypatch):
    monkeypatch.setattr(searcher, "WAITING", 4)
    answer = Held()
    batcher = Batcher(answer)
    batcher.ask("first", 1)
    assert answer.begun.wait(10)
    waiting = [batcher.ask(str(i), 1) for i in range(4)]
    with pytest.raises(TooManyQuestions, match="4 questions wait already"):
        batcher.ask("one more", 1)
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(batcher.close)
        for future in waiting:
            with pytest.raises(Stopped):
                future.result(10)
        answer.free.set()
        closing.result(10)
    with pytest.raises(Stopped):
        batcher.ask("late", 1)
