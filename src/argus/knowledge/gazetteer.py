"""Find mentions of entities in texts by a list of names (a gazetteer), or as capitalised words.

From texts to `Mention`s: places, and ids of the entities with that name. `research diagnose` and
`tune apply expand` choose a finder with --mentions (`argus.remedies.reference`). The alternative is
a trained model, `argus.knowledge.ner`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from argus.data.provenance import content_hash
from argus.data.types import Document, Span
from argus.errors import InputError
from argus.knowledge.names import (
    FUNCTION_WORDS,
    Mention,
    is_common_word,
    is_whole_word,
    leftmost_longest,
    lower_case_words,
    names_of,
    without_surrogates,
)
from argus.settings import Ge, Option, check_settings

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick


_CONNECTORS = re.compile(
    r"al|bin|d|da|das|de|del|della|den|der|des|di|do|dos|du|e|el|et|ibn|la|le|of|the|und|"
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

    Connectors are as in "Prime Minister of Sweden". Left out: dates; the pronoun "I"; a first word
    of a sentence alone that the texts of the call also have in lower case; a first function word
    ("In", "The") in front of a name. Scripts without capitals have no mentions.
    """

    name: str = "capitalised-names"

    def find(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the mentions of each text. All texts are read for their lower-case words first."""
        common = lower_case_words(texts)
        for text in texts:
            runs: list[Words] = []
            for word in _TOKEN.finditer(text):
                capital = word[0][0].isupper()
                joins = capital or word[0][0].isdigit() or _CONNECTORS.fullmatch(word[0])
                if runs and joins and _SPACE.fullmatch(text, runs[-1][-1].end(), word.start()):
                    runs[-1].append(word)
                elif capital:
                    runs.append([word])
            mentions = []
            for run in filter(None, (_trim(text, run, common) for run in runs)):
                possessive = _POSSESSIVE.search(run[-1][0])
                end = run[-1].end() - (len(possessive[0]) if possessive else 0)
                mentions.append(Mention(text[run[0].start() : end], Span(run[0].start(), end)))
            yield mentions


def _trim(text: str, run: Words, common: set[str]) -> Words:
    """Drop connectors at the ends, words capital only at a sentence's beginning, and dates."""
    while run and _CONNECTORS.fullmatch(run[-1][0]):
        run = run[:-1]
    while run and _CONNECTORS.fullmatch(run[0][0]):
        run = run[1:]
    start = run[0].start() if run else 0
    if run and _ENDED.search(text[start - 8 : start] if start >= 8 else "\n" + text[:start]):
        first = re.split("['’]", run[0][0].lower())[0]
        if first in FUNCTION_WORDS or (len(run) == 1 and first in common):
            return _trim(text, run[1:], common)
    is_pronoun = len(run) == 1 and re.match(r"I\b", run[0][0])
    is_date = all(_CALENDAR.fullmatch(word[0].lower()) or word[0][0].isdigit() for word in run)
    return [] if is_pronoun or is_date else run


_PANEL = "Mentions"


@dataclass(frozen=True, kw_only=True)
class GazetteerConfig:
    """Rules of names, and of comparing them.

    common_words: by default one-word names that are common words are left out, because "It" or
    "Jaws" at the beginning of a sentence is rarely the film. Common are words that occur in lower
    case in the texts; with `ignore_case`, where names are expected in lower case and that tells
    nothing, only English function words ("after", "what"), so that "jaws" is found wherever it
    stands. min_length: characters.

    Attributes:
        ignore_case: Names in any case.
        common_words: Also one-word names that occur in lower case.
        min_length: Shorter names are left out.
    """

    ignore_case: Annotated[bool, Option(panel=_PANEL)] = False
    common_words: Annotated[bool, Option(panel=_PANEL)] = False
    min_length: Annotated[int, Ge(1), Option(panel=_PANEL)] = 3

    def __post_init__(self) -> None:
        check_settings(self)


_WHITE_SPACE = re.compile(r"[^\S ]")


@dataclass(frozen=True)
class Gazetteer:
    """Finds whole-word occurrences of names, leftmost and longest first, none overlapping.

    names: name (not empty) to the ids that bear it. left_out: how many names were not taken, by
    reason. A name is looked for in its composed and in its decomposed Unicode form (NFC, NFD) in
    texts as they are, which may be in either. Compatibility forms ("ﬁ" for "fi") differ. A line's
    end or a tab counts as a space. Spans always refer to the text as given.
    """

    names: Mapping[str, tuple[str, ...]]
    ignore_case: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_documents(
        cls,
        documents: Sequence[Document],
        config: GazetteerConfig | None = None,
        *,
        texts: Iterable[str] = (),
    ) -> Gazetteer:
        """Take titles, titles less a final parenthesis, and `metadata["aliases"]` as names.

        Aliases are a list of strings, or one string with "|" between them. texts: what will be
        searched. Its lower-case words, with those of the documents, are the common ones unless
        case is ignored. Raises InputError when no document has a title or alias, or no name is
        left.
        """
        config = config or GazetteerConfig()
        ids_by_name: dict[str, list[str]] = {}
        for document in documents:
            for name in names_of(document):
                ids_by_name.setdefault(name, []).append(document.id)
        common: Set[str] = frozenset()
        if not config.common_words and config.ignore_case:
            common = FUNCTION_WORDS
        elif not config.common_words:
            common = lower_case_words(chain((d.text for d in documents), texts))
        names: dict[str, tuple[str, ...]] = {}
        left_out: Counter[str] = Counter()
        for name, ids in ids_by_name.items():
            if not any(c.isalnum() for c in name) or without_surrogates(name) != name:
                left_out["without a letter or digit"] += 1
            elif len(name) < config.min_length:
                left_out["too short"] += 1
            elif is_common_word(name, common):
                left_out["common words"] += 1
            else:
                names[name] = tuple(ids)
        if not names:
            counts = ", ".join(f"{n:,} {reason}" for reason, n in left_out.items())
            raise InputError(
                f"no name of {len(documents):,} documents is left ({counts or 'none has any'})",
                expected="titles in the field `title`, or aliases in `metadata.aliases`, that tell "
                "entities from common words",
                fix="Rename the column of titles, lower min_length, or keep common words.",
            )
        return cls(names, config.ignore_case, dict(left_out))

    @cached_property
    def name(self) -> str:
        """Number of names, how they are compared, and a digest of names and ids."""
        case = "ignored" if self.ignore_case else "exact"
        parts = (part for name, ids in sorted(self.names.items()) for part in (name, *ids, ""))
        digest = content_hash(*parts, size=6).hex()
        return f"gazetteer names={len(self.names)} case={case} digest={digest}"

    def find(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the mentions of each text, with the ids that bear the name."""
        automaton, entity_ids = self._automaton
        for text in texts:
            folded = _fold(text, ignore_case=self.ignore_case)
            # On one thread: the search lets others run meanwhile, but is a small part of the time.
            matches = automaton.find_matches_as_indexes(folded, overlapping=True)
            whole = (match for match in matches if is_whole_word(text, match[1], match[2]))
            yield [
                Mention(text[start:end], Span(start, end), entity_ids[pattern])
                for pattern, start, end in leftmost_longest(whole)
            ]

    @cached_property
    def _automaton(self) -> tuple[AhoCorasick, list[tuple[str, ...]]]:
        """The automaton over folded names, and the ids of each of its patterns."""
        import ahocorasick_rs

        patterns: dict[str, dict[str, None]] = {}
        for name, ids in self.names.items():
            for form in ("NFC", "NFD"):
                pattern = _fold(unicodedata.normalize(form, name), ignore_case=self.ignore_case)
                patterns.setdefault(pattern, {}).update(dict.fromkeys(ids))
        automaton = ahocorasick_rs.AhoCorasick(
            list(patterns),
            store_patterns=False,
            # Built in half the time of the default; searching 400,000 passages would win it back.
            implementation=ahocorasick_rs.Implementation.NoncontiguousNFA,
        )
        return automaton, [tuple(ids) for ids in patterns.values()]


def _fold(text: str, *, ignore_case: bool) -> str:
    """Return a text as it is searched, of the same length: white space is a space.

    Characters are folded where that gives one character.
    """
    text = _WHITE_SPACE.sub(" ", without_surrogates(text))
    if not ignore_case:
        return text
    folded = text.casefold()
    if len(folded) == len(text):
        return folded
    return "".join(fold if len(fold := c.casefold()) == 1 else c for c in text)
