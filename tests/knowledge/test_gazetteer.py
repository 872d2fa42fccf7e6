import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.corpora.opening import read_corpus
from argus.data import Document, Span
from argus.errors import InputError
from argus.knowledge.gazetteer import Gazetteer, GazetteerConfig


def gazetteer(*titles: str) -> Gazetteer:
    documents = [Document(str(i), "", title) for i, title in enumerate(titles)]
    return Gazetteer.from_documents(documents, GazetteerConfig(ignore_case=True))


def test_a_kb_of_unusable_names_is_refused_with_counts() -> None:
    documents = [Document("1", "a list", "List"), Document("2", "", "A"), Document("3", "", "?")]
    expected = r"no name .* is left \(1 common words, 1 too short, 1 without a letter or digit\)"
    with pytest.raises(InputError, match=expected):
        Gazetteer.from_documents(documents)


def test_a_name_that_several_have_without_case_is_of_all() -> None:
    ((mention,),) = gazetteer("Apple", "APPLE").find(["apple"])
    assert (mention.surface, mention.entity_ids) == ("apple", ("0", "1"))


@pytest.mark.parametrize(
    ("name", "text", "span"),
    [
        ("İstanbul", "İİ ve İSTANBUL şehri", Span(6, 14)),
        ("Zürich", "İß ZÜRICH ist groß", Span(3, 9)),
        ("ΣΟΦΟΣ", "ß σοφος σοφός", Span(2, 7)),
        ("Ada", "\U0001f600ﬃ ADA", Span(3, 6)),
    ],
)
def test_spans_count_characters_before_folding(name: str, text: str, span: Span) -> None:
    (mentions,) = gazetteer(name).find([text])
    assert [m.span for m in mentions] == [span]


ALPHABET = "aAb sSßİiﬁfé\u0301+*(1 "
name_texts = st.text(alphabet=ALPHABET, min_size=1, max_size=5).map(lambda n: " ".join(n.split()))


def naive(names: list[str], text: str, *, ignore_case: bool) -> list[tuple[int, int]]:
    """Try every position, longest stretch first."""

    def same(a: str) -> str:
        folds = (c.casefold() if len(c.casefold()) == 1 else c for c in a)
        return "".join(folds) if ignore_case else a

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
            and re.sub(r"\s", " ", same(text[at:end])) in forms
            and boundary(at) and boundary(end)
        ]  # fmt: skip
        if ends:
            spans.append((at, ends[0]))
        at = ends[0] if ends else at + 1
    return spans


@given(
    names=st.lists(name_texts.filter(bool), min_size=1, max_size=6),
    parts=st.lists(st.integers(0, 5) | st.text(alphabet=ALPHABET, max_size=4), max_size=8),
    glue=st.sampled_from(["", " ", "\n"]),
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
    for document, mentions in zip(documents, finder.find(texts), strict=False):
        if document.text.startswith(f"{document.title}(") and document.title in finder.names:
            assert mentions[0].span.start == 0
            assert document.id in mentions[0].entity_ids
