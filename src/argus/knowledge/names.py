"""Find names in text: keys that compare them, and whole words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Protocol, TypeVar

from argus.data.texts import stream_safe
from argus.data.types import Document, Span
from argus.errors import InputError

ALIASES = "aliases"
ALIAS_SEPARATOR = "|"
_WORD = re.compile(r"\w+")
FUNCTION_WORDS = frozenset(
    _WORD.findall("""
    a about after all also although among an and another as at because before between both but by
    during each every for from he her his how however i if in it its many most my no not of on or
    our she since so some that the their them then there these they this those through to under
    until was we were what when where while who with you your
    """)
)
"""English words that are rarely a name alone, whatever their case."""

_FINAL_PARENTHESIS = re.compile(r"(?<!\s)\s*+\([^()]*+\)$")


def without_parenthesis(title: str) -> str:
    """Return a title without a final parenthesis, as in "Mercury (planet)"."""
    return _FINAL_PARENTHESIS.sub("", title)


def lower_case_words(texts: Iterable[str]) -> set[str]:
    """Return the words that occur in the texts with a lower-case first letter."""
    return {word for text in texts for word in _WORD.findall(text) if word[0].islower()}


def is_common_word(name: str, lower_words: Set[str]) -> bool:
    """Whether `name` is one word that also occurs in lower case, as in "Jaws"."""
    return not any(c.isspace() for c in name) and name.lower() in lower_words


def names_of(document: Document) -> list[str]:
    """Return title, title less a final parenthesis, and aliases; white space made even.

    Aliases are a list of strings in `metadata["aliases"]`, or one string with "|" between them.
    Raises InputError for others.
    """
    titles = (document.title, without_parenthesis(document.title), *_aliases(document))
    return [name for name in dict.fromkeys(" ".join(text.split()) for text in titles) if name]


def name_key(name: str) -> str:
    """Normalize a name: white space and Unicode form do not count."""
    return unicodedata.normalize("NFC", stream_safe(" ".join(name.split())))


def _aliases(document: Document) -> Sequence[str]:
    aliases = document.metadata.get(ALIASES) or ()
    if isinstance(aliases, str):
        return aliases.split(ALIAS_SEPARATOR)
    if isinstance(aliases, list | tuple) and all(isinstance(alias, str) for alias in aliases):
        return aliases
    raise InputError(
        f"aliases {str(aliases)[:60]!r} of document {document.id!r}",
        expected=f"a list of strings, or one string with {ALIAS_SEPARATOR!r} between names",
        fix="Mend the field `metadata.aliases`.",
    )


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

    entity_ids: the entities of the reference knowledge base that bear the name. Empty when the
    finder does not link.
    """

    surface: str
    span: Span
    entity_ids: tuple[str, ...] = ()


class MentionFinder(Protocol):
    """Finds mentions in texts (ARGUS §5.1, the step in front of scoring)."""

    @property
    def name(self) -> str:
        """Name of the finder, for manifests."""
        ...

    def find(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the mentions of each text, in order of place, none overlapping another."""
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
