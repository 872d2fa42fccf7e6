"""What may be inserted into a document: the form of a description, and its support (ARGUS D.4).

The form keeps out whatever could hide, address or instruct: control, zero-width and bidirectional
characters, variation selectors, mark-up, addresses, sentences. Letters, numbers and combining marks
of every script are let in.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

MAX_WORDS = 5
MAX_WORD_LENGTH = 32
MAX_CHARS = MAX_WORDS * (MAX_WORD_LENGTH + 1)
MIN_STEM = 4
"""Different words support each other only when they begin with so many letters in common."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_FILLERS = "\u115f\u1160\u3164\uffa0"  # letters that show nothing
_LAST_MARK = 0x1F000  # beyond lie only variation selectors
_HIDDEN_MARKS = ((0x034F, 0x034F), (0x17B4, 0x17B5), (0x180B, 0x180F), (0xFE00, 0xFE0F))
_NO_SPACES = (  # scripts without spaces: how many characters count as a word
    (re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"), 2),
    (re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"), 4),
)
_RUNS = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+|[^\\W_]+"
)
_SMALL_WORDS = word_set(
    """
    a an and are as at by for from in into is its of on or that the their to was were which
    who with
    """
)
_GENERIC_WORDS = word_set(
    """
    actor actress album animal architect area artist athlete author award band battle bishop
    book building capital castle character church city club college comedy company composer
    country county daughter director district drama event family festival film footballer game
    genre group island king lake language magazine mountain museum musician national noble
    novel novelist organization organisation painter park person philosopher physicist place
    plant player poet politician president princess prince producer queen region religion
    river saint school scientist screenwriter series show singer song songwriter species sport
    state studio team television theory town university village war writer
    """
)
"""Types and roles that passages state in other words; at most half of a description."""


def is_wording(description: str) -> bool:
    """Return whether a text has the form of a description.

    At most five words with single spaces between, each of at most 32 characters; where a script
    has no spaces, 2 characters of Chinese or Japanese and 4 of Thai, Lao, Khmer or Burmese count as
    a word. Inside words stand letters, digits, their marks, and `'’/+-`; "&" alone or as in "R&B";
    a full stop only in abbreviations and decimals ("St. Gall", "D.C.", "3.5"), so that neither
    addresses nor sentences get in.
    """
    if len(description) > MAX_CHARS or not _form().fullmatch(description):
        return False
    words = description.split(" ")
    return all(len(w) <= MAX_WORD_LENGTH for w in words) and sum(map(_length, words)) <= MAX_WORDS


def is_supported(description: str, passages: Iterable[str]) -> bool:
    """Return whether the passages say what a description says.

    At least half of its words occur in them, and every other one is the plain name of a type or
    role ("singer"), so that no name or number comes from elsewhere. Words occur also in another
    form ("Canadian" for "Canada"): the first four letters and half of the longer word agree. Small
    words and single letters do not count; a description without others says nothing. In scripts
    without spaces pairs of characters take the place of words.
    """
    needed = _units(description)
    if not needed:
        return False
    known = {unit for passage in passages for unit in _units(passage)}
    lost = [unit for unit in needed if not _occurs(unit, known)]
    return 2 * len(lost) <= len(needed) and all(unit in _GENERIC_WORDS for unit in lost)


@cache
def _form() -> re.Pattern[str]:
    """Return the grammar of descriptions, less lengths."""
    letter = rf"[^\W_{_FILLERS}]"
    character = rf"{letter}[{_marks()}]{{0,3}}"
    inside = rf"(?:['’/+-]|&(?={character}(?!{letter}))|(?<=\d)\.(?=\d))?"
    initials = rf"(?:{character}\.)+{character}\.?"
    word = rf"(?:{initials}|{character}(?:{inside}{character})*(?:['’]|\+{{1,2}})?|&)"
    abbreviation = rf"(?:{character}){{1,3}}\."
    return re.compile(rf"(?:(?:{abbreviation}|{word}) ){{0,{MAX_WORDS - 1}}}{word}")


@cache
def _marks() -> str:
    """Return the combining marks that can be seen, as the inside of a character class."""
    ranges: list[list[int]] = []
    for code in range(0x300, _LAST_MARK):
        hidden = any(first <= code <= last for first, last in _HIDDEN_MARKS)
        if hidden or unicodedata.category(chr(code)) not in ("Mn", "Mc"):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def _length(word: str) -> int:
    """Return for how many words a word counts."""
    counts = [-(-len(script.findall(word)) // per_word) for script, per_word in _NO_SPACES]
    return max(1, sum(counts))


def _units(text: str) -> list[str]:
    """Return what a text says, to be compared: words without accents, or pairs of characters."""
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in plain if not unicodedata.combining(c)).casefold()
    units: list[str] = []
    for run in _RUNS.findall(plain):
        if any(script.match(run) for script, _ in _NO_SPACES):
            units += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
        elif (len(run) > 1 or run.isdigit()) and run not in _SMALL_WORDS:
            units.append(run)
    return units


def _occurs(unit: str, known: set[str]) -> bool:
    if unit in known:
        return True
    if not unit.isalpha() or len(unit) < MIN_STEM:
        return False
    return any(
        word.startswith(unit[:MIN_STEM])
        and word.startswith(unit[: max(MIN_STEM, -(-max(len(word), len(unit)) // 2))])
        for word in known
    )
