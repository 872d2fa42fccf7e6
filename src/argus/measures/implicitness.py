"""Tell implicit questions: those that share no word with the title of a relevant document.

A question that names its entity is found by the name. Repairs of the index show on the others.
Words are compared whole, in their plain forms (plural, -ing, -ed of English). Digits are words
("747"). Scripts without spaces are compared by pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from argus.data.texts import stream_safe

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"  # Kana, Han
)
_VOWEL = re.compile("[aeiouy]")
_HISSED = ("ses", "xes", "zes", "ches", "shes")
MIN_STEM = 3  # letters of a word without its ending, one of them a vowel

_STOP = """
a about all an and any are as at be been but by can do does each for from get give had has have how
if in into is it its just like make me more most my need no not of off on one only or other our out
over own same should so some something such than that the their them then there these they thing
this those to too two up use used using want was way we what when where which who why will with
without work would you your
"""
STOP_WORDS = frozenset(_STOP.split())


def content_words(text: str) -> set[str]:
    """Return the lower-cased words of a question or a dotted, underscored or camel-case name.

    A single letter is no word, a single digit is one. Scripts without spaces give pairs of
    characters, or a single character between spaces.
    """
    plain = unicodedata.normalize("NFKC", stream_safe(text))
    pairs: set[str] = set()
    for run in _UNSPACED.findall(plain):
        pairs.update([run] if len(run) == 1 else map("".join, pairwise(run)))
    words = (w.casefold() for w in _words(_HUMP.sub(" ", _UNSPACED.sub(" ", plain))))
    return pairs | {w for w in words if len(w) > 1 or w.isdigit()} - STOP_WORDS


def is_implicit(question: str, names: Sequence[str]) -> bool:
    """Return whether a question shares no content word with any of these names."""
    words = _all_forms(content_words(question))
    return words.isdisjoint(_all_forms({w for name in names for w in content_words(name)}))


def names_something(names: Sequence[str]) -> bool:
    """Return whether any of the names has a content word."""
    return any(content_words(name) for name in names)


def overlap(question: str, texts: Sequence[str]) -> float | None:
    """Return the share of the question's content words in its best relevant text.

    None if the question has no content word, or there is no text.
    """
    words = content_words(question)
    if not words or not texts:
        return None
    by_text = [_all_forms(content_words(text)) for text in texts]
    return max(sum(not there.isdisjoint(forms(w)) for w in words) for there in by_text) / len(words)


def forms(word: str) -> set[str]:
    """Return a word and the words of which it may be the plural, -ing or -ed form.

    Two words match if they have a form in common ("sorting" and "sorted").
    """
    alike = {word}
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > MIN_STEM:
        alike.add(word[:-1])
        if word.endswith("ies"):
            alike.add(word[:-3] + "y")
        elif word.endswith(_HISSED):
            alike.add(word[:-2])
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < MIN_STEM or not _VOWEL.search(stem):
            continue
        alike |= {stem, stem + "e"}
        if stem[-1] == stem[-2]:
            alike.add(stem[:-1])
        if ending == "ed" and stem.endswith("i"):
            alike.add(stem[:-1] + "y")
    return alike


def _all_forms(words: set[str]) -> set[str]:
    return {form for word in words for form in forms(word)}


def _words(text: str) -> Iterator[str]:
    """Yield runs of letters, digits and the marks that belong to them (Devanagari has some)."""
    for inside, run in groupby(text, lambda c: c.isalnum() or unicodedata.category(c)[0] == "M"):
        if inside:
            yield "".join(run)
