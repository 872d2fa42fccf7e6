from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.corpora.opening import read_corpus
from argus.data import Document, Span
from argus.errors import InputError
from argus.knowledge.gazetteer import Gazetteer
from argus.knowledge.source import GazetteerConfig


def gazetteer(*titles: str, **options) -> Gazetteer:
    documents = [Document(str(i), "", title) for i, title in enumerate(titles)]
    return Gazetteer.from_documents(documents, GazetteerConfig(**options))


def found(finder: Gazetteer, text: str) -> list[tuple[str, tuple[str, ...]]]:
    (mentions,) = finder.find([text])
    assert [text[m.span.start : m.span.end] for m in mentions] == [m.surface for m in mentions]
    return [(m.surface, m.entity_ids) for m in mentions]


def surfaces(finder: Gazetteer, text: str) -> list[str]:
    return [surface for surface, _ in found(finder, text)]


def test_the_longest_name_at_the_leftmost_place_wins() -> None:
    finder = gazetteer("New York", "New York City", "City Hall", "York")
    text = "In New York City Hall, York and New York."
    assert found(finder, text) == [
        ("New York City", ("1",)),
        ("York", ("3",)),
        ("New York", ("0",)),
    ]


def test_a_longer_name_inside_a_word_hides_no_shorter_one() -> None:
    finder = gazetteer("Apollo Program", "Apollo Program 1")
    assert surfaces(finder, "The Apollo Program 1961") == ["Apollo Program"]


def test_documents_may_share_a_name() -> None:
    finder = gazetteer("Mercury (planet)", "Mercury (god)", "Mercury")
    assert found(finder, "On Mercury (god) and Mercury.") == [
        ("Mercury (god)", ("1",)),
        ("Mercury", ("0", "1", "2")),
    ]


@pytest.mark.parametrize("aliases", [["Lovelace", " Ada  King"], "Lovelace| Ada  King|"])
def test_aliases_are_names_too(aliases) -> None:
    ada = Document("ada", "", "Ada Byron", {"aliases": aliases})
    finder = Gazetteer.from_documents([ada])
    assert found(finder, "Lovelace, Ada King; Ada Byron") == [
        ("Lovelace", ("ada",)), ("Ada King", ("ada",)), ("Ada Byron", ("ada",)),
    ]  # fmt: skip
    assert len(finder.names) == 3


@pytest.mark.parametrize("aliases", [7, [7], {"a": 1}])
def test_aliases_of_another_kind_are_refused(aliases) -> None:
    with pytest.raises(
        InputError, match=r"aliases .* of document 'd1'; expected a list of strings"
    ):
        Gazetteer.from_documents([Document("d1", "", "Ada", {"aliases": aliases})])


def test_a_knowledge_base_without_any_title_is_refused() -> None:
    for documents in ([Document("1", "Text."), Document("2", "Text.", " ")], []):
        with pytest.raises(InputError) as refused:
            Gazetteer.from_documents(documents)
        assert f"none of {len(documents)} documents of the knowledge base" in str(refused.value)
        assert "expected names in the field `title`" in str(refused.value)


def test_a_kb_of_unusable_names_is_refused_with_counts() -> None:
    documents = [Document("1", "a list", "List"), Document("2", "", "A"), Document("3", "", "?")]
    expected = r"no name .* is left \(1 common words, 1 too short, 1 without a letter or digit\)"
    with pytest.raises(InputError, match=expected):
        Gazetteer.from_documents(documents)


def test_what_means_something_in_a_pattern_is_taken_as_it_is() -> None:
    finder = gazetteer("C++", "A*", "(a)", "[x]+", "Who?", "a|b", min_length=2)
    text = "C++ and C, A* AA, (a) a, [x]+ xx, Who? Wh, a|b a b"
    assert surfaces(finder, text) == ["C++", "A*", "(a)", "[x]+", "Who?", "a|b"]


def test_short_and_punctuation_names_are_left_out_and_counted() -> None:
    finder = gazetteer("It", "!!!", "…", "Ada", "\ud83d a")
    assert (set(finder.names), finder.left_out) == (
        {"Ada"}, {"too short": 1, "without a letter or digit": 3},
    )  # fmt: skip
    assert set(gazetteer("It", "!!!", min_length=2).names) == {"It"}
    with pytest.raises(InputError) as caught:
        GazetteerConfig(min_length=0)
    assert caught.value.where == "--min-length"


