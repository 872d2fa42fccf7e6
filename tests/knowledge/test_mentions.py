from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.corpora.opening import open_corpus
from argus.knowledge import Entity, KnowledgeSource, ground, mention_relations, read_knowledge
from argus.knowledge.base import RelationGraph


def found(label: str, paragraph: str) -> str | None:
    """Return what `label` was grounded in, None when it had to be put in front."""
    grounded = ground(label, paragraph)
    if grounded.prepended or grounded.span is None:
        return None
    return grounded.text[grounded.span.start : grounded.span.end]


@pytest.mark.parametrize(
    ("label", "paragraph", "mention"),
    [
        ("Ada Lovelace", "The notes of ADA LOVELACE.", "ADA LOVELACE"),
        ("Ada Lovelace", "The notes of Ada\n  Lovelace.", "Ada\n  Lovelace"),
        ("  Ada Lovelace\n", "The notes of Ada Lovelace.", "Ada Lovelace"),
        ("Spider-Man", "A film about Spider Man.", "Spider Man"),
        ("Do You Believe?", "The song Do You Believe is old.", "Do You Believe"),
        ("Dr. No", "In Dr No he swims.", "Dr No"),
        ("Zürich", "İß ZÜRICH ist groß", "ZÜRICH"),
        ("東京都", "\U0001f600 首都は 東京都 です", "東京都"),
        ("St Ives, Cornwall", "The harbour of St. Ives (Cornwall) is old.", "St. Ives (Cornwall"),
    ],
)
def test_case_space_and_punctuation_between_words_do_not_matter(
    label: str, paragraph: str, mention: str
) -> None:
    assert found(label, paragraph) == mention


def letters(text: str) -> str:
    """Return letters and digits of `text` without case. Dotless ı counts as i, as in `re`."""
    return "".join(c for c in text.casefold() if c.isalnum()).replace("ı", "i")


pieces = st.text(alphabet="aAsSkİıßẞſK1_ .-+(\n", max_size=6) | st.text(max_size=4)


@given(label=pieces, around=st.lists(pieces, max_size=4), flipped=st.booleans())
def test_a_span_is_the_label_in_front_or_a_whole_mention(
    label: str, around: list[str], flipped: bool
) -> None:
    paragraph = (label.swapcase() if flipped else label).join(around)
    grounded = ground(label, paragraph)
    name, text, span = label.strip(), grounded.text, grounded.span
    if span is None:
        assert not name
        assert text == paragraph
        return
    assert 0 <= span.start < span.end <= len(text)
    covered = text[span.start : span.end]
    if grounded.prepended:
        assert covered == name
        assert text == (f"{name} {paragraph}" if paragraph else name)
        return
    assert text == paragraph
    assert letters(covered) == letters(name)

    def is_word(c: str) -> bool:
        return c.isalnum() or c == "_"

    before, after = text[: span.start][-1:], text[span.end :][:1]
    assert not (is_word(covered[0]) and is_word(before or " "))
    assert not (is_word(covered[-1]) and is_word(after or " "))


@given(label=pieces.filter(str.strip), before=pieces, after=pieces)
def test_a_label_that_stands_there_alone_is_always_found(
    label: str, before: str, after: str
) -> None:
    name = label.strip()
    grounded = ground(label, f"{before} {name} {after}")
    assert not grounded.prepended
    assert grounded.span is not None
    assert grounded.span.start <= len(before) + 1


def pairs(graph: RelationGraph) -> set[tuple[int, int]]:
    return {(i, j) for i in range(graph.n) for j in graph.neighbours(i).tolist() if i < j}


def test_a_paragraph_relates_its_entity_to_those_it_names() -> None:
    entities = [
        Entity("0", "Ada Lovelace", "She knew Charles Babbage and Mary Somerville."),
        Entity("1", "Charles Babbage", "He built machines."),
        Entity("2", "Mary Somerville", "She taught Ada Lovelace."),
    ]
    assert pairs(mention_relations(entities)) == {(0, 1), (0, 2)}


def test_mentions_on_2wiki_agree_with_independent_edges(shared) -> None:
    root: Path = shared("wiki2")
    given = read_knowledge(open_corpus(root), KnowledgeSource())
    assert given.relations == root / "edges.tsv"
    expected = pairs(given.base.relations)
    assert len(expected) == 2162
    own = pairs(mention_relations(given.base.entities))
    both = len(own & expected)
    assert both / len(expected) >= 0.95, "recall; 0.962 when this was written"
    assert both / len(own) >= 0.975, "precision; 0.986 when this was written"
