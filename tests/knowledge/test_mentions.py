from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.corpora.opening import read_corpus
from argus.data import Span
from argus.knowledge import Entity, KnowledgeSource, ground, load_knowledge, mention_relations
from argus.knowledge.mentions import search
from argus.knowledge.relations import RelationGraph


def found(label: str, paragraph: str) -> str | None:
    """Return what `label` was grounded in, None when it had to be put in front."""
    grounded = ground(label, paragraph)
    if grounded.prepended or grounded.span is None:
        return None
    return grounded.text[grounded.span.start : grounded.span.end]


def test_the_earliest_mention_is_taken() -> None:
    grounded = ground("Ada", "Notes by Ada, and again by Ada.")
    assert grounded.text == "Notes by Ada, and again by Ada."
    assert grounded.span == Span(9, 12)
    assert not grounded.prepended


@pytest.mark.parametrize(
    ("label", "paragraph", "mention"),
    [
        ("Ada Lovelace", "The notes of ADA LOVELACE.", "ADA LOVELACE"),
        ("ADA lovelace", "The notes of Ada Lovelace.", "Ada Lovelace"),
        ("Ada Lovelace", "The notes of Ada\n  Lovelace.", "Ada\n  Lovelace"),
        ("Ada  Lovelace", "The notes of Ada Lovelace.", "Ada Lovelace"),
        ("  Ada Lovelace\n", "The notes of Ada Lovelace.", "Ada Lovelace"),
        ("Spider-Man", "A film about Spider Man.", "Spider Man"),
        ("Spider Man", "A film about Spider-Man.", "Spider-Man"),
        ("Do You Believe?", "The song Do You Believe is old.", "Do You Believe"),
        ("Dr. No", "In Dr No he swims.", "Dr No"),
        ("St Ives, Cornwall", "The harbour of St. Ives (Cornwall) is old.", "St. Ives (Cornwall"),
    ],
)
def test_case_space_and_punctuation_between_words_do_not_matter(
    label: str, paragraph: str, mention: str
) -> None:
    assert found(label, paragraph) == mention


@pytest.mark.parametrize(
    ("label", "paragraph"),
    [
        ("Ada", "Canada and Adana are places."),
        ("Ada", "The name ada_1 is no word of its own."),
        ("New York", "A New Yorker wrote it."),
        ("New York", "York is New."),
        ("list", "listen"),
    ],
)
def test_a_mention_stands_at_word_boundaries(label: str, paragraph: str) -> None:
    grounded = ground(label, paragraph)
    assert grounded.prepended
    assert grounded.text == f"{label} {paragraph}"
    assert grounded.span == Span(0, len(label))


def test_a_whole_word_is_found_behind_a_part_of_one() -> None:
    assert ground("Ada", "Canada was home to Ada.").span == Span(19, 22)


@pytest.mark.parametrize(
    ("label", "paragraph", "mention"),
    [
        ("C++", "Written in c++.", "c++"),
        ("C++", "The C++11 standard.", "C++"),
        ("a.b(c)", "Call A.B(C) twice.", "A.B(C)"),
        ("[x]*", "The list [x]* is odd.", "[x]*"),
        ("(500) Days", "The film (500) Days of Summer.", "(500) Days"),
        ("\\d+", "Write \\d+ here.", "\\d+"),
        ("$100 | more", "It cost $100 | more.", "$100 | more"),
    ],
)
def test_what_means_something_in_a_pattern_is_taken_as_it_is(
    label: str, paragraph: str, mention: str
) -> None:
    assert found(label, paragraph) == mention


@pytest.mark.parametrize(
    ("label", "paragraph"),
    [
        ("C++", "The letter C is old."),
        ("a.b(c)", "aXb c, or abc."),
        ("C#", "In C major."),
        ("[x]*", "xx"),
    ],
)
def test_a_short_label_is_not_found_without_its_punctuation(label: str, paragraph: str) -> None:
    assert found(label, paragraph) is None
    assert ground(label, paragraph).text.startswith(label)


