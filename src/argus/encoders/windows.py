"""Where to read a long text so that a mention is inside the model's window."""

from __future__ import annotations

from collections.abc import Sequence

from argus.data.types import Span
from argus.errors import EncodingError

MARGIN_TOKENS = 8  # re-tokenising a slice may cut words into a few more tokens


def place_window(
    text: str, span: Span, offsets: Sequence[tuple[int, int]], room: int
) -> tuple[str, Span]:
    """Return the stretch of `text` to read for `span`, and the span inside it.

    offsets: character range of each token of the whole text, without special tokens. room: tokens
    the model can read beside its special tokens and prompt. A text that fits is returned whole.
    A span in the first window is read there, as the model reads the text itself. Otherwise the
    window is centred on the span and moved to a grid of half a window, so that neighbouring
    mentions share one forward pass, and a quarter of a window or the end of the text is on either
    side of each. The result depends on text and span alone.
    Raises EncodingError when the span itself does not fit.
    """
    if len(offsets) <= room:
        return text, span
    size = room - MARGIN_TOKENS
    inside = [i for i, (a, b) in enumerate(offsets) if a < span.end and b > span.start]
    if not inside or inside[-1] - inside[0] + 1 > size:
        raise EncodingError(
            f"the mention {text[span.start : span.end][:60]!r} is {len(inside)} tokens long; the "
            f"model reads {room}.",
            retryable=False,
        )
    first, last = inside[0], inside[-1] + 1
    start = 0
    if last > size:
        step = max(1, size // 2)
        centred = (first + last - size) // 2
        start = max(0, round(centred / step) * step)
        if not start <= first <= last <= start + size:  # the grid may not cut the span
            start = centred
    stop = min(start + size, len(offsets))
    # Cut between words, never inside one: pieces of a word would be other tokens.
    begin = _word_start(text, offsets[start][0]) if start else 0
    end = offsets[stop - 1][1] if stop < len(offsets) else len(text)
    begin, end = min(begin, span.start), max(end, span.end)
    return text[begin:end], span.shift(-begin)


def _word_start(text: str, position: int) -> int:
    """Return the next position at or after `position` where a word may begin."""
    while 0 < position < len(text) and text[position - 1].isalnum() and text[position].isalnum():
        position += 1
    return position
