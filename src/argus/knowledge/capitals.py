"""Mentions by capital letters: for English-like text where neither titles nor a model are at hand.

A rough finder: it links nothing, and takes headings, adjectives and titles of office for names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from argus.data.types import Span
from argus.knowledge.names import FUNCTION_WORDS, lower_case_words
from argus.knowledge.spotting import Mention

_CONNECTORS = re.compile(
    r"al|and|bin|d|da|das|de|del|della|den|der|des|di|do|dos|du|e|el|et|ibn|la|le|of|the|und|"
    r"van|vom|von|y|zu"
)
_CALENDAR = re.compile(
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday"
)
_TOKEN = re.compile(r"(?:[^\W\d_]\.){2,}|\b[^\W\d_]\.(?=\s\w)|\w+(?:['’&-]\w+)*")
_SPACE = re.compile(r"[^\S\n]?\n?[^\S\n]?")  # what may stand between two words of one name
_ENDED = re.compile(r"[.!?:;…|\n][\s\"“”'‘’«»()\[\]*•>-]*$")  # a sentence may begin behind it
_POSSESSIVE = re.compile(r"['’]s$")
Words = list[re.Match[str]]


@dataclass(frozen=True)
class CapitalisedNames:
    """Finds maximal runs of capitalised words, initials and numbers, with connectors inside.

    Connectors are as in "Prime Minister of Sweden"; "and" joins only where one side is one word
    ("Procter and Gamble", not "Ada Byron and Mary Shelley"). Left out: dates; the pronoun "I"; a
    first word of a sentence alone that the texts of the call also have in lower case; a first
    function word ("In", "The") in front of a name. Scripts without capitals have no mentions.
    """

    name: str = "capitalised-names"

    def find(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the mentions of each text; all texts are read for their lower-case words first."""
        common = lower_case_words(texts)
        for text in texts:
            runs = (_trim(text, part, common) for run in _runs(text) for part in _parts(run))
            spans = [_span(run) for run in runs if run]
            yield [Mention(text[span.start : span.end], span) for span in spans]


def _runs(text: str) -> Iterator[Words]:
    """Yield maximal runs that begin with a capital; connectors at the end included."""
    run: Words = []
    for word in _TOKEN.finditer(text):
        capital = word[0][0].isupper()
        joins = capital or word[0][0].isdigit() or _CONNECTORS.fullmatch(word[0])
        if run and joins and _SPACE.fullmatch(text, run[-1].end(), word.start()):
            run.append(word)
            continue
        if run:
            yield run
        run = [word] if capital else []
    if run:
        yield run


def _parts(run: Words) -> Iterator[Words]:
    """Split a run at "and" where both sides are of several words."""
    begin = 0
    cuts = [i for i, word in enumerate(run) if word[0] == "and"]
    for i in cuts:
        following = next((cut for cut in cuts if cut > i), len(run))
        if i - begin > 1 and following - i > 2:
            yield run[begin:i]
            begin = i + 1
    yield run[begin:]


def _trim(text: str, run: Words, common: set[str]) -> Words:
    """Drop connectors at the ends, what only a sentence's beginning made capital, and dates."""
    while run and _CONNECTORS.fullmatch(run[-1][0]):
        run = run[:-1]
    while run and _CONNECTORS.fullmatch(run[0][0]):
        run = run[1:]
    if run and _begins_sentence(text, run[0].start()):
        first = re.split("['’]", run[0][0].lower())[0]
        if first in FUNCTION_WORDS or (len(run) == 1 and first in common):
            return _trim(text, run[1:], common)
    is_pronoun = len(run) == 1 and re.match(r"I\b", run[0][0])
    is_date = all(_CALENDAR.fullmatch(word[0].lower()) or word[0][0].isdigit() for word in run)
    return [] if is_pronoun or is_date else run


def _begins_sentence(text: str, start: int) -> bool:
    before = text[start - 8 : start] if start >= 8 else "\n" + text[:start]
    return _ENDED.search(before) is not None


def _span(run: Words) -> Span:
    """Return where a run stands, without a final possessive."""
    possessive = _POSSESSIVE.search(run[-1][0])
    return Span(run[0].start(), run[-1].end() - (len(possessive[0]) if possessive else 0))
