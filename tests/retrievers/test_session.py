"""Asking: at once, at a pace, within a time; a failure fails its query, answers are cached."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from itertools import count

import pytest

from argus.cli.streams import show_remarks
from argus.data.types import Query
from argus.errors import ArgusError, NothingMeasured
from argus.jobs.workspace import Record
from argus.retrievers import session
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import Answerer, answers_of, opened
from argus.retrievers.session import AnswerCache, forecast
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


class Broken:
    def __iter__(self):
        raise KeyError("shard")


@pytest.mark.parametrize(
    ("search", "reason"),
    [
        (raising(OSError("the shard is gone\nand more")), "raised OSError: the shard is gone"),
        (raising(TimeoutError("its own")), "raised TimeoutError: its own"),
        (
            raising(ExceptionGroup("a", [ExceptionGroup("b", [ValueError("no"), OSError()])])),
            "raised ValueError: no",
        ),
        (lazily, "raised OSError: cut off"),
        (lambda query, k: Broken() if query.endswith(" 3") else ["a"], "raised KeyError: 'shard'"),
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


@pytest.mark.parametrize("error", [asyncio.CancelledError, GeneratorExit, SystemExit])
@pytest.mark.parametrize("timeout_s", [None, 20])
def test_an_exception_that_ends_programs_fails_a_query(error, timeout_s):
    async def later(query, k):
        raise error if error is not GeneratorExit else SystemExit

    for search in (raising(error), later):
        with opened(search, config=AskingConfig(timeout_s=timeout_s)) as source:
            assert source.ask(QUERIES[3:4], 1).failed["q3"].startswith("raised ")


def test_an_empty_iterator_does_not_hang():
    config = AskingConfig(at_once=2, timeout_s=5)
    with opened(lambda query: next(iter([])), config=config) as source:
        failed = source.ask(QUERIES[:2], 2).failed
    assert "StopIteration" in failed["q0"] and "StopIteration" in failed["q1"]


def test_half_a_surrogate_pair_is_asked_and_cached(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "def retrieve(query, k):\n    return ['half' if '\\ud83d' in query else 'none']\n"
    )
    for _ in range(2):
        with opened(str(file), cache=tmp_path / "answers.sqlite") as source:
            assert source.ask([Query("q", "tea \ud83d")], 2).run == {"q": {"half": 1.0}}


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


def test_a_batch_has_the_time_of_all_its_queries():
    def batches(queries, k):
        time.sleep(0.4)
        return {q.id: ["tea"] for q in queries}

    with opened(batches, config=AskingConfig(timeout_s=0.2)) as source:
        assert not source.ask(QUERIES, 2).failed


def test_a_search_of_the_whole_corpus_gets_all_queries_at_once(documents):
    sizes = []

    def search(corpus, queries, top_k):
        sizes.append(len(queries))
        return {id_: {"tea": 1.0} for id_ in queries}

    many = [Query(f"q{i}", f"water {i}") for i in range(100)]
    with opened(search, documents=documents) as source:
        assert len(source.ask(many, 2).run) == 100
    assert sizes == [100]


def test_it_gives_up_after_failures_in_a_row(tmp_path):
    file = tmp_path / "down.py"
    file.write_text("def retrieve(query, k):\n    raise ConnectionError('refused')\n")
    with (
        opened(str(file), config=AskingConfig(give_up_after=5)) as source,
        pytest.raises(ArgusError, match=r"5 queries in a row.*refused"),
    ):
        source.ask(QUERIES, 2)


def test_queries_without_text_are_not_sent_and_none_are_an_error():
    with opened(lambda query, k: [query]) as source:
        assert source.ask([Query("empty", "  "), Query("q", "x")], 2).run["empty"] == {}
    record = Record("exposure", {}, {})
    with pytest.raises(NothingMeasured):
        answers_of(Answerer(lambda query: []), [], 2, documents=[], folder=None, record=record)


@pytest.mark.parametrize("kind", ["blocking", "async", "generator"])
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

    def generator(query, k):
        yield from blocking(query, k)

    search = {"blocking": blocking, "async": asynchronous, "generator": generator}[kind]
    start = time.monotonic()
    try:
        with opened(search, config=AskingConfig(timeout_s=3, at_once=2)) as source:
            answers = source.ask(QUERIES, 2)
    finally:
        release.set()
    assert answers.failed == {"q3": "no answer in 3 s"}
    assert len(answers.run) == 11 and time.monotonic() - start < 45


@pytest.mark.parametrize("blocking", [True, False])
def test_several_are_under_way_at_once(blocking):
    together, highest, lock = 0, 0, threading.Lock()

    def enter(step):
        nonlocal together, highest
        with lock:
            together += step
            highest = max(highest, together)

    def slow(query, k):
        enter(1)
        time.sleep(0.05)
        enter(-1)
        return by_words(query, k)

    async def slow_too(query, k):
        enter(1)
        await asyncio.sleep(0.05)
        enter(-1)
        return by_words(query, k)

    with opened(slow if blocking else slow_too, config=AskingConfig(at_once=4)) as source:
        answers = source.ask(QUERIES, 2)
    assert highest == 4 and list(answers.run) == [q.id for q in QUERIES]


def test_it_holds_its_pace():
    moments = []

    def note(query, k):
        moments.append(time.monotonic())
        return []

    start = time.monotonic()
    with opened(note, config=AskingConfig(per_minute=600, at_once=4)) as source:
        source.ask(QUERIES[:5], 2)
    assert all(at - start >= 0.1 * i - 1e-6 for i, at in enumerate(sorted(moments)))


@pytest.mark.parametrize("in_a_notebook", [False, True])
def test_all_is_asked_in_one_loop(in_a_notebook):
    loops, threads = [], []

    async def connected(query, k):
        loops.append(asyncio.get_running_loop())
        threads.append(threading.current_thread())
        return ["tea"]

    def ask():
        with opened(connected) as source:
            for query in QUERIES[:3]:
                assert source.search([query], 2) == {query.id: {"tea": 1.0}}
        assert loops[0].is_closed()

    async def notebook():
        ask()

    asyncio.run(notebook()) if in_a_notebook else ask()
    assert len(loops) == 3 and len(set(loops)) == 1
    assert (threads[0] is threading.current_thread()) is not in_a_notebook


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


def test_retrievers_share_a_file(tmp_path):
    file = tmp_path / "answers.sqlite"
    for name in ("a", "b"):
        with closing(AnswerCache(file, name)) as cache:
            for number in range(3):
                cache.put(f"q{number}", 10, {name: 1.0})
    with closing(AnswerCache(file, "a")) as cache:
        answers = cache.read(["q0", "q1", "q1", "q2", "q3"], 10)
        assert answers == {f"q{number}": {"a": 1.0} for number in range(3)}
        assert cache.read(["q0"], 5) == {}


@pytest.mark.parametrize(
    "row", ["", "{", "[1]", "7", '{"d": "x"}', '{"d": null}', '{"d": NaN}', '{"d": 1e999}', b"{}",
            '{"d": 1' + "0" * 400 + "}", "[" * 9_000],
)  # fmt: skip
def test_a_damaged_row_is_asked_again(tmp_path, row):
    file = tmp_path / "answers.sqlite"
    with closing(AnswerCache(file, "r")) as cache:
        cache.put("q0", 10, {"d": 1.0})
    with sqlite3.connect(file) as sql:
        sql.execute("UPDATE answers SET answer = ?", (row,))
    sql.close()
    with closing(AnswerCache(file, "r")) as cache:
        assert cache.read(["q0"], 10) == {}
        cache.put("q0", 10, {"d": 2.0})
        assert cache.read(["q0"], 10) == {"q0": {"d": 2.0}}


def test_a_damaged_file_is_refused_and_closed(tmp_path, monkeypatch):
    file, connections = tmp_path / "answers.sqlite", []
    AnswerCache(file, "r").close()
    content = file.read_bytes().replace(b"CREATE TABLE answers", b"CREATE TABLE \xff\xfeswers")
    file.write_bytes(content)
    connect = session.connect
    monkeypatch.setattr(
        session, "connect", lambda *a, **o: connections.append(connect(*a, **o)) or connections[0]
    )
    with pytest.raises(ArgusError, match=r"answers\.sqlite"):
        AnswerCache(file, "r")
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connections[0].execute("SELECT 1")


@pytest.mark.parametrize(
    ("n", "cached", "steps", "seconds", "lines"),
    [
        (
            15_300, 20, [1] * 300, 0.5,
            ["asking mine.py:dense 15,300 queries (20 more are kept)",
             "about 2 h 7 min more at the pace of the first 5"],
        ),
        (
            6_400, 0, [64] * 3, 0.05,
            ["asking mine.py:dense 6,400 queries",
             "about 5 min more at the pace of the first 64"],
        ),
        (400, 0, [1] * 400, 0.1, ["asking mine.py:dense 400 queries"]),
        (19, 0, [1] * 19, 10, []),
    ],
)  # fmt: skip
def test_number_and_time_left_are_logged_once(
    n, cached, steps, seconds, lines, caplog, monkeypatch
):
    now, counted = [0.0], []
    monkeypatch.setattr(session.time, "monotonic", lambda: now[0])
    with caplog.at_level(logging.INFO, "argus.retrievers.session"):
        advance = forecast("mine.py:dense", n, cached, counted.append)
        for step in steps:
            now[0] += seconds * step
            advance(step)
    assert counted == steps and caplog.messages == lines


def test_a_remark_steers_no_terminal(capsys):
    show_remarks()
    logging.getLogger("argus.retrievers.session").info("mine\x1b[2J.py")
    assert "argus: mine\\u001b[2J.py" in capsys.readouterr().err
