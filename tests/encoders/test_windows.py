import re

from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import Span
from argus.encoders.sentence_transformer import MARGIN_TOKENS, place_window
from argus.errors import EncodingError
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
def test_the_window_is_a_stretch_of_text_with_the_mention(mention):
    text, span, room = mention
    window, place = place_window(text, span, tokens(text), room)
    assert window[place.start : place.end] == text[span.start : span.end]
    begin = span.start - place.start
    assert text[begin : begin + len(window)] == window


@given(mentions())
@settings(max_examples=examples(200))
def test_a_window_has_no_more_tokens_than_the_model_reads(mention):
    text, span, room = mention
    window, _ = place_window(text, span, tokens(text), room)
    assert len(tokens(window)) <= room


@given(mentions())
def test_a_text_that_fits_is_returned_whole(mention):
    text, span, _ = mention
    offsets = tokens(text)
    assert place_window(text, span, offsets, len(offsets)) == (text, span)


@given(st.data())
@settings(max_examples=examples(40), deadline=None)
def test_windows_fit_the_real_tokenizer_too(minilm, data):
    text, span, room = data.draw(mentions())
    tokenizer = minilm.model.tokenizer

    def real(text):
        encoded = tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        return encoded["offset_mapping"]

    try:
        window, place = place_window(text, span, real(text), room)
    except EncodingError:
        inside = [1 for a, b in real(text) if a < span.end and b > span.start]
        assert len(inside) > room - MARGIN_TOKENS
    else:
        assert window[place.start : place.end] == text[span.start : span.end]
        assert len(real(window)) <= room


def test_the_window_is_centred_on_a_grid_of_half_a_window():
    text = " ".join(f"w{i:03}" for i in range(1000))  # word i is the one token at [5i, 5i + 4)
    room = 40 + MARGIN_TOKENS  # so 40 tokens, on a grid of 20
    window, place = place_window(text, Span(5 * 503, 5 * 503 + 4), tokens(text), room)
    # centred: (503 + 504 - 40) // 2 = 483, on the grid 480, from which a quarter is 10
    near, far = (
        place_window(text, Span(5 * i, 5 * i + 4), tokens(text), room)[0] for i in (488, 512)
    )
    assert near != window and far != window, (
        "nearer than a quarter to an end, another window is read"
    )
    assert window == text[5 * 480 : 5 * 520 - 1]
    assert place == Span(5 * 23, 5 * 23 + 4)


def test_a_window_never_begins_inside_a_word():
    text = " ".join(["abcdefghijkl"] * 100)  # three pieces each
    for i in range(40, 60):
        window, _ = place_window(text, Span(13 * i, 13 * i + 12), tokens(text), 30)
        assert window.split()[0] == "abcdefghijkl"
