"""Match names in text: whole words, the label of an entity in its paragraph, mentions as relations.

The rules that all finders of mentions share, and the type `Mention`. `ground` finds the label of an
entity in its own paragraph (ARGUS §B.1). `mention_relations` relates two entities if the paragraph
of one names the other. Finders: `argus.knowledge.gazetteer` and `argus.knowledge.ner`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from argus.data.texts import stream_safe
from argus.data.types import Document, Span
from argus.errors import InputError
from argus.knowledge.base import Entity, RelationGraph

ALIASES = "aliases"
ALIAS_SEPARATOR = "|"
_WORD = re.compile(r"\w+")
# English words that are rarely a name alone, whatever their case.
FUNCTION_WORDS = frozenset(
    _WORD.findall("""
    a about after all also although among an and another as at because before between both but by
    during each every for from he her his how however i if in it its many most my no not of on or
    our she since so some that the their them then there these they this those through to under
    until was we were what when where while who with you your
    """)
)

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
    aliases = document.metadata.get(ALIASES) or ()
    if isinstance(aliases, str):
        aliases = aliases.split(ALIAS_SEPARATOR)
    if not isinstance(aliases, list | tuple) or any(not isinstance(a, str) for a in aliases):
        raise InputError(
            f"aliases {str(aliases)[:60]!r} of document {document.id!r}",
            expected=f"a list of strings, or one string with {ALIAS_SEPARATOR!r} between names",
            fix="Mend the field `metadata.aliases`.",
        )
    titles = (document.title, without_parenthesis(document.title), *aliases)
    return [name for name in dict.fromkeys(" ".join(text.split()) for text in titles) if name]


def name_key(name: str) -> str:
    """Normalize a name: white space and Unicode form do not count."""
    return unicodedata.normalize("NFC", stream_safe(" ".join(name.split())))


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


_PLAIN = re.compile(r"[^\W_]+( [^\W_]+)*")
MIN_NAME_LENGTH = 4


@dataclass(frozen=True, slots=True)
class Grounded:
    """A paragraph with the place where its entity is named. `prepended`: the label was added."""

    text: str
    span: Span | None
    prepended: bool = False


def ground(label: str, paragraph: str) -> Grounded:
    """Find the earliest mention of `label` in `paragraph` (ARGUS §B.1).

    Matching ignores case, runs of white space and punctuation between words, and wants word
    boundaries. A label that does not occur is put in front of the paragraph, as the paper does,
    with its own span. An empty label gives no span.
    """
    label = label.strip()
    if not label:
        return Grounded(paragraph, None)
    after = paragraph[len(label) : len(label) + 1]
    is_first = paragraph.startswith(label) and not (after.isalnum() or after == "_")
    if is_first and _PLAIN.fullmatch(label):  # as most do: no pattern is needed then
        return Grounded(paragraph, Span(0, len(label)))
    words = _WORD.findall(label)
    before = r"(?<!\w)" if re.match(r"\w", label[0]) else ""
    behind = r"(?!\w)" if re.match(r"\w", label[-1]) else ""
    patterns = [before + re.escape(label) + behind]
    if sum(map(len, words)) >= MIN_NAME_LENGTH:  # "C++" must not ground in "C"
        patterns.append(r"(?<!\w)" + r"[\W_]+".join(map(re.escape, words)) + r"(?!\w)")
    matches = (re.search(pattern, paragraph, re.IGNORECASE) for pattern in patterns)
    spans = [match.span() for match in matches if match is not None]
    if spans:
        return Grounded(paragraph, Span(*min(spans)))
    text = f"{label} {paragraph}" if paragraph else label
    return Grounded(text, Span(0, len(label)), prepended=True)


def mention_relations(entities: Sequence[Entity]) -> RelationGraph:
    """Relate two entities when one's paragraph names the other.

    Exact and case-sensitive at word boundaries, longest name first. An entity's names are its
    label and, when it has at least two words, the label without a final parenthesis. Left out,
    because they would relate by accident: names under four characters, names that two entities
    share, one-word names that also occur in lower case in the paragraphs, and names that hold half
    of a character.
    """
    import ahocorasick_rs

    lower_words = lower_case_words(e.paragraph for e in entities)
    owners: dict[str, list[int]] = {}
    for i, entity in enumerate(entities):
        for name in dict.fromkeys((entity.label, without_parenthesis(entity.label))):
            owners.setdefault(name, []).append(i)
    names = {
        name: own[0]
        for name, own in owners.items()
        if len(own) == 1
        and len(name) >= MIN_NAME_LENGTH
        and (" " in name or name == entities[own[0]].label)
        and without_surrogates(name) == name
        and not is_common_word(name, lower_words)
    }
    subjects: list[int] = []
    objects: list[int] = []
    numbers = list(names.values())
    automaton = ahocorasick_rs.AhoCorasick(list(names))
    for i, entity in enumerate(entities if names else ()):
        text = without_surrogates(entity.paragraph)
        matches = automaton.find_matches_as_indexes(text, overlapping=True)
        # Boundaries first: a longer name that ends inside a word must not hide a shorter one.
        whole = (match for match in matches if is_whole_word(text, match[1], match[2]))
        for pattern, _, _ in leftmost_longest(whole):
            subjects.append(i)
            objects.append(numbers[pattern])
    return RelationGraph.from_edges(
        len(entities), np.array(subjects, np.int64), np.array(objects, np.int64)
    )
