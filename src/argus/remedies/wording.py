"""What form a text must have that may be inserted into a document (ARGUS D.4).

It keeps out whatever could hide, address or instruct: control, zero-width and bidirectional
characters, variation selectors, letters in disguise or struck through, mark-up, addresses,
sentences. Letters, numbers and combining marks of every script are let in. What a description may
say is for `support` to judge.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

MAX_WORDS = 5
MAX_WORD_LENGTH = 32
MAX_CHARS = MAX_WORDS * (MAX_WORD_LENGTH + 1)
MAX_PARTS = 4
"""Parts of one word, as in "rock-and-roll", and initials of one, as in "N.A.T.O."."""

HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
SOUTHEAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Characters of the scripts without spaces, as the inside of a character class."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_FILLERS = "\u115f\u1160\u3164\uffa0"  # letters that show nothing
_LAST_MARK = 0x1F000  # beyond lie only variation selectors
_HIDDEN_MARKS = ((0x034F, 0x034F), (0x17B4, 0x17B5), (0x180B, 0x180F), (0xFE00, 0xFE0F))
_OVERLAY = 1  # canonical combining class of what strikes a letter through
_WHOLE_VOWELS = re.compile("[\u0e33\u0eb3]")  # of Thai and Lao; NFKC takes them apart
_PER_WORD = ((re.compile(f"[{HAN}]"), 2), (re.compile(f"[{SOUTHEAST}]"), 4))


def is_wording(description: str) -> bool:
    """Return whether a text has the form of a description.

    At most five words with single spaces between, each of at most 32 characters; where a script
    has no spaces, 2 characters of Chinese or Japanese and 4 of Thai, Lao, Khmer or Burmese count as
    a word. Inside words stand letters, digits, their marks, and at most three of `'’/+-`, decimal
    points and "&" as in "R&B"; "&" may stand alone; full stops otherwise only in abbreviations and
    up to four initials ("St. Gall", "D.C."), so that neither addresses nor sentences get in. No
    letter is a variant of another (full-width, mathematical), no mark strikes one through.
    """
    if len(description) > MAX_CHARS or not _form().fullmatch(description):
        return False
    plain = _WHOLE_VOWELS.sub("", description)
    if unicodedata.normalize("NFKC", plain) != unicodedata.normalize("NFC", plain):
        return False
    words = description.split(" ")
    return all(len(w) <= MAX_WORD_LENGTH for w in words) and sum(map(_length, words)) <= MAX_WORDS


@cache
def _form() -> re.Pattern[str]:
    """Return the grammar of descriptions, less lengths."""
    letter = rf"[^\W_{_FILLERS}]"
    character = rf"{letter}[{marks()}]{{0,3}}"
    part = rf"(?:{character})+"
    joint = rf"(?:['’/+-]|&(?={character}(?!{letter}))|(?<=\d)\.(?=\d))"
    initials = rf"(?:{character}\.){{1,{MAX_PARTS - 1}}}{character}\.?"
    compound = rf"{part}(?:{joint}{part}){{0,{MAX_PARTS - 1}}}(?:['’]|\+{{1,2}})?"
    word = rf"(?:{initials}|{compound}|&)"
    abbreviation = rf"(?:{character}){{1,3}}\."
    return re.compile(rf"(?:(?:{abbreviation}|{word}) ){{0,{MAX_WORDS - 1}}}{word}")


@cache
def marks() -> str:
    """Return the combining marks that can be seen and leave their letter legible.

    As the inside of a character class.
    """
    ranges: list[list[int]] = []
    for code in range(0x300, _LAST_MARK):
        mark = chr(code)
        hidden = any(first <= code <= last for first, last in _HIDDEN_MARKS)
        if hidden or unicodedata.category(mark) not in ("Mn", "Mc"):
            continue
        if unicodedata.combining(mark) == _OVERLAY:
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def _length(word: str) -> int:
    """Return for how many words a word counts."""
    counts = [-(-len(script.findall(word)) // per_word) for script, per_word in _PER_WORD]
    return max(1, sum(counts))