def test_one_word_names_that_occur_in_lower_case_are_left_out() -> None:
    documents = [Document("1", "A shark opens its jaws.", "Jaws"), Document("2", "", "Alien")]
    finder = Gazetteer.from_documents(documents)
    assert (set(finder.names), finder.left_out) == ({"Alien"}, {"common words": 1})
    with pytest.raises(InputError, match="2 common words"):
        Gazetteer.from_documents(documents, texts=["an alien"])
    gazetteer = Gazetteer.from_documents(documents, GazetteerConfig(common_words=True))
    assert set(gazetteer.names) == {"Jaws", "Alien"}
    multi = [Document("1", "the jaws of life", "The Jaws")]
    assert set(Gazetteer.from_documents(multi).names) == {"The Jaws"}


def test_with_case_ignored_lower_case_names_are_found() -> None:
    documents = [Document(str(i), "", t) for i, t in enumerate(["Deque", "Bern", "After", "Them"])]
    text = "a deque from bern, after them"
    finder = Gazetteer.from_documents(documents, GazetteerConfig(ignore_case=True), texts=[text])
    assert surfaces(finder, text) == ["deque", "bern"]
    assert finder.left_out == {"common words": 2}, "function words are no names in any case"
    exact = Gazetteer.from_documents([*documents, Document("9", "", "New York")], texts=[text])
    assert exact.left_out == {"common words": 4}
    both = GazetteerConfig(ignore_case=True, common_words=True)
    assert surfaces(Gazetteer.from_documents(documents, both, texts=[text]), text) == [
        "deque", "bern", "after", "them",
    ]  # fmt: skip


def test_case_counts_unless_it_is_ignored() -> None:
    text = "big ben, BIG BEN, Big Ben"
    assert surfaces(gazetteer("Big Ben"), text) == ["Big Ben"]
    assert surfaces(gazetteer("Big Ben", ignore_case=True), text) == [
        "big ben",
        "BIG BEN",
        "Big Ben",
    ]
    assert found(gazetteer("Apple", "APPLE", ignore_case=True), "apple") == [("apple", ("0", "1"))]


@pytest.mark.parametrize(
    ("name", "text", "span"),
    [
        ("İstanbul", "İİ ve İSTANBUL şehri", Span(6, 14)),
        ("Weißsee", "ßßß am WEISSSEE", Span(7, 15)),
        ("Weisssee", "ßßß am Weißsee", Span(7, 14)),
        ("Zürich", "İß ZÜRICH ist groß", Span(3, 9)),
        ("film noir", "İ ﬁlm noir", Span(2, 10)),
        ("ﬁlm", "ß FILM", Span(2, 6)),
        ("ΣΟΦΟΣ", "ß σοφος σοφός", Span(2, 7)),
        ("Ada", "\U0001f600ﬃ ADA", Span(3, 6)),
    ],
)
def test_spans_count_characters_before_folding(name: str, text: str, span: Span) -> None:
    (mentions,) = gazetteer(name, ignore_case=True).find([text])
    assert [m.span for m in mentions] == [span]


def test_half_a_character_is_no_match() -> None:
    assert surfaces(gazetteer("Strass", ignore_case=True), "Straß") == ["Straß"]
    assert surfaces(gazetteer("Stras", ignore_case=True), "Straß") == []
    assert surfaces(gazetteer("s Haus", ignore_case=True), "ß Haus") == []


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("ignore_case", [False, True])
def test_names_are_found_composed_and_decomposed(form: str, ignore_case: bool) -> None:
    finder = gazetteer(
        "Málaga Vélez", unicodedata.normalize("NFD", "Zürich"), ignore_case=ignore_case
    )
    text = unicodedata.normalize(form, "é: Málaga Vélez, Zürich")
    assert [unicodedata.normalize("NFC", s) for s in surfaces(finder, text)] == [
        "Málaga Vélez", "Zürich",
    ]  # fmt: skip
    assert surfaces(gazetteer("Zurich"), unicodedata.normalize("NFD", "Zürich")) == []


