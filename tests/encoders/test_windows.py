import re

from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import Span
from argus.encoders.models import place_window
from tests.support.draws import examples

WORDS = st.text("abcdefgh", min_size=1, max_size=14)
GAPS = st.sampled_from([" ", "  ", ", ", ".\n", " - "])


def tokens(text):
    """A stand-in for WordPiece: words in pieces of at most four letters, and punctuation."""
    return [match.span() for match in re.finditer(r"\w{1,4}|[^\w\s]", text)]


@st.composite
def mentions(draw):
    """A text of up to 120 words, a span of one to three words in it, and a room."""
    parts = draw(st.lists(st.tuples(WORDS, GAPS), min_size=3, max_size=120))
    text = "".join(word + gap for word, gap in parts)
    words = [match.span() for match in re.finditer(r"\w+", text)]
    first = draw(st.integers(0, len(words) - 1))
    last = min(first + draw(st.integers(0, 2)), len(words) - 1)
    room = draw(st.integers(40, 80))  # three words are at most 12 pieces and 6 signs
    return text, Span(words[first][0], words[last][1]), room


@given(mentions())
@settings(max_examples=examples(200))
def test_the_window_is_a_stretch_of_text_with_the_mention_that_the_model_reads_whole(mention):
    text, span, room = mention
    window, place = place_window(text, span, tokens(text), room)
    assert window[place.start : place.end] == text[span.start : span.end]
    begin = span.start - place.start
    assert text[begin : begin + len(window)] == window
    assert len(tokens(window)) <= room
