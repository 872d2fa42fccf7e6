"""Whether the passages of a knowledge base say what a description says (ARGUS D.3, D.4).

Support is by whole words, so that nothing can be spelled out letter by letter, and names are only
supported by themselves, so that none comes from elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from argus.data.texts import stream_safe
from argus.remedies.demonyms import PLACES
from argus.remedies.wording import HAN, SOUTHEAST, marks, word_set

_RUNS = re.compile(f"[{HAN}{SOUTHEAST}]+|[^{HAN}{SOUTHEAST}]+")
_SPACELESS = re.compile(f"[{HAN}{SOUTHEAST}]")
_JOINTS = re.compile(r"[.'’/&-]|\+(?!\+|\Z)")
_INITIALS = re.compile(r"(?:\w\.)+\w?")
_POSSESSIVE = re.compile(r"['’]s?\Z")
SMALL_WORDS = word_set(
    """
    a an and are as at by for from in into is its of on or that the their to was were which
    who with
    """
)
GENERIC_WORDS = word_set(
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

_INFLECTED = re.compile(r"(.{4,})(?:ed|ing)\Z")
_AGENT = re.compile(r"(.{5,})(?:er|or)\Z")
_PLURAL_ES = re.compile(r"(.{2,}(?:s|x|z|ch|sh))es\Z")
_PLURAL_S = re.compile(r"(.{2,}[^isu])s\Z")


def is_supported(description: str, passages: Iterable[str]) -> bool:
    """Return whether the passages say what a description says, word by word.

    Every word has to occur in them as a word. That is:

    * A name, a word with capitals, occurs in any case and with or without its accents, or is the
      adjective of a place that does ("Canadian" for "Canada"), as `demonyms` lists them.
    * A word in lower case may also occur as another number or verb form ("films" for "film",
      "founder" for "founded").
    * Initials and compounds occur with the same parts ("U.S.", "R&B"), initials also as capitals
      ("US"). A compound whose parts have several letters each is also supported when each part is
      ("singer-songwriter"), or when it occurs as one word.
    * A single letter occurs as a word of its own; alone it says nothing.
    * "&" stands between two words that occur.
    * In scripts without spaces every pair of neighbouring characters occurs.

    Two kinds of words need no support: small ones ("of"), which say nothing alone, and in lower
    case the plain name of a type or role ("singer"), for at most half of the other words.
    """
    facts = _facts(tuple(passages))
    words = description.split(" ")
    content = generic = 0
    occurs = [False] * len(words)
    for i, word in enumerate(words):
        if word == "&" or word in SMALL_WORDS or (i == 0 and _is_small_title(word)):
            continue
        support = _read(word, facts)
        if support is None:
            return False
        content, generic, occurs[i] = content + support[0], generic + support[1], support[1] == 0
    return 0 < content >= generic and all(
        0 < i < len(words) - 1 and occurs[i - 1] and occurs[i + 1]
        for i, word in enumerate(words)
        if word == "&"
    )


@dataclass(frozen=True)
class _Facts:
    """What passages say; all case-folded, as it stands and without accents."""

    words: set[str] = field(default_factory=set)
    """Words, parts of several letters, compounds with hyphens joined, pairs of characters."""
    names: set[str] = field(default_factory=set)
    """Those of them that have capitals."""
    capitals: set[str] = field(default_factory=set)
    """Words in capitals throughout."""
    forms: set[tuple[str, ...]] = field(default_factory=set)
    """The parts of each compound."""
    stems: set[str] = field(default_factory=set)
    """What words in lower case have in common with their other forms."""

    def add(self, token: str) -> None:
        """Take in a word or compound of a passage."""
        parts = _parts(token)
        if len(parts) > 1:
            self.forms.add(tuple(map(_folded, parts)))
            if set(_JOINTS.findall(token)) == {"-"} and not token.replace("-", "").isdigit():
                self.words.add(_folded("".join(parts)))
        elif token.isupper():
            self.capitals.add(_folded(token))
        for part in parts:
            if len(parts) > 1 and _letters(part) < 2:
                continue
            for unit in _units(part):
                self.words.add(_folded(unit))
                if unit == _folded(unit):
                    self.stems.update(_stems(unit))
                else:
                    self.names.add(_folded(unit))

    def says(self, unit: str) -> bool:
        """Return whether a word occurs, in another form where it may."""
        word = _folded(unit)
        if word in self.words and (unit == word or word not in SMALL_WORDS or word in self.names):
            return True
        if unit == word:
            return not self.stems.isdisjoint(_stems(unit))
        if unit.isupper() and tuple(word) in self.forms:
            return True
        return not PLACES.get(word, frozenset()).isdisjoint(self.names)


@lru_cache(maxsize=64)
def _facts(passages: tuple[str, ...]) -> _Facts:
    """Read passages; several descriptions are often compared with the same."""
    facts = _Facts()
    for passage in passages:
        whole = unicodedata.normalize("NFC", stream_safe(passage))
        for text in dict.fromkeys((whole, _without_accents(passage))):
            for token in _tokens().findall(text):
                facts.add(_POSSESSIVE.sub("", token))
    return facts


def _read(word: str, facts: _Facts) -> tuple[int, int] | None:
    """Return how many words of content a word is, and how many generic ones; None: no support."""
    parts = _parts(_POSSESSIVE.sub("", unicodedata.normalize("NFC", stream_safe(word))))
    if len(parts) > 1:
        form = tuple(map(_folded, parts))
        joined = "".join(form)
        if form in facts.forms or (_INITIALS.fullmatch(word) and joined in facts.capitals):
            return 1, 0
        if "." in word or min(map(_letters, parts)) < 2:
            return None
        if joined in facts.words:
            return 1, 0
    content = generic = 0
    for unit in (unit for part in parts for unit in _units(part)):
        if facts.says(unit):
            content += _letters(unit) > 1 or unit.isdigit() or bool(_SPACELESS.match(unit))
        elif unit in GENERIC_WORDS:
            generic += 1
        elif len(parts) == 1 or unit not in SMALL_WORDS:
            return None
    return content, generic


@cache
def _tokens() -> re.Pattern[str]:
    """Return what finds words and compounds in a passage."""
    part = rf"(?:[^\W_][{marks()}]*)+"
    return re.compile(rf"{part}(?:[.'’/+&-]{part})*\+{{0,2}}")


def _parts(word: str) -> list[str]:
    """Return the parts of a compound; one for a plain word, an abbreviation or "C++"."""
    return [part for part in _JOINTS.split(word) if part]


def _units(part: str) -> Sequence[str]:
    """Return what has to occur: a word; in scripts without spaces, pairs of characters."""
    units: list[str] = []
    for run in _RUNS.findall(part):
        if _SPACELESS.match(run):
            units += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
        else:
            units.append(run)
    return units


def _is_small_title(word: str) -> bool:
    """Whether a word is a small one with a capital, as at a beginning; "WHO" is a name."""
    return word.istitle() and word.lower() in SMALL_WORDS


def _letters(part: str) -> int:
    """Return the number of letters and digits; a letter and its marks are one."""
    return sum(map(str.isalnum, part))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", stream_safe(text.casefold()))


def _without_accents(text: str) -> str:
    apart = unicodedata.normalize("NFKD", stream_safe(text))
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))


def _stems(word: str) -> set[str]:
    """Return keys that two forms of one lower-case word share, and other words do not.

    Singular and plural share one, inflections ("directed", "directing") one with each other, with
    the verb ("direct", "produce") and with who does it ("director"); but "flow" has none with
    "flower".
    """
    if not (word.isascii() and word.isalpha()):
        return set()
    if len(word) > 4 and word.endswith("ies"):
        one = f"{word[:-3]}y"
    elif match := _PLURAL_ES.match(word) or _PLURAL_S.match(word):
        one = match[1]
    else:
        one = word
    keys = {one}
    if len(one) > 3:
        keys.add(f"{one.removesuffix('e')}-")
    if match := _INFLECTED.match(one):
        keys |= {f"{match[1]}-", f"{match[1]}-er"}
    elif match := _AGENT.match(one):
        keys.add(f"{match[1]}-er")
    return keys
