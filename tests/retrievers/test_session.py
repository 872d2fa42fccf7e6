"""Asking: at once, at a pace, within a time; what fails is failed, what is answered is kept."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from itertools import count

import pytest

from argus.data.types import Query
from argus.errors import ArgusError, InputError, NothingMeasured
from argus.jobs.workspace import Record
from argus.retrievers.asking import Answerer, answers_of
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import opened
from tests.retrievers.conftest import by_words

QUERIES = [Query(f"q{i}", f"hot water {i}") for i in range(12)]


def test_a_query_that_raises_is_failed_and_the_rest_answered():
    def fragile(query, k):
        if query.endswith("3"):
            raise OSError("the shard is gone\nand more")
        return by_words(query, k)

    with opened(fragile) as source:
        answers = source.ask(QUERIES, 2)
        with pytest.raises(ArgusError, match=r"failed 1 of 12 queries.*'q3'"):
            source.search(QUERIES, 2)
    assert answers.failed == {"q3": "raised OSError: the shard is gone"}
    assert set(answers.run) == {q.id for q in QUERIES} - {"q3"}


def test_of_a_group_of_errors_the_first_is_told():
    def search(query, k):
        inner = ExceptionGroup("inner", [ValueError("no such field"), OSError()])
        raise ExceptionGroup("unhandled errors in a TaskGroup", [inner])

    with opened(search) as source:
        failed = source.ask(QUERIES[:1], 1).failed
    assert failed == {"q0": "raised ValueError: no such field"}


@pytest.mark.parametrize("error", [asyncio.CancelledError, GeneratorExit, SystemExit])
@pytest.mark.parametrize("timeout_s", [None, 20])
def test_what_ends_a_program_elsewhere_fails_a_query_here(error, timeout_s):
    async def later(query, k):
        raise error if error is not GeneratorExit else SystemExit

    def now(query, k):
        raise error

    for search in (now, later):
        with opened(search, config=AskingConfig(timeout_s=timeout_s)) as source:
            assert re.match("raised [CGS]", source.ask(QUERIES[:1], 1).failed["q0"])


def test_what_a_generator_raises_fails_its_query():
    def lazy(query, k):
        yield "tea"
        if query.endswith("3"):
            raise OSError("cut off")

    with opened(lazy) as source:
        answers = source.ask(QUERIES, 2)
    assert answers.failed == {"q3": "raised OSError: cut off"}


def test_a_generator_without_an_end_fails_its_query(monkeypatch):
    monkeypatch.setattr("argus.retrievers.results.MOST", 1000)
    with opened(lambda query, k: count() if query.endswith("3") else iter("ab")) as source:
        answers = source.ask(QUERIES, 2)
    assert set(answers.failed) == {"q3"}
    assert "returned more than 1,000 results" in answers.failed["q3"]


def test_an_iterator_that_is_empty_does_not_hang():
    config = AskingConfig(at_once=2, timeout_s=5)
    with opened(lambda query: next(iter([])), config=config) as source:
        answers = source.ask(QUERIES[:2], 2)
    assert "StopIteration" in answers.failed["q0"] and "StopIteration" in answers.failed["q1"]


def test_a_slow_generator_is_given_up_too():
    release = threading.Event()

    def slow(query, k):
        yield "tea"
        if query.endswith("3"):
            release.wait(60)

    try:
        with opened(slow, config=AskingConfig(timeout_s=3, at_once=2)) as source:
            answers = source.ask(QUERIES, 2)
    finally:
        release.set()
    assert answers.failed == {"q3": "no answer in 3 s"}


def test_an_answer_that_breaks_when_read_fails_its_query():
    class Broken:
        def __iter__(self):
            raise KeyError("shard")

    with opened(lambda query: Broken() if query.endswith("3") else ["tea"]) as source:
        answers = source.ask(QUERIES, 2)
    assert set(answers.failed) == {"q3"} and "KeyError" in answers.failed["q3"]


def test_a_query_with_half_a_surrogate_pair_is_asked_and_kept_as_it_is(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "def retrieve(query, k):\n    return ['half' if '\\ud83d' in query else 'none']\n"
    )
    query = Query("q", "tea \ud83d")
    for _ in range(2):
        with opened(str(file), kept_in=tmp_path / "answers.sqlite") as source:
            assert source.ask([query], 2).run == {"q": {"half": 1.0}}


def test_a_timeout_of_its_own_is_a_failure_as_any_other():
    def slow(query, k):
        raise TimeoutError("the shard took too long")

    with opened(slow) as source:
        answers = source.ask(QUERIES[:1], 2)
    assert answers.failed == {"q0": "raised TimeoutError: the shard took too long"}


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


def test_it_is_given_up_after_failures_in_a_row(tmp_path):
    file = tmp_path / "down.py"
    file.write_text("def retrieve(query, k):\n    raise ConnectionError('refused')\n")
    config = AskingConfig(give_up_after=5)
    with (
        opened(str(file), config=config) as source,
        pytest.raises(ArgusError, match=r"5 queries in a row.*refused.*asks only the rest"),
    ):
        source.ask(QUERIES, 2)


def test_nothing_to_ask_is_told():
    source = Answerer(lambda query, k: ["tea"])
    with pytest.raises(NothingMeasured, match="no queries"):
        answers_of(source, [], 2, documents=[], folder=None, record=Record("exposure", {}, {}))


def test_a_query_without_text_is_not_sent():
    with opened(lambda query, k: [query]) as source:
        assert source.ask([Query("empty", "  "), Query("q", "x")], 2).run["empty"] == {}


@pytest.mark.parametrize("blocking", [True, False])
def test_a_query_that_hangs_is_given_up_and_others_go_on(blocking):
    release = threading.Event()

    def hang(query, k):
        if query.endswith(" 3"):
            release.wait(60)
        return by_words(query, k)

    async def hang_too(query, k):
        if query.endswith(" 3"):
            await asyncio.sleep(60)
        return by_words(query, k)

    config = AskingConfig(timeout_s=3, at_once=2)
    start = time.monotonic()
    try:
        with opened(hang if blocking else hang_too, config=config) as source:
            answers = source.ask(QUERIES, 2)
    finally:
        release.set()
    assert answers.failed == {"q3": "no answer in 3 s"}
    assert len(answers.run) == 11 and time.monotonic() - start < 45


@pytest.mark.parametrize("blocking", [True, False])
def test_several_are_under_way_at_once(blocking):
    together, most, lock = 0, 0, threading.Lock()

    def enter(step):
        nonlocal together, most
        with lock:
            together += step
            most = max(most, together)

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
    assert most == 4 and list(answers.run) == [q.id for q in QUERIES]


def test_its_pace_is_kept():
    moments = []

    def note(query, k):
        moments.append(time.monotonic())
        return []

    start = time.monotonic()
    with opened(note, config=AskingConfig(per_minute=600, at_once=4)) as source:
        source.ask(QUERIES[:5], 2)
    assert all(at - start >= 0.1 * i - 1e-6 for i, at in enumerate(sorted(moments)))


def test_it_is_asked_in_the_callers_own_thread_and_from_a_loop():
    def here(query, k):
        return [threading.current_thread().name]

    with opened(here) as source:
        assert source.search(QUERIES[:1], 2) == {"q0": {threading.current_thread().name: 1.0}}

    async def notebook():
        with opened(lambda query, k: by_words(query, k)) as source:
            return source.search(QUERIES[:1], 2)

    assert asyncio.run(notebook())["q0"]


@pytest.mark.parametrize("in_a_notebook", [False, True])
def test_a_retriever_has_one_loop_for_all_it_is_asked(in_a_notebook):
    loops = []

    async def connected(query, k):
        loops.append(asyncio.get_running_loop())
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


def test_what_was_answered_is_not_asked_again(tmp_path):
    asked = tmp_path / "asked.txt"
    file = tmp_path / "mine.py"
    file.write_text(
        f"def retrieve(query, k):\n"
        f"    with open({str(asked)!r}, 'a') as log: print(query, file=log)\n"
        f"    if query.endswith('3'): raise OSError('no')\n"
        f"    return [('tea', 0.5), ('ska', 0.25)]\n"
    )
    kept = tmp_path / "answers.sqlite"
    with opened(str(file), kept_in=kept) as source:
        first = source.ask(QUERIES, 2)
    assert set(first.failed) == {"q3"}
    with opened(str(file), kept_in=kept) as source:
        again = source.ask(QUERIES, 2)
        assert again.run == first.run
    assert asked.read_text().splitlines() == [q.text for q in QUERIES] + ["hot water 3"]
    with opened(str(file), kept_in=kept) as source:
        source.ask(QUERIES[:1], 3)  # another k
    file.write_text(file.read_text() + "\n# another retriever\n")
    with opened(str(file), kept_in=kept) as source:
        source.ask(QUERIES[:1], 2)
    assert len(asked.read_text().splitlines()) == 15


def test_answers_over_other_documents_are_not_kept_ones(tmp_path, documents):
    file = tmp_path / "mine.py"
    file.write_text("def retrieve(query, corpus, k):\n    return [d['_id'] for d in corpus]\n")
    counts = []
    for known in (documents, documents, documents[:2]):
        with opened(str(file), documents=known, kept_in=tmp_path / "answers.sqlite") as source:
            answers = source.ask(QUERIES[:3], 9)
        counts.append((answers.kept, len(answers.run["q0"])))
    assert counts == [(0, 3), (3, 3), (0, 2)]


def test_a_file_of_answers_that_is_none_is_told(tmp_path):
    kept = tmp_path / "answers.sqlite"
    kept.write_text("no database, but long enough to be looked at" * 40)
    file = tmp_path / "mine.py"
    file.write_text("def retrieve(query, k):\n    return []\n")
    with (
        opened(str(file), kept_in=kept) as source,
        pytest.raises(
            ArgusError, match=r"answers\.sqlite: the answers that were kept cannot be used"
        ),
    ):
        source.ask(QUERIES, 2)


def test_a_pattern_in_a_file_is_no_retriever(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import re\nWORD = re.compile('x')\ndef retrieve(query):\n    return ['tea']\n")
    with opened(str(file)) as source:
        assert source.search(QUERIES[:1], 2) == {"q0": {"tea": 1.0}}


def test_an_object_that_raises_when_it_is_looked_at_is_refused(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text(
        "class Odd:\n    def __getattr__(self, name): raise SystemExit(1)\n"
        "class Type(type):\n    def __getattribute__(self, name): raise KeyError(name)\n"
        "class Closed(metaclass=Type): pass\nodd = Odd()\n"
    )
    for name, kind in (("odd", "SystemExit"), ("Closed", "KeyError")):
        with (
            pytest.raises(InputError, match=f"raised {kind} when it was looked at"),
            opened(f"{file}:{name}"),
        ):
            pass


@pytest.mark.parametrize(
    ("text", "spec", "problem"),
    [
        ("x = 1", "", "nothing in it that retrieves"),
        (
            "def retrieve(q): ...\nclass A:\n    def search(self, q): ...",
            "",
            "2 things.*retrieve, A",
        ),
        ("def retrieve(q): ...", ":other", "no other in it"),
        ("import nowhere_at_all", "", "raised ModuleNotFoundError when run"),
        ("def retrieve(", "", "is not Python"),
        ("raise SystemExit(3)", "", "raised SystemExit when run"),
    ],
)
def test_a_file_without_a_retriever_is_told(tmp_path, text, spec, problem):
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(InputError, match=problem), opened(f"{file}{spec}"):
        pass
