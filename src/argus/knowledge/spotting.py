"""What a mention is, who finds mentions, and which of several overlapping ones count."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from argus.data.types import Span

T = TypeVar("T")

_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACELESS = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Myanmar
    ("\u1780", "\u17ff"),  # Khmer
    ("\u3040", "\u309f"),  # Hiragana
    ("\u3400", "\u9fff"),  # Han
    ("\uf900", "\ufaff"),  # Han, compatibility
    ("\U00020000", "\U0003ffff"),  # Han, extensions
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text that names an entity: `surface` is `text[span.start:span.end]`.

    entity_ids: the entities of the reference knowledge base that bear the name; empty when the
    finder does not link.
    """

    surface: str
    span: Span
    entity_ids: tuple[str, ...] = ()


class MentionFinder(Protocol):
    """Finds mentions in texts (ARGUS §5.1, the step in front of scoring)."""

    @property
    def name(self) -> str:
        """What found the mentions, for manifests."""
        ...

    def find(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the mentions of each text, in order of place, none overlapping another."""
        ...


@runtime_checkable
class LeavesOut(Protocol):
    """A finder that knows names which it does not look for."""

    @property
    def left_out(self) -> Mapping[str, int]:
        """How many names it does not look for, by reason."""
        ...


def leftmost_longest(matches: Iterable[tuple[T, int, int]]) -> Iterator[tuple[T, int, int]]:
    """Yield of (what, start, end) those that count, in order, none overlapping another.

    What begins first wins; of those that begin together, the longest; what is covered in part or in
    whole by a winner is dropped. Filter by `is_whole_word` before: a longer name that ends inside a
    word must not hide a shorter one.
    """
    covered = 0
    for what, start, end in sorted(matches, key=lambda match: (match[1], -match[2])):
        if start >= covered:
            covered = end
            yield what, start, end


def is_whole_word(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` neither begins nor ends inside a word.

    A word is a run of letters, digits, underscores and combining marks of any script. Between
    characters of scripts that are written without spaces (Han, Hiragana, Thai, Lao, Khmer,
    Myanmar) every place is taken as a boundary, except in front of a combining mark.
    """
    return not (is_inside_word(text, start) or is_inside_word(text, end))


def is_inside_word(text: str, at: int) -> bool:
    """Whether the characters before and at position `at` belong to one word."""
    if at == 0 or at == len(text):
        return False
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii():
        return _is_letter(before) and _is_letter(after)
    if _is_mark(after):
        return True
    if _is_spaceless(before) or _is_spaceless(after):
        return False
    return (_is_letter(before) or _is_mark(before)) and _is_letter(after)


def without_surrogates(text: str) -> str:
    """Return a text of the same length that compiled libraries take.

    Halves of a character, as broken JSON holds them, become U+FFFD.
    """
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def _is_spaceless(character: str) -> bool:
    return any(first <= character <= last for first, last in _SPACELESS)