def test_any_run_of_white_space_matches_one() -> None:
    finder = gazetteer("Ada  Byron")
    text = "Ada\n   Byron, Ada\u00a0Byron, Ada Byron, AdaByron"
    assert surfaces(finder, text) == ["Ada\n   Byron", "Ada\u00a0Byron", "Ada Byron"]


def test_scripts_without_spaces_have_words_everywhere() -> None:
    assert surfaces(gazetteer("東京", "東京都", min_length=2), "首都は東京都です。東京へ") == [
        "東京都",
        "東京",
    ]


@pytest.mark.parametrize("text", ["", " \n", "\ud83d", "no name here"])
def test_texts_without_names_have_no_mentions(text: str) -> None:
    assert list(gazetteer("Ada").find([text])) == [[]]


def test_broken_characters_do_not_move_spans() -> None:
    (mentions,) = gazetteer("Ada").find(["\ud83d Ada \udc00"])
    assert [m.span for m in mentions] == [Span(2, 5)]


def test_no_texts_and_no_names_give_nothing() -> None:
    assert list(gazetteer("Ada").find([])) == []
    assert list(Gazetteer({}).find(["Ada"])) == [[]]


def test_the_name_tells_apart_what_would_find_something_else() -> None:
    finders = [
        gazetteer("Ada Byron"), gazetteer("Ada Byro"), gazetteer("Ada Byron", ignore_case=True),
        Gazetteer({"Ada Byron": ("7",)}),
    ]  # fmt: skip
    assert len({finder.name for finder in finders}) == 4
    assert finders[0].name == gazetteer("Ada Byron").name
    assert finders[0].name.startswith("gazetteer names=1 case=exact digest=")


ALPHABET = "aAb sSßİiﬁfé\u0301+*(1 "
name_texts = st.text(alphabet=ALPHABET, min_size=1, max_size=5).map(lambda n: " ".join(n.split()))


def naive(names: list[str], text: str, *, ignore_case: bool) -> list[tuple[int, int]]:
    """Try every position, longest stretch first."""

    def same(a: str) -> str:
        return a.casefold() if ignore_case else a

    def word(c: str) -> bool:
        return c.isalnum() or c == "_" or unicodedata.category(c)[0] == "M"

    def boundary(at: int) -> bool:
        if at in (0, len(text)):
            return True
        if unicodedata.category(text[at])[0] == "M":
            return False
        return not (word(text[at - 1]) and word(text[at]))

    forms = {same(unicodedata.normalize(form, n)) for n in names for form in ("NFC", "NFD")}
    spans, at = [], 0
    while at < len(text):
        ends = [
            end
            for end in range(len(text), at, -1)
            if text[at:end] == text[at:end].strip()
            and " ".join(same(text[at:end]).split()) in forms
            and boundary(at) and boundary(end)
        ]  # fmt: skip
        if ends:
            spans.append((at, ends[0]))
        at = ends[0] if ends else at + 1
    return spans


@given(
    names=st.lists(name_texts.filter(bool), min_size=1, max_size=6),
    parts=st.lists(st.integers(0, 5) | st.text(alphabet=ALPHABET, max_size=4), max_size=8),
    glue=st.sampled_from(["", " ", "\n "]),
    ignore_case=st.booleans(),
)
def test_it_finds_what_trying_every_position_finds(names, parts, glue, ignore_case) -> None:
    text = glue.join(names[p % len(names)] if isinstance(p, int) else p for p in parts)
    finder = Gazetteer({name: (name,) for name in names}, ignore_case)
    (mentions,) = finder.find([text])
    spans = [(m.span.start, m.span.end) for m in mentions]
    assert spans == naive(names, text, ignore_case=ignore_case)


def test_wiki2_titles_are_found_in_wiki2_passages(shared) -> None:
    documents = read_corpus(shared("wiki2"))
    finder = Gazetteer.from_documents(documents)
    texts = [d.text for d in documents[:500]]
    names = list(finder.names)
    for document, mentions in zip(documents, finder.find(texts), strict=False):
        if document.text.startswith(f"{document.title}(") and document.title in finder.names:
            assert mentions[0].span.start == 0
            assert document.id in mentions[0].entity_ids
    sample = [text[:120] for text in texts[:8]]
    expected = [naive([n for n in names if n in text], text, ignore_case=False) for text in sample]
    got = [[(m.span.start, m.span.end) for m in ms] for ms in finder.find(sample)]
    assert got == expected
