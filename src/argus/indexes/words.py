"""Split text into words, as they stand or as their stems."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from argus.data.texts import stream_safe
from argus.errors import InputError

WORD = re.compile(r"[^\W_]+")
LONG_WORD = re.compile(r"\w\w+")
STOP_WORDS = frozenset(
    WORD.findall(
        "a an and are as at be but by for from had has have he her his how i if in into is it its "
        "me my no not of on or our she so such that the their them then there these they this to "
        "was we were what when where which who whom whose why will with would you your"
    )
)
"""English words that say nothing of a topic (used in `argus.indexes.lexical`)."""


def check_query(text: str, where: str | None = None) -> None:
    """Raise InputError for a query without a word."""
    if not text.strip():
        raise InputError("an empty query", expected="words", fix="Ask something.", where=where)


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, compatibility-folded, caseless.

    Accents stay, "ﬁ" and "fi" are one, "_" and "-" part words. No stemming.
    """
    return WORD.findall(_folded(text))


def query_words(text: str) -> list[str]:
    """Return the words of a query without stop words, or all of them when nothing else is left."""
    everything = words(text)
    return [word for word in everything if word not in STOP_WORDS] or everything


def stems(text: str) -> list[str]:
    """Return the stems of words of two characters and more, by Porter's second English stemmer.

    "_" joins a name of code. A single letter says nothing of a topic, and formulas are full of
    them.
    """
    return [_stem(word) for word in long_words(text)]


def long_words(text: str) -> list[str]:
    """Return the words of which `stems` returns the stems."""
    return LONG_WORD.findall(_folded(text))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", stream_safe(text)).casefold()


@lru_cache(maxsize=1 << 18)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@dataclass(frozen=True)
class Analyzer:
    """A way to split texts into terms for BM25.

    documents: terms of a text. surfaces: its words as they stand, one for each of these terms.
    """

    name: str
    documents: Callable[[str], list[str]]
    surfaces: Callable[[str], list[str]]

    def queries(self, text: str) -> list[str]:
        """Return the terms of a query without stop words, or all where nothing else is left."""
        everything = self.documents(text)
        return [word for word in everything if word not in _stop_words(self)] or everything

    def query_forms(self, text: str) -> dict[str, str]:
        """Return the terms of `queries`, each with the first word of the query that it is of."""
        forms: dict[str, str] = {}
        for term, word in zip(self.documents(text), self.surfaces(text), strict=True):
            forms.setdefault(term, word)
        return {term: forms[term] for term in self.queries(text)}


@cache
def _stop_words(analyzer: Analyzer) -> frozenset[str]:
    return frozenset(analyzer.documents(" ".join(sorted(STOP_WORDS)))) | STOP_WORDS


SURFACE = Analyzer("surface", words, words)
"""Words as they stand: names match as they are."""
STEMMED = Analyzer("stemmed", stems, long_words)
"""Words of a question and of a text meet in their stems."""
ANALYZERS = {analyzer.name: analyzer for analyzer in (SURFACE, STEMMED)}
"""Analyzers by the name in a saved index."""
