"""Accept insertions of short descriptions into a document, and nothing else (ARGUS §5.2 (2)).

ARGUS Figure 8 has a language model insert descriptions of at most five words, between commas, right
after the first mention of an entity, if the knowledge base supports them. A model may do otherwise,
by mistake or because the document says so. So its text is never indexed. `examine` reads the
insertions out of it, and `insert` puts them into the document itself. Every other text is rejected
whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from argus.data.types import Span
from argus.remedies import descriptions

MAX_READINGS = 16  # readings of a synthesis followed at once. Honest texts need 1
CLOSING = ",.;:!?)]"  # closes a description, which then needs no comma of its own
_OPENING = "(["
_REACH = re.compile(rf", ([^,;:!?()\[\]\n]{{1,{descriptions.MAX_CHARS}}})")


_Reading = tuple["_Reading | None", str | None]  # an earlier reading, and a description or None


@dataclass(frozen=True, slots=True)
class Insertion:
    """A description for a document, right after the first mention, which ends at `at`."""

    at: int
    entity: str
    description: str


def insert(document: str, insertions: Sequence[Insertion]) -> str:
    """Return the document with its insertions, each between commas.

    A punctuation mark that follows replaces the closing comma. Deleting the insertions gives back
    the document byte for byte.
    """
    parts, begin = [], 0
    for insertion in sorted(insertions, key=lambda i: i.at):
        at = insertion.at
        closing = "" if at >= len(document) or document[at] in CLOSING else ","
        parts += [document[begin:at], f", {insertion.description}{closing}"]
        begin = at
    return "".join([*parts, document[begin:]])


def can_insert(document: str, first_mention: Span) -> bool:
    """Return whether a description can stand behind a mention.

    Not inside a word or number ("Paris's", "Paris-", "3" of "3,000"), behind white space, or
    beyond the document.
    """
    at = first_mention.end
    if at > len(document) or document[at - 1].isspace():
        return False
    if at == len(document) or document[at].isspace() or document[at] in _OPENING:
        return True
    return document[at] in CLOSING and not document[at + 1 : at + 2].isalnum()


def find_places(document: str, first_mentions: Mapping[str, Span]) -> dict[str, int]:
    """Return the place of each entity that can have a description, in order.

    A mention that ends inside another has none. Of those that end together the longest has one.
    """
    spans = sorted(first_mentions.values(), key=lambda span: span.start)
    entities: dict[int, str] = {}
    begun = reach = 0
    by_end = sorted(first_mentions.items(), key=lambda item: (item[1].end, item[1].start, item[0]))
    for entity, span in by_end:
        while begun < len(spans) and spans[begun].start < span.end:
            reach = max(reach, spans[begun].end)
            begun += 1
        if reach <= span.end and can_insert(document, span):
            entities.setdefault(span.end, entity)
    return {entity: at for at, entity in entities.items()}


def examine(
    document: str,
    synthesis: str,
    first_mentions: Mapping[str, Span],
    context: Mapping[str, Sequence[str]],
) -> list[Insertion] | str:
    """Read the insertions out of a synthesis, or return the reason why it is rejected.

    first_mentions: entity to its first mention in the document. Text may only stand at their
    `find_places`. context: entity to the passages that must support its description. White space
    around the whole synthesis and the kind of line ends make no difference. A closing comma may
    stand even if `insert` needs none. An unchanged document gives no insertions. Time is linear in
    the lengths of both texts.
    """
    where = find_places(document, first_mentions)
    found = _align(document, synthesis.strip(), list(where.values()))
    if found is None:
        return (
            "it is not the document with descriptions of at most "
            f"{descriptions.MAX_WORDS} words between commas after first mentions"
        )
    pairs = zip(where.items(), found, strict=True)
    insertions = [Insertion(at, entity, text) for (entity, at), text in pairs if text is not None]
    for insertion in insertions:
        entity, description = insertion.entity, insertion.description
        passages = context.get(entity, ())
        if descriptions.repeats(description, entity):
            return f"{description!r} only repeats {entity!r}"
        if not descriptions.is_supported(description, passages):
            return f"{description!r} after {entity!r} is not supported by the knowledge base"
        if fault := descriptions.find_misphrasing(description, passages):
            return f"{description!r} after {entity!r} is no phrase: {fault}"
    return insertions


def _align(document: str, synthesis: str, ends: Sequence[int]) -> list[str | None] | None:
    """Return the description at each place (None where there is none), or None if nothing fits.

    Reads from the left and remembers one reading for every position of the synthesis that can be
    reached, at most `MAX_READINGS`. So a text made to confuse is rejected, not slow.
    """
    edges = [len(document) - len(document.lstrip()), *ends, len(document.rstrip())]
    pieces = [document[a:b].replace("\r\n", "\n") for a, b in pairwise(edges)]
    synthesis = synthesis.replace("\r\n", "\n")
    if not synthesis.startswith(pieces[0]):
        return None
    options: dict[int, list[tuple[str | None, int]]] = {}
    reached: dict[int, _Reading | None] = {len(pieces[0]): None}
    for piece in pieces[1:]:
        further: dict[int, _Reading | None] = {}
        for position, reading in reached.items():
            if position not in options:
                options[position] = list(_options(synthesis, position))
            for description, after in options[position]:
                end = after + len(piece)
                settled = end in further or len(further) >= MAX_READINGS
                if not settled and synthesis.startswith(piece, after):
                    further[end] = (reading, description)
        reached = further
    if len(synthesis) not in reached:
        return None
    read: list[str | None] = []
    reading = reached[len(synthesis)]
    while reading is not None:
        reading, description = reading
        read.append(description)
    return read[::-1]


def _options(synthesis: str, position: int) -> Iterator[tuple[str | None, int]]:
    """Yield the descriptions that may stand at a place, and where the document goes on.

    A description ends in front of the mark that closes it. A full stop closes, but may also belong
    to an abbreviation.
    """
    yield None, position
    match = _REACH.match(synthesis, position)
    if match is None:
        return
    start, reach = match.span(1)
    ends = [start + i for i, c in enumerate(match[1]) if c == "." and i]
    if reach == len(synthesis) or synthesis[reach] in CLOSING + _OPENING:
        ends.append(reach)
    for end in ends:
        description = synthesis[start:end]
        if descriptions.is_wording(description):
            yield description, end
            if synthesis.startswith(",", end):
                yield description, end + 1
