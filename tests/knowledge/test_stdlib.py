from __future__ import annotations

import re
from pathlib import Path

import pytest

from argus.corpora.opening import read_corpus
from argus.data import read_qrels, read_queries
from argus.knowledge import KnowledgeBase
from argus.knowledge.stdlib import (
    Member,
    first_paragraph,
    relate,
    standard_expansions,
    standard_library,
    standard_questions,
    standard_scenarios,
    write_sample_corpus,
)
from argus.measures import content_words, is_implicit


@pytest.fixture(scope="module")
def base() -> KnowledgeBase:
    return standard_library()


def neighbours(base: KnowledgeBase, name: str) -> set[str]:
    return {base.entities[j].id for j in base.relations.neighbours(base.index[name])}


def member(name: str, doc: str = "", *, kind: str = "function", bases: tuple[str, ...] = ()):
    parent = name.rpartition(".")[0]
    return Member(name, kind, parent, name, bases, doc)


def edges(*members: Member) -> set[tuple[str, str]]:
    graph = relate(members)
    return {
        (members[i].name, members[j].name)
        for i in range(graph.n)
        for j in graph.neighbours(i).tolist()
        if i < j
    }


def test_thousands_of_entities_have_paragraphs_in_order_of_ids(
    base: KnowledgeBase,
) -> None:
    assert len(base.entities) >= 3000
    assert all(e.paragraph.strip() and e.label for e in base.entities)
    ids = [e.id for e in base.entities]
    assert ids == sorted(set(ids))


def test_most_entities_are_related_to_another(base: KnowledgeBase) -> None:
    related = int((base.relations.degree > 0).sum())
    assert related / len(base.entities) >= 0.9, "0.914 on Python 3.11"


def test_labels_are_what_people_say(base: KnowledgeBase) -> None:
    labels = {e.id: e.label for e in base.entities}
    assert labels["collections.deque.append"] == "append"
    assert labels["json.JSONDecoder"] == "JSONDecoder"
    assert labels["os.path"] == "os.path"
    assert labels["ArithmeticError"] == "ArithmeticError"


def test_paragraphs_are_those_of_the_running_interpreter(base: KnowledgeBase) -> None:
    paragraph = {e.id: e.paragraph for e in base.entities}
    assert paragraph["ArithmeticError"] == ArithmeticError.__doc__
    assert paragraph["collections.OrderedDict"] == "Dictionary that remembers insertion order"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("collections.deque", "collections.deque.append"),
        ("collections", "collections.deque"),
        ("json", "json.JSONDecoder"),
        ("json", "json.decoder"),
    ],
)
def test_a_module_contains_its_classes_and_a_class_its_methods(
    base: KnowledgeBase, a: str, b: str
) -> None:
    assert b in neighbours(base, a)
    assert a in neighbours(base, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("ArithmeticError", "ZeroDivisionError"),
        ("OSError", "FileNotFoundError"),
        ("dict", "collections.OrderedDict"),
    ],
)
def test_a_class_is_related_to_its_base(base: KnowledgeBase, a: str, b: str) -> None:
    assert b in neighbours(base, a)


def test_a_docstring_is_related_to_what_it_names(base: KnowledgeBase) -> None:
    # "Function that can be used as copytree() ignore parameter."
    assert "shutil.copytree" in neighbours(base, "shutil.ignore_patterns")


def test_what_has_nothing_to_do_with_each_other_is_not_related(base: KnowledgeBase) -> None:
    assert "json" not in neighbours(base, "collections.deque")
    assert "ZeroDivisionError" not in neighbours(base, "FileNotFoundError")


def test_relations_are_contains_inherits_and_refers_to() -> None:
    assert edges(
        member("zoo", kind="module"),
        member("object", kind="class"),  # everything inherits from it, so it says nothing
        member("zoo.Animal", kind="class", bases=("builtins.object",)),
        member("zoo.Cat", kind="class", bases=("zoo.Animal",)),
        member("zoo.Cat.purr"),
    ) == {("zoo", "zoo.Animal"), ("zoo", "zoo.Cat"), ("zoo.Animal", "zoo.Cat"),
          ("zoo.Cat", "zoo.Cat.purr")}  # fmt: skip


def test_a_base_is_found_where_it_was_made() -> None:
    queue = Member("aio.Queue", "class", "aio", "aio.queues.Queue", ("builtins.object",), "")
    stack = Member("aio.Stack", "class", "aio", "aio.stacks.Stack", ("aio.queues.Queue",), "")
    assert edges(queue, stack) == {("aio.Queue", "aio.Stack")}


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Works like other_one.", {("m.f", "m.other_one")}),
        ("Works like m.plain.", {("m.f", "m.plain")}),
        ("Calls plain().", {("m.f", "m.plain")}),
        ("A plain word.", set()),
        ("Not mother_one, other_one_more or x.other_one.", set()),
        ("First.\n\nWorks like other_one.", set()),
    ],
)
def test_a_name_counts_where_it_looks_like_code(doc: str, expected: set[tuple[str, str]]) -> None:
    assert edges(member("m.f", doc), member("m.other_one"), member("m.plain")) == expected


