"""Retrievers from Python files: what is taken, and what every mistake in one is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.retriever_file import retrieve_all, retriever_of
from argus.authority.records import Record, corpus_of
from argus.authority.times import parse_moment
from argus.errors import ArgusError, InputError

RECORDS = [
    Record("b", "note", None, {"cve": ("1", "2")}, "old text", "Old", metadata={"gold": True}),
    Record("a", "note", parse_moment("2024-03"), {"host": "h"}, "new text"),
]
QUESTIONS = [Question(f"q{i}", f"question {i}", ("a",), ("b",), ("b", "a")) for i in range(3)]
BENCHMARK = Benchmark("tiny", RECORDS, QUESTIONS, ())

PLAIN = """
class Mine:
    def retrieve(self, query, corpus, k):
        return [d["doc_id"] for d in corpus][:k]
"""


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str, name: str = "mine.py") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def ask(path: Path | str, k: int = 5):
    with retriever_of(path, RECORDS) as retriever:
        return retrieve_all(retriever, BENCHMARK, k=k)


def answering(body: str) -> str:
    return f"class Mine:\n    def retrieve(self, query, corpus, k):\n        {body}\n"


def test_the_only_class_with_the_method_is_asked_every_question(file) -> None:
    outcomes = ask(file(PLAIN))
    assert {q: o.documents for q, o in outcomes.items()} == dict.fromkeys(
        ("q0", "q1", "q2"), ("a", "b")
    )


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


def test_other_files_of_its_folder_can_be_imported_even_later(file) -> None:
    file("ORDER = ['b', 'a']\n", "my_helper_of_tests.py")
    path = file(answering("from my_helper_of_tests import ORDER; return ORDER[:k]"))
    before = list(sys.path)
    assert ask(path)["q0"].documents == ("b", "a")
    assert sys.path == before
    assert "my_helper_of_tests" not in sys.modules


def test_a_class_can_be_named_where_there_are_several(file) -> None:
    path = file(PLAIN + PLAIN.replace("Mine", "Other").replace("[:k]", "[:1]"))
    with pytest.raises(InputError, match=r"2 classes with retrieve \(Mine, Other\).*:Mine"):
        ask(path)
    assert ask(f"{path}:Other")["q0"].documents == ("a",)


def test_protocols_bases_and_imported_classes_do_not_count(file) -> None:
    file(PLAIN.replace("Mine", "Far"), "my_far_helper.py")
    path = file(
        "from abc import ABC, abstractmethod\nfrom dataclasses import dataclass\n"
        "from typing import Protocol\nfrom my_far_helper import Far\n"
        "class P(Protocol):\n    def retrieve(self, query, corpus, k): ...\n"
        "class Base(ABC):\n    @abstractmethod\n    def retrieve(self, query, corpus, k): ...\n"
        "@dataclass\nclass Real(Base):\n    n: int = 1\n"
        "    def retrieve(self, query, corpus, k):\n        return ['b']\n"
    )
    assert ask(path)["q0"].documents == ("b",)
    assert ask(f"{path}:Far")["q0"].documents == ("a", "b")


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


def test_files_that_are_no_python_and_unknown_names_are_told(file, tmp_path) -> None:
    with pytest.raises(InputError, match=r"nowhere.py: no such file; expected a Python file"):
        ask(tmp_path / "nowhere.py")
    with pytest.raises(InputError, match="is a folder"):
        ask(tmp_path)
    with pytest.raises(InputError, match=r"file type .txt; expected a Python file"):
        ask(file(PLAIN, "mine.txt"))
    path = file(PLAIN + "class Bare: pass\nvalue = 3\n")
    with pytest.raises(InputError, match="no Yours in it"):
        ask(f"{path}:Yours")
    with pytest.raises(InputError, match="Bare has no method retrieve"):
        ask(f"{path}:Bare")
    with pytest.raises(InputError, match="value is no class"):
        ask(f"{path}:value")


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


def test_what_ends_a_program_elsewhere_fails_a_question_here(file) -> None:
    with pytest.raises(ArgusError, match="the first: raised GeneratorExit"):
        ask(file(answering("raise GeneratorExit")))


def test_when_all_questions_fail_nothing_is_scored(file) -> None:
    with pytest.raises(ArgusError, match=r"All 3 questions failed; the first: returned str"):
        ask(file(answering("return 'a'")))


def test_an_empty_list_is_an_answer(file) -> None:
    outcomes = ask(file(answering("return []")))
    assert not any(o.failure or o.documents for o in outcomes.values())


def test_what_a_retriever_does_to_its_corpus_changes_no_score(file) -> None:
    body = "ids = [d['doc_id'] for d in corpus]; corpus.clear(); return ids"
    assert [o.documents for o in ask(file(answering(body))).values()] == [("a", "b")] * 3


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
    with retriever_of(path, RECORDS) as retriever:
        assert retriever.name == "car's own"


def test_of_a_longer_list_the_first_k_count(file) -> None:
    outcomes = ask(file(answering("return ['b', 'a', 'b', 'zz']")), k=2)
    assert {(o.documents, o.longer) for o in outcomes.values()} == {(("b", "a"), True)}


def test_a_corpus_with_a_default_is_given_too(file) -> None:
    text = "class Mine:\n    def __init__(self, documents=()): self.n = len(documents)\n"
    body = "    def retrieve(self, query, k): return ['a'][: self.n - 1]\n"
    assert ask(file(text + body))["q0"].documents == ("a",)


def test_a_function_retrieves_or_makes_what_does(file) -> None:
    one = "def retrieve(query, corpus, k):\n    return [corpus[0]['doc_id']]\n"
    assert ask(file(one))["q0"].documents == ("a",)
    factory = PLAIN + "def Retriever(corpus):\n    return Mine()\n"
    path = file(factory, "factory.py")
    assert ask(f"{path}:Retriever")["q0"].documents == ("a", "b")


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


def test_rows_without_an_id_make_a_failure(file) -> None:
    with pytest.raises(ArgusError, match="returned a dict without an id"):
        ask(file(answering("return [{'score': 1.0}]")))
    with pytest.raises(ArgusError, match="which is no document's id"):  # of another corpus
        ask(file(answering("return [{'text': 'nowhere'}]")))


def test_a_corpus_that_cannot_be_indexed_is_told(file) -> None:
    path = file(
        "class Mine:\n"
        "    def index(self, corpus, *, task_metadata, hf_split, hf_subset, encode_kwargs):\n"
        "        raise MemoryError('too large')\n"
        "    def search(self, queries, *, task_metadata, hf_split, hf_subset, top_k,\n"
        "               encode_kwargs, top_ranked=None):\n"
        "        return {}\n"
    )
    with pytest.raises(ArgusError, match="indexing it raised MemoryError: too large"):
        ask(path)