@pytest.mark.parametrize(
    ("label", "paragraph", "span"),
    [
        ("İstanbul", "İİ ve İstanbul şehri", Span(6, 14)),
        ("Weißsee", "ßßß am Weißsee gelegen", Span(7, 14)),
        ("Zürich", "İß ZÜRICH ist groß", Span(3, 9)),
        ("ﬁlm", "İ ﬁlm", Span(2, 5)),
        ("東京都", "首都は 東京都 です", Span(4, 7)),
        ("Ada", "\U0001f600 Ada", Span(2, 5)),
    ],
)
def test_spans_count_characters_before_case_folding(label: str, paragraph: str, span: Span) -> None:
    grounded = ground(label, paragraph)
    assert (grounded.text, grounded.span, grounded.prepended) == (paragraph, span, False)


def test_an_absent_label_is_put_in_front_with_its_span() -> None:
    grounded = ground(" Ada ", "She wrote notes.")
    assert grounded.text == "Ada She wrote notes."
    assert grounded.span == Span(0, 3)
    assert grounded.prepended
    alone = ground("Ada", "")
    assert (alone.text, alone.span, alone.prepended) == ("Ada", Span(0, 3), True)


@pytest.mark.parametrize("label", ["", "  \n"])
def test_an_empty_label_gives_no_span_and_leaves_the_paragraph(label: str) -> None:
    grounded = ground(label, "She wrote notes.")
    assert (grounded.text, grounded.span, grounded.prepended) == ("She wrote notes.", None, False)


def test_an_earlier_loose_mention_wins_over_a_later_exact_one() -> None:
    assert ground("Spider Man", "Spider-Man is Spider Man.").span == Span(0, 10)


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


def related(*entities: tuple[str, str]) -> set[tuple[int, int]]:
    """Return the pairs that mentions relate among entities given as (label, paragraph)."""
    return pairs(mention_relations([Entity(str(i), *e) for i, e in enumerate(entities)]))


def test_a_paragraph_relates_its_entity_to_those_it_names() -> None:
    assert related(
        ("Ada Lovelace", "She knew Charles Babbage and Mary Somerville."),
        ("Charles Babbage", "He built machines."),
        ("Mary Somerville", "She taught Ada Lovelace."),
    ) == {(0, 1), (0, 2)}


def test_an_entity_is_not_related_to_itself() -> None:
    graph = mention_relations(
        [Entity("0", "Ada Lovelace", "Ada Lovelace wrote."), Entity("1", "Jack Jones", "")]
    )
    assert (pairs(graph), graph.self_loops) == (set(), 1)


def test_names_are_found_exactly_and_in_their_own_case() -> None:
    assert related(("Big Ben", ""), ("Other", "A big ben, a BIG BEN, a Big  Ben.")) == set()
    assert related(("Big Ben", ""), ("Other", "It is Big Ben.")) == {(0, 1)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Big Bend is far.", set()),
        ("The ABig Ben.", set()),
        ("Big Ben_2", set()),
        ("Big Ben2", set()),
        ("«Big Ben»", {(0, 1)}),
        ("Big Ben's", {(0, 1)}),
        ("Big Ben", {(0, 1)}),
        ("Zwölf Öfen \U0001f600 bei Big Ben.", {(0, 1)}),
    ],
)
def test_names_stand_at_word_boundaries(text: str, expected: set[tuple[int, int]]) -> None:
    assert related(("Big Ben", ""), ("Other", text)) == expected


def test_the_longest_name_wins() -> None:
    assert related(
        ("New York", ""), ("New York City", ""), ("Other", "Born in New York City.")
    ) == {(1, 2)}


def test_two_words_may_be_named_without_final_parenthesis() -> None:
    assert related(("Get Carter (film)", ""), ("Other", "He saw Get Carter.")) == {(0, 1)}
    assert related(("Get Carter (film)", ""), ("Other", "He saw Get Carter (film).")) == {(0, 1)}
    assert related(("Mercury (planet)", ""), ("Other", "He saw Mercury.")) == set()
    assert related(("Mercury (planet)", ""), ("Other", "On Mercury (planet).")) == {(0, 1)}


