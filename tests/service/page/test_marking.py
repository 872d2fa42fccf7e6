"""Texts in pieces: joined they are the text again, and what is marked is said by the question."""

from hypothesis import given
from hypothesis import strategies as st

from argus.generative.answer import HitKey
from argus.indexes.words import STEMMED
from argus.service.page.generative import pieces_of
from argus.service.page.why_not import marked, shared_terms

TEXT = st.text("abc déß<>&'\" ſﬁ-_.", max_size=60)


@given(TEXT, TEXT)
def test_pieces_make_the_text_again(question, text):
    terms = shared_terms(question, [text], STEMMED)
    pieces = marked(text, terms, STEMMED)
    assert "".join(piece.text for piece in pieces) == text
    assert all(terms & set(STEMMED.documents(p.text)) for p in pieces if p.is_match)


def test_words_are_marked_in_all_their_forms():
    terms = shared_terms("Which rivers flow here?", ["The river flows north."], STEMMED)
    shown = [
        piece.text for piece in marked("The river flows north.", terms, STEMMED) if piece.is_match
    ]
    assert shown == ["river", "flows"]


@given(TEXT, st.lists(TEXT, max_size=4))
def test_ngrams_are_marked_where_the_text_says_them(text, ngrams):
    pieces = pieces_of(text, [HitKey(words, 1, 1.0, "body") for words in ngrams], "")
    assert "".join(piece for piece, _ in pieces) == text
    for words in filter(None, (words.strip() for words in ngrams)):
        at = text.find(words)
        if at >= 0:
            ends = [sum(len(p) for p, _ in pieces[: i + 1]) for i in range(len(pieces))]
            said = [
                flag
                for end, (p, flag) in zip(ends, pieces, strict=True)
                if end - len(p) < at + len(words) and end > at
            ]
            assert all(said)
