"""The share of texts that an encoder does not read, as summaries tell it."""

from __future__ import annotations

from typing_extensions import TypedDict


class TextWindow(TypedDict):
    """The part of the texts beyond the encoder's window, in tokens.

    max_tokens: tokens that the encoder reads of a text.
    texts_cut: texts that are longer.
    tokens_unread: tokens beyond, over all texts.
    tokens: tokens of all texts.
    """

    max_tokens: int
    texts_cut: int
    tokens_unread: int
    tokens: int
