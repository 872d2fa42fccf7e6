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


def test_a_module_contains_its_classes_and_a_class_its_methods(base: KnowledgeBase) -> None:
    def neighbours(name: str) -> set[str]:
        return {base.entities[j].id for j in base.relations.neighbours(base.index[name])}

    for a, b in (
        ("collections.deque", "collections.deque.append"), ("collections", "collections.deque"),
        ("json", "json.JSONDecoder"), ("json", "json.decoder"),
    ):  # fmt: skip
        assert b in neighbours(a) and a in neighbours(b)


@pytest.mark.parametrize(
    ("doc", "related"),
    [
        ("Works like other_one.", ["m.other_one"]),
        ("Works like m.plain.", ["m.plain"]),
        ("Calls plain().", ["m.plain"]),
        ("A plain word.", []),
        ("Not mother_one, other_one_more or x.other_one.", []),
        ("First.\n\nWorks like other_one.", []),
    ],
)
def test_a_name_counts_where_it_looks_like_code(doc: str, related: list[str]) -> None:
    texts = {"m.f": doc, "m.other_one": "", "m.plain": ""}
    members = [Member(name, "function", "m", name, (), text) for name, text in texts.items()]
    assert [members[j].name for j in relate(members).neighbours(0)] == related


@pytest.mark.parametrize(
    ("doc", "paragraph"),
    [
        ("Two\n  lines.\n\nMore.", "Two lines."),
        ("\n\n  First.\n \t\nSecond.", "First."),
        ("f(x, y)\n\nDo it.\n\nMore.", "f(x, y) Do it."),
        ("f(x,\n  y=()) -> int\n\nDo it.", "f(x, y=()) -> int Do it."),
        ("m.f(x) --> y\n\nDo it.", "m.f(x) --> y Do it."),
        ("f(x) does it.\n\nMore.", "f(x) does it."),
        ("", ""),
    ],
)
def test_a_signature_takes_the_next_paragraph_along(doc: str, paragraph: str) -> None:
    assert first_paragraph(doc) == paragraph


def test_scenarios_were_not_copied_from_the_questions(base: KnowledgeBase) -> None:
    """No seven words in a row of a question stand in a scenario of what it wants, but for two."""
    queries, qrels = standard_questions()
    scenarios = {row["_id"]: row["scenarios"] for row in standard_scenarios(base)}

    def runs(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"\w+", text.lower())
        return {tuple(words[i : i + 7]) for i in range(len(words) - 6)}

    shared = set()
    for query in queries:
        needs = [" ".join(s.values()) for doc in qrels[query.id] for s in scenarios.get(doc, [])]
        if runs(query.text) & set().union(*map(runs, needs)):
            shared.add(query.id)
    assert shared <= {"q009", "q119"}  # idioms: "remove duplicates ..."
