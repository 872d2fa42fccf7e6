"""The guard: a synthesis may add short descriptions after first mentions, and nothing else.

ARGUS §5.2 (2) and Figure 8 ask a language model to insert descriptions of at most five words,
between commas, right after the first mention of an entity, where the knowledge base supports them.
A model may do otherwise, by mistake or because the document tells it to. So its text is never
indexed: the guard reads insertions out of it, and `apply` puts those into the document itself.
Whatever is not the document with such insertions is rejected whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from argus.data.types import Span
from argus.remedies.phrasing import misphrased
from argus.remedies.support import is_supported
from argus.remedies.wording import MAX_CHARS, MAX_WORDS, is_wording

MAX_WAYS = 16
"""Ways to read a synthesis that are followed at once; texts that are not made to confuse need 1."""

CLOSING = ",.;:!?)]"
"""What closes a description, so that it needs no comma of its own."""
_OPENING = "(["
_REACH = re.compile(rf", ([^,;:!?()\[\]\n]{{1,{MAX_CHARS}}})")


@dataclass(frozen=True, slots=True)
class Insertion:
    """A description to put into a document right after the first mention that ends at `at`."""

    at: int
    """Characters, in the document."""
    entity: str
    description: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a synthesis was not accepted."""

    reason: str


def apply(document: str, insertions: Sequence[Insertion]) -> str:
    """Return the document with its insertions, each between commas.

    The closing comma is left to punctuation that follows anyway. Deleting what was inserted gives
    back the document byte for byte.
    """
    parts, begin = [], 0
    for insertion in sorted(insertions, key=lambda i: i.at):
        closing = "" if _closes_itself(document, insertion.at) else ","
        parts += [document[begin : insertion.at], f", {insertion.description}{closing}"]
        begin = insertion.at
    return "".join([*parts, document[begin:]])


def insertable(document: str, first_mention: Span) -> bool:
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


def places(document: str, first_mentions: Mapping[str, Span]) -> dict[str, int]:
    """Return where each entity can take a description, in order; the others are left out.

    A mention that ends inside another takes none, and of those that end together only the longest.
    """
    spans = sorted(first_mentions.values(), key=lambda span: span.start)
    entities: dict[int, str] = {}
    begun = reach = 0
    by_end = sorted(first_mentions.items(), key=lambda item: (item[1].end, item[1].start, item[0]))
    for entity, span in by_end:
        while begun < len(spans) and spans[begun].start < span.end:
            reach = max(reach, spans[begun].end)
            begun += 1
        if reach <= span.end and insertable(document, span):
            entities.setdefault(span.end, entity)
    return {entity: at for at, entity in entities.items()}


def examine(
    document: str,
    synthesis: str,
    first_mentions: Mapping[str, Span],
    context: Mapping[str, Sequence[str]],
) -> list[Insertion] | Rejected:
    """Read the insertions out of a synthesis, or say why it is rejected.

    first_mentions: entity to its first mention in the document; only at their `places` may text be
    added. context: entity to the passages that its description must be supported by. White space
    around the whole synthesis and the kind of line ends make no difference; a closing comma may
    stand where `apply` needs none. An unchanged document gives no insertions. Time is linear in
    the lengths of both, whatever they hold.
    """
    where = places(document, first_mentions)
    descriptions = _aligned(document, synthesis.strip(), list(where.values()))
    if descriptions is None:
        return Rejected(
            "it is not the document with descriptions of at most "
            f"{MAX_WORDS} words between commas after first mentions"
        )
    insertions = [
        Insertion(at, entity, description)
        for (entity, at), description in zip(where.items(), descriptions, strict=True)
        if description is not None
    ]
    for insertion in insertions:
        if repeats(insertion.description, insertion.entity):
            return Rejected(f"{insertion.description!r} only repeats {insertion.entity!r}")
        if not is_supported(insertion.description, context.get(insertion.entity, ())):
            return Rejected(
                f"{insertion.description!r} after {insertion.entity!r} is not supported by the "
                "knowledge base"
            )
        if doubt := misphrased(insertion.description, context.get(insertion.entity, ())):
            return Rejected(
                f"{insertion.description!r} after {insertion.entity!r} is no phrase: {doubt}"
            )
    return insertions


def repeats(description: str, entity: str) -> bool:
    """Return whether a description says nothing but words of the name that it stands behind."""
    return set(description.casefold().split()) <= set(entity.casefold().split())


def _closes_itself(text: str, at: int) -> bool:
    return at >= len(text) or text[at] in CLOSING


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to read a synthesis up to some position: what stands at the last place passed."""

    before: _Way | None
    description: str | None = None


def _aligned(document: str, synthesis: str, ends: Sequence[int]) -> list[str | None] | None:
    """Return the description at each place, None where there is none; None when nothing fits.

    Reads from the left and keeps, for every position of the synthesis that can be reached, one way
    to reach it; at most `MAX_WAYS`, so that a text made for the purpose is rejected, not slow.
    """
    edges = [len(document) - len(document.lstrip()), *ends, len(document.rstrip())]
    pieces = [_same_lines(document[a:b]) for a, b in pairwise(edges)]
    synthesis = _same_lines(synthesis)
    if not synthesis.startswith(pieces[0]):
        return None
    options: dict[int, list[tuple[str | None, int]]] = {}
    reached = {len(pieces[0]): _Way(None)}
    for piece in pieces[1:]:
        further: dict[int, _Way] = {}
        for position, way in reached.items():
            if position not in options:
                options[position] = list(_options(synthesis, position))
            for description, after in options[position]:
                end = after + len(piece)
                settled = end in further or len(further) >= MAX_WAYS
                if not settled and synthesis.startswith(piece, after):
                    further[end] = _Way(way, description)
        reached = further
    last = reached.get(len(synthesis))
    return None if last is None else list(_descriptions(last))[::-1]


def _descriptions(way: _Way) -> Iterator[str | None]:
    """Yield what stands at each place, from the last to the first."""
    while way.before is not None:
        yield way.description
        way = way.before


def _options(synthesis: str, position: int) -> Iterator[tuple[str | None, int]]:
    """Yield what may stand at a place, and where the document goes on after it."""
    yield None, position
    match = _REACH.match(synthesis, position)
    if match is None:
        return
    for end in _ends(synthesis, match.start(1), match.end()):
        description = synthesis[match.start(1) : end]
        if is_wording(description):
            yield description, end
            if synthesis.startswith(",", end):
                yield description, end + 1


def _ends(synthesis: str, start: int, reach: int) -> Iterable[int]:
    """Return where a description that begins at `start` may end: in front of what closes it.

    A full stop closes, but may also belong to an abbreviation.
    """
    stops = [start + i for i, c in enumerate(synthesis[start:reach]) if c == "." and i]
    closed = reach == len(synthesis) or synthesis[reach] in CLOSING + _OPENING
    return [*stops, reach] if closed else stops


def _same_lines(text: str) -> str:
    """Line ends as models write them."""
    return text.replace("\r\n", "\n")
