"""Find entities in text: ground a label in its paragraph, relate entities by exact mention."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from argus.data.types import Span
from argus.knowledge.base import Entity
from argus.knowledge.names import (
    is_common_word,
    is_whole_word,
    leftmost_longest,
    lower_case_words,
    without_parenthesis,
    without_surrogates,
)
from argus.knowledge.relations import RelationGraph

_WORD = re.compile(r"\w+")
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
    return search(label, paragraph)


def search(label: str, paragraph: str) -> Grounded:
    """Ground a label without outer white space, as `ground` does, wherever it stands."""
    matches = [_literal(label).search(paragraph), _loose_search(label, paragraph)]
    spans = [match.span() for match in matches if match is not None]
    if spans:
        return Grounded(paragraph, Span(*min(spans)))
    text = f"{label} {paragraph}" if paragraph else label
    return Grounded(text, Span(0, len(label)), prepended=True)


def _literal(label: str) -> re.Pattern[str]:
    before = r"(?<!\w)" if re.match(r"\w", label[0]) else ""
    after = r"(?!\w)" if re.match(r"\w", label[-1]) else ""
    return re.compile(before + re.escape(label) + after, re.IGNORECASE)


def _loose_search(label: str, paragraph: str) -> re.Match[str] | None:
    words = _WORD.findall(label)
    if sum(map(len, words)) < MIN_NAME_LENGTH:  # "C++" must not ground in "C"
        return None
    pattern = r"(?<!\w)" + r"[\W_]+".join(map(re.escape, words)) + r"(?!\w)"
    return re.compile(pattern, re.IGNORECASE).search(paragraph)


def mention_relations(entities: Sequence[Entity]) -> RelationGraph:
    """Relate two entities when one's paragraph names the other.

    Exact and case-sensitive at word boundaries, longest name first. An entity's names are its
    label and, when it has at least two words, the label without a final parenthesis. Left out,
    because they would relate by accident: names under four characters, names that two entities
    share, one-word names that also occur in lower case in the paragraphs, and names that hold half
    of a character.
    """
    import ahocorasick_rs

    names = _unambiguous_names(entities)
    subjects: list[int] = []
    objects: list[int] = []
    if names:
        patterns = list(names)
        owners = list(names.values())
        automaton = ahocorasick_rs.AhoCorasick(patterns)
        for i, entity in enumerate(entities):
            text = without_surrogates(entity.paragraph)
            matches = automaton.find_matches_as_indexes(text, overlapping=True)
            # Boundaries first: a longer name that ends inside a word must not hide a shorter one.
            whole = (match for match in matches if is_whole_word(text, match[1], match[2]))
            for pattern, _, _ in leftmost_longest(whole):
                subjects.append(i)
                objects.append(owners[pattern])
    return RelationGraph.from_edges(
        len(entities), np.array(subjects, np.int64), np.array(objects, np.int64)
    )


def _unambiguous_names(entities: Sequence[Entity]) -> dict[str, int]:
    lower_words = lower_case_words(e.paragraph for e in entities)
    labels = [(e.label, i) for i, e in enumerate(entities)]
    shortened = [(without_parenthesis(label), i) for label, i in labels]
    count = Counter(label for label, _ in labels)
    count.update(
        short for (short, _), (label, _) in zip(shortened, labels, strict=True) if short != label
    )
    names: dict[str, int] = {}
    for (short, i), (label, _) in zip(shortened, labels, strict=True):
        for name in {label, short} if " " in short else {label}:
            common = is_common_word(name, lower_words)
            whole = len(name) >= MIN_NAME_LENGTH and without_surrogates(name) == name
            if whole and count[name] == 1 and not common:
                names[name] = i
    return names