@pytest.mark.parametrize(
    ("doc", "paragraph"),
    [
        ("One line.", "One line."),
        ("Two\n  lines.\n\nMore.", "Two lines."),
        ("\n\n  First.\n \t\nSecond.", "First."),
        ("f(x, y)\n\nDo it.\n\nMore.", "f(x, y) Do it."),
        ("f(x,\n  y=()) -> int\n\nDo it.", "f(x, y=()) -> int Do it."),
        ("m.f(x) --> y\n\nDo it.", "m.f(x) --> y Do it."),
        ("f(x)", "f(x)"),
        ("f(x) does it.\n\nMore.", "f(x) does it."),
        ("", ""),
        (" \n\n ", ""),
    ],
)
def test_a_signature_takes_the_next_paragraph_along(doc: str, paragraph: str) -> None:
    assert first_paragraph(doc) == paragraph


def test_questions_are_many_and_all_different() -> None:
    questions, qrels = standard_questions()
    assert len(questions) >= 120
    assert len({q.text for q in questions}) == len(questions)
    assert len({q.id for q in questions}) == len(questions)
    assert set(qrels) == {q.id for q in questions}
    assert all(grade == 1 for gold in qrels.values() for grade in gold.values())


def test_every_question_can_be_answered_by_this_interpreter(
    base: KnowledgeBase, tmp_path: Path
) -> None:
    questions, _ = write_sample_corpus(tmp_path, base)
    assert [q.id for q in questions] == [q.id for q in standard_questions()[0]]


def test_at_least_half_of_the_questions_are_implicit() -> None:
    questions, qrels = standard_questions()
    implicit = sum(is_implicit(q.text, list(qrels[q.id])) for q in questions)
    assert implicit >= len(questions) / 2


def test_a_question_without_words_of_its_names_is_implicit() -> None:
    assert is_implicit("slip in a fake for the payment service", ["unittest.mock.patch"])
    assert not is_implicit("how do I patch a function", ["unittest.mock.patch"])
    assert not is_implicit("the list should be sorted by name", ["list.sort"])
    assert not is_implicit("turn a JSON text into objects", ["json.loads"])
    assert not is_implicit("remove the suffix", ["re.sub", "str.removesuffix", "suffix.x"])


def test_content_words_are_those_of_names_too() -> None:
    assert content_words("collections.OrderedDict.move_to_end") == {
        "collections", "ordered", "dict", "move", "end",
    }  # fmt: skip
    assert content_words("How do I use the Queue?") == {"queue"}


def test_the_sample_corpus_is_a_beir_folder(base: KnowledgeBase, tmp_path: Path) -> None:
    queries, qrels = write_sample_corpus(tmp_path, base)
    documents = read_corpus(tmp_path)
    assert [(d.id, d.title, d.text) for d in documents] == [
        (e.id, e.id, e.paragraph) for e in base.entities
    ]
    assert read_queries(tmp_path) == queries
    assert read_qrels(tmp_path / "qrels" / "test.tsv") == qrels
    assert {doc for gold in qrels.values() for doc in gold} <= set(base.index)


def test_a_cut_corpus_keeps_only_questions_that_it_can_answer(
    base: KnowledgeBase, tmp_path: Path
) -> None:
    import numpy as np

    keep = np.array([e.id.startswith("collections") for e in base.entities])
    cut = KnowledgeBase(
        [e for e in base.entities if e.id.startswith("collections")],
        base.relations.restrict(keep),
    )
    queries, qrels = write_sample_corpus(tmp_path, cut)
    _, all_qrels = standard_questions()
    expected = {q for q, gold in all_qrels.items() if any(d in cut.index for d in gold)}
    assert 0 < len(expected) < len(all_qrels)
    assert {q.id for q in queries} == set(qrels) == expected
    assert all(d in cut.index for gold in qrels.values() for d in gold)


def test_scenarios_ship_for_all_gold_and_as_many_others(
    base: KnowledgeBase,
) -> None:
    written = {row["_id"] for row in standard_scenarios(base)}
    assert written == {row["_id"] for row in standard_expansions(base)}
    gold_ids = {doc for gold in standard_questions()[1].values() for doc in gold} & set(base.index)
    assert len(written) >= 400
    assert gold_ids <= written
    assert len(written - gold_ids) >= len(gold_ids) - 10


def test_scenarios_were_not_copied_from_the_questions(
    base: KnowledgeBase,
) -> None:
    """No seven words in a row of a question stand in a scenario of what it wants, but for two."""
    queries, qrels = standard_questions()
    scenarios = {row["_id"]: row["scenarios"] for row in standard_scenarios(base)}

    def runs(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"\w+", text.lower())
        return {tuple(words[i : i + 7]) for i in range(len(words) - 6)}

    shared = []
    for query in queries:
        question_runs = runs(query.text)
        for doc in qrels[query.id]:
            needs = [" ".join(s.values()) for s in scenarios.get(doc, [])]
            shared += [
                (query.id, doc, run)
                for run in question_runs & set().union(*map(runs, needs), set())
            ]
    assert {query for query, _, _ in shared} <= {"q009", "q119"}  # idioms: "remove duplicates ..."
