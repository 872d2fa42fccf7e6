"""Text to words, with the standard library alone."""

from __future__ import annotations

import re
import unicodedata

from argus.errors import InputError

WORD = re.compile(r"[^\W_]+")
STOP_WORDS = frozenset(
    WORD.findall(
        "a an and are as at be but by for from had has have he her his how i if in into is it its "
        "me my no not of on or our she so such that the their them then there these they this to "
        "was we were what when where which who whom whose why will with would you your"
    )
)
"""English words that say nothing of a topic; see `argus.indexes.lexical` for their use."""


def check_query(text: str, where: str | None = None) -> None:
    """Raise InputError for a query without a word."""
    if not text.strip():
        raise InputError("an empty query", expected="words", fix="Ask something.", where=where)


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, compatibility-folded, caseless.

    Accents stay, "ﬁ" and "fi" are one, "_" and "-" part words. No stemming.
    """
    return WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def query_words(text: str) -> list[str]:
    """Return the words of a query without stop words, or all of them when nothing else is left."""
    everything = words(text)
    return [word for word in everything if word not in STOP_WORDS] or everything
