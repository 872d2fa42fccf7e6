"""Names that titles give, and words that are too common to be one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence, Set

from argus.data.texts import stream_safe
from argus.data.types import Document
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
    """Return what two spellings of a name share: white space and Unicode form do not count."""
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