def test_names_under_four_characters_are_left_out() -> None:
    assert related(("Ada", ""), ("Other", "Notes by Ada.")) == set()
    assert related(("Adam", ""), ("Other", "Notes by Adam.")) == {(0, 1)}
    assert related(("", ""), ("Other", "Notes by Adam.")) == set()


def test_a_name_that_two_entities_share_is_left_out() -> None:
    text = "It is by Tony Owen."
    assert related(("Tony Owen", ""), ("Tony Owen", ""), ("Other", text)) == set()
    assert related(("Tony Owen (a)", ""), ("Tony Owen (b)", ""), ("Other", text)) == set()
    assert related(("Tony Owen", ""), ("Tony Owen (b)", ""), ("Other", text)) == set()
    assert related(
        ("Tony Owen (a)", ""), ("Tony Owen (b)", ""), ("Other", "By Tony Owen (b).")
    ) == {(1, 2)}


def test_a_word_that_also_occurs_in_lower_case_is_no_name() -> None:
    assert related(("Jaws", ""), ("Other", "He saw Jaws."), ("Third", "Its jaws.")) == set()
    assert related(("Jaws", ""), ("Other", "He saw Jaws."), ("Third", "Its teeth.")) == {(0, 1)}
    two_words = related(("The Jaws", ""), ("Other", "He saw The Jaws."), ("Third", "the jaws."))
    assert two_words == {(0, 1)}


def test_only_paragraphs_are_read_not_labels() -> None:
    assert related(("Get Carter", ""), ("Story of Get Carter", "")) == set()


def test_no_entities_and_no_names_give_an_empty_graph() -> None:
    assert (mention_relations([]).n, mention_relations([]).n_pairs) == (0, 0)
    nameless = mention_relations([Entity("a", "", "Some text."), Entity("b", "", "")])
    assert (nameless.n, nameless.n_pairs) == (2, 0)


def test_a_longer_name_off_boundaries_hides_no_shorter_one() -> None:
    assert related(
        ("Apollo Program", ""), ("Apollo Program 1", ""), ("Other", "The Apollo Program 1961.")
    ) == {(0, 2)}


def test_mentions_on_2wiki_agree_with_independent_edges(shared) -> None:
    root: Path = shared("wiki2")
    documents = read_corpus(root)
    given_edges, source = load_knowledge(documents, KnowledgeSource(), corpus=root)
    assert source == root / "edges.tsv"
    expected = pairs(given_edges.relations)
    assert len(expected) == 2162
    own = pairs(mention_relations(given_edges.entities))
    both = len(own & expected)
    assert both / len(expected) >= 0.95, "recall; 0.962 when this was written"
    assert both / len(own) >= 0.975, "precision; 0.986 when this was written"


def test_halves_of_characters_hide_no_mention_and_name_nothing():
    cut = "\ud83d"  # half of an emoji, as a text that was cut inside one ends
    relations = mention_relations(
        [
            Entity("a", "Ada Lovelace", f"{cut}Charles Babbage{cut} built engines {cut}"),
            Entity("b", "Charles Babbage", "A mathematician."),
            Entity("c", f"Half{cut} Name", "Named in d."),
            Entity("d", "Another Name", f"After Half{cut} Name, and Half\ufffd Name."),
        ]
    )
    assert [relations.neighbours(i).tolist() for i in range(4)] == [[1], [0], [], []]


WORDS = st.text("aAbß_ .,-'\u0301é\u00a0İ1", max_size=8)


@given(WORDS, WORDS, st.booleans())
@settings(deadline=None)
def test_the_short_way_to_a_label_finds_what_the_long_one_finds(label, rest, begins):
    paragraph = label + rest if begins else rest
    if label.strip():
        assert ground(label, paragraph) == search(label.strip(), paragraph)
