"""Retrievers from Python files: what is taken, and what every mistake in one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.retriever_file import retrieve_all, retriever_of
from argus.authority.records import Record, corpus_of
from argus.authority.times import parse_moment
from argus.errors import InputError

RECORDS = [
    Record("b", "note", None, {"cve": ("1", "2")}, "old text", "Old", metadata={"gold": True}),
    Record("a", "note", parse_moment("2024-03"), {"host": "h"}, "new text"),
]
QUESTIONS = [Question(f"q{i}", f"question {i}", ("a",), ("b",), ("b", "a")) for i in range(3)]
BENCHMARK = Benchmark("tiny", RECORDS, QUESTIONS, ())


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str, name: str = "mine.py") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def ask(path: Path | str, k: int = 5):
    with retriever_of(path, RECORDS) as (_, call):
        return retrieve_all(call, BENCHMARK, k=k)


def answering(body: str) -> str:
    return f"class Mine:\n    def retrieve(self, query, corpus, k):\n        {body}\n"


def test_the_corpus_is_ordered_by_id_and_tells_no_metadata() -> None:
    assert corpus_of(RECORDS) == [
        {
            "doc_id": "a", "_id": "a", "type": "note", "event_type": "note",
            "timestamp": "2024-03",
            "entities": {"host": "h"}, "title": "", "text": "new text",
        },
        {
            "doc_id": "b", "_id": "b", "type": "note", "event_type": "note", "timestamp": None,
            "entities": {"cve": ["1", "2"]}, "title": "Old", "text": "old text",
        },
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def retrieve(:\n", r"is not Python: .*, line 1; expected a file that runs"),
        ("import no_such_module_at_all\n", r"raised ModuleNotFoundError when run: No module"),
        ("raise SystemExit(3)\n", r"raised SystemExit when run: 3"),
        (
            "x = 1\n",
            r"no class with retrieve; expected a class with retrieve\(self, query, corpus, k\)",
        ),
        ("class A:\n    retrieve = 3\n", r"no class with retrieve"),
        (
            "class A:\n    def __init__(self, n): pass\n    def retrieve(self, *a): pass\n",
            r"A\(\) raised TypeError: .*'n'; expected a class that can be made without arguments",
        ),
        (
            "class A:\n    def __init__(self): raise OSError('no model')\n"
            "    def retrieve(self, *a): pass\n",
            r"A\(\) raised OSError: no model",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_told_why(file, text, message) -> None:
    path = file(text)
    with pytest.raises(InputError, match=message) as error:
        ask(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("None", "returned NoneType, not a list"),
        ("('a',)", "returned tuple, not a list"),
        ("'a'", "returned str, not a list"),
        ("[1]", "returned int in the list, not the text of an id"),
        ("[['a']]", "returned list in the list, not the text of an id"),
        ("['a', 'a', 'b']", "returned an id twice"),
        ("['zz', 'a', 'b']", "returned 'zz', which is no document's id"),
        ("['a', 'a']", "returned an id twice"),
        ("['zz']", "returned 'zz', which is no document's id"),
        ("1 / 0", "raised ZeroDivisionError: division by zero"),
        ("exit('bye')", "raised SystemExit: bye"),
        ("(_ for _ in ()).throw(ValueError)", "raised ValueError: no message"),
    ],
)
def test_nonsense_makes_that_question_a_failure_and_no_other(file, value, reason) -> None:
    path = file(answering(f"return {value} if query == 'question 1' else ['a']"))
    outcomes = ask(path, k=2)
    assert outcomes["q1"].failure == reason
    assert outcomes["q1"].documents == ()
    assert outcomes["q0"].documents == outcomes["q2"].documents == ("a",)


def test_an_object_that_raises_when_it_is_looked_at_is_refused(file) -> None:
    path = file("class Odd:\n    def __getattr__(self, name): raise SystemExit(1)\nodd = Odd()\n")
    with pytest.raises(InputError, match="raised SystemExit when it was looked at"):
        ask(f"{path}:odd")


CARS = """
class Index:
    def retrieve(self, words):
        return words
class Retriever:
    name = "car's own"
    def __init__(self, corpus, k1=1.5):
        self.order = [d["doc_id"] for d in corpus if d["event_type"] == "note"]
    def retrieve(self, query, corpus, k, depth=3):
        return sorted(self.order, reverse=True) + ["beyond"]
"""


def test_cars_own_class_is_made_with_the_corpus(file) -> None:
    path = file(CARS)
    outcomes = ask(path, k=2)
    assert {o.documents for o in outcomes.values()} == {("b", "a")}
    assert all(o.longer for o in outcomes.values())
    with retriever_of(path, RECORDS) as (name, _):
        assert name == "car's own"


@pytest.mark.parametrize(
    "body",
    [
        "return [('b', 0.9), ('a', 0.1)]",
        "return {'a': 0.1, 'b': 0.9}",
        "return [{'doc_id': 'b', 'score': 2}, {'doc_id': 'b', 'score': 1}, {'_id': 'a'}]",
    ],
)
def test_pairs_scores_and_rows_are_read_as_ids(file, body) -> None:
    assert ask(file(answering(body)))["q0"].documents == ("b", "a")
