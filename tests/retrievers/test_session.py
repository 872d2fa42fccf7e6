"""Asking: at once, at a pace, within a time; a failure fails its query, answers are cached."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from itertools import count

import pytest

from argus.cli.output import show_remarks
from argus.data.types import Query
from argus.errors import ArgusError
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import opened
from argus.retrievers.session import AnswerCache
from tests.retrievers.conftest import by_words

QUERIES = [Query(f"q{i}", f"hot water {i}") for i in range(12)]


def raising(error):
    def search(query, k):
        if query.endswith(" 3"):
            raise error
        return by_words(query, k)

    return search


def lazily(query, k):
    yield "tea"
    if query.endswith(" 3"):
        raise OSError("cut off")


@pytest.mark.parametrize(
    ("search", "reason"),
    [
        (raising(OSError("the shard is gone\nand more")), "raised OSError: the shard is gone"),
        (
            raising(ExceptionGroup("a", [ExceptionGroup("b", [ValueError("no"), OSError()])])),
            "raised ValueError: no",
        ),
        (lazily, "raised OSError: cut off"),
        (
            lambda query, k: count() if query.endswith(" 3") else iter("ab"),
            "returned more than 1,000 results",
        ),
    ],
)
def test_a_query_that_raises_fails_and_the_rest_is_answered(search, reason, monkeypatch):
    monkeypatch.setattr("argus.retrievers.results.MAX_ITEMS", 1000)
    with opened(search) as source:
        answers = source.ask(QUERIES, 2)
        with pytest.raises(ArgusError, match=r"failed 1 of 12 queries.*'q3'"):
            source.search(QUERIES, 2)
    assert answers.failed == {"q3": reason}
    assert set(answers.run) == {q.id for q in QUERIES} - {"q3"}


def test_a_batch_that_fails_costs_only_its_culprit():
    sizes = []

    def batches(queries, k):
        sizes.append(len(queries))
        if any(q.text.endswith("3") for q in queries):
            raise RuntimeError("no")
        return {q.id: dict(by_words(q.text, k)) for q in queries}

    with opened(batches) as source:
        answers = source.ask(QUERIES, 2)
    assert set(answers.failed) == {"q3"} and len(answers.run) == 11
    assert sizes == [12] + [1] * 12


def test_it_gives_up_after_failures_in_a_row(tmp_path):
    file = tmp_path / "down.py"
    file.write_text("def retrieve(query, k):\n    raise ConnectionError('refused')\n")
    with (
        opened(str(file), config=AskingConfig(give_up_after=5)) as source,
        pytest.raises(ArgusError, match=r"5 queries in a row.*refused"),
    ):
        source.ask(QUERIES, 2)


@pytest.mark.parametrize("kind", ["blocking", "async"])
def test_a_query_that_hangs_is_given_up_and_others_go_on(kind):
    release = threading.Event()

    def blocking(query, k):
        if query.endswith(" 3"):
            release.wait(60)
        return by_words(query, k)

    async def asynchronous(query, k):
        if query.endswith(" 3"):
            await asyncio.sleep(60)
        return by_words(query, k)

    search = {"blocking": blocking, "async": asynchronous}[kind]
    start = time.monotonic()
    try:
        with opened(search, config=AskingConfig(timeout_s=1, at_once=2)) as source:
            answers = source.ask(QUERIES, 2)
    finally:
        release.set()
    assert answers.failed == {"q3": "no answer in 1 s"}
    assert len(answers.run) == 11 and time.monotonic() - start < 45


def test_ctrl_c_ends_a_call_that_hangs():
    went_on, before = [], signal.signal(signal.SIGINT, signal.default_int_handler)

    def search(query, k):
        signal.raise_signal(signal.SIGINT)
        went_on.append(query)

    with pytest.raises(KeyboardInterrupt), opened(search) as source:
        source.ask(QUERIES, 2)
    signal.signal(signal.SIGINT, before)
    assert went_on == []


def test_cached_answers_are_not_asked_again(tmp_path, documents):
    asked, file = tmp_path / "asked.txt", tmp_path / "mine.py"
    file.write_text(
        f"def retrieve(query, corpus, k):\n"
        f"    with open({str(asked)!r}, 'a') as log: print(query, file=log)\n"
        f"    if query.endswith('3'): raise OSError('no')\n"
        f"    return [('tea', 0.5), ('ska', 0.25)][:len(corpus)]\n"
    )

    def ask(k=2, known=documents):
        with opened(str(file), documents=known, cache=tmp_path / "answers.sqlite") as source:
            return source.ask(QUERIES, k)

    first, again = ask(), ask()
    assert again.run == first.run and (first.kept, again.kept) == (0, 11)
    assert asked.read_text().splitlines() == [q.text for q in QUERIES] + ["hot water 3"]
    assert ask(k=3).kept == 0
    assert ask(known=documents[:1]).kept == 0
    file.write_text(file.read_text() + "\n# another retriever\n")
    assert ask().kept == 0


KILLED = """
import os, signal, sys, time
from pathlib import Path
from argus.retrievers.session import FLUSH_S, AnswerCache
cache = AnswerCache(Path(sys.argv[1]), "r")
for number in range(4):
    cache.put(f"slow {number}", 10, {"d": 1.0})
    time.sleep(1.2 * FLUSH_S)
for number in range(50):
    cache.put(f"quick {number}", 10, {"d": 1.0})
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_loses_at_most_a_flush_interval(tmp_path):
    file = tmp_path / "answers.sqlite"
    command = [sys.executable, "-c", KILLED, str(file)]
    killed = subprocess.run(command, env=os.environ, timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    with closing(AnswerCache(file, "r")) as cache:
        texts = [f"slow {number}" for number in range(4)] + ["quick 0"]
        assert cache.read(texts, 10) == {text: {"d": 1.0} for text in texts}


def test_a_damaged_file_is_refused(tmp_path):
    file = tmp_path / "answers.sqlite"
    AnswerCache(file, "r").close()
    content = file.read_bytes().replace(b"CREATE TABLE answers", b"CREATE TABLE \xff\xfeswers")
    file.write_bytes(content)
    with pytest.raises(ArgusError, match=r"answers\.sqlite"):
        AnswerCache(file, "r")


def test_a_remark_steers_no_terminal(capsys):
    show_remarks()
    logging.getLogger("argus.retrievers.session").info("mine\x1b[2J.py")
    assert "argus: mine\\u001b[2J.py" in capsys.readouterr().err
