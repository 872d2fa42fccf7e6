from __future__ import annotations

import re

import pytest

from argus.knowledge import KnowledgeBase
from argus.knowledge.stdlib import (
    Member,
    first_paragraph,
    relate,
    standard_library,
    standard_questions,
    standard_scenarios,
)


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
