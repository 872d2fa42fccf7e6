"""Check text that a language model wrote: accept short insertions into a document, nothing else.

`argus tune apply synthesize` asks a model to insert descriptions of at most five words, between
commas, right after the first mention of an entity, if the knowledge base supports them (ARGUS
Figure 8). A model may do otherwise, by mistake or because the document says so, so its text is
never indexed. `examine` reads the insertions out of it, and `insert` puts them into the document
itself. Every other text is rejected whole.

A description must pass two checks. `is_wording` refuses everything that could hide, address or
instruct: control, zero-width and bidirectional characters, disguised or struck-through letters,
mark-up, addresses, sentences. Letters, numbers and combining marks of every script pass.
`is_supported` looks for every word in the passages, as a whole word, so that nothing can be spelled
out letter by letter. Neither reads the order of words, or tells whether a phrase is true.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from argus.data.texts import stream_safe
from argus.data.types import Span

MAX_READINGS = 16  # readings of a synthesis followed at once. Honest texts need 1
CLOSING = ",.;:!?)]"  # closes a description, which then needs no comma of its own
_OPENING = "(["
_Reading = tuple["_Reading | None", str | None]  # an earlier reading, and a description or None

MAX_WORDS = 5
MAX_WORD_LENGTH = 32
MAX_CHARS = MAX_WORDS * (MAX_WORD_LENGTH + 1)
MAX_MARKS = 3  # combining marks of one letter
_REACH = re.compile(rf", ([^,;:!?()\[\]\n]{{1,{MAX_CHARS}}})")
_HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SOUTHEAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Khmer, Burmese: no spaces
_SPACELESS = re.compile(f"[{_HAN}{_SOUTHEAST}]")
_PER_WORD = ((re.compile(f"[{_HAN}]"), 2), (re.compile(f"[{_SOUTHEAST}]"), 4))
_HIDDEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")
_OVERLAY = 1  # canonical combining class of marks that strike a letter through
_WHOLE_VOWELS = re.compile("[\u0e33\u0eb3]")  # of Thai and Lao, which NFKC takes apart
_SHAPE = re.compile(  # of a word, where "a" stands for any letter and "1" for any digit
    r"(?:a\.){1,3}a?\.?"  # initials: N.A.T.O.
    r"|[a1]+(?:(?:['’/+-]|(?<=1)\.(?=1))[a1]+){0,3}(?:['’]|\+{1,2})?"  # rock-and-roll, 3.5, C++
    r"|[a1]+&[a1]|&|a{1,3}\."  # AT&T, Simon & Garfunkel, St. Gall
)
_BREAK = re.compile(r"[\s,;:!?()\[\]\"“”。，、]+")
_JOINT = re.compile(r"[.'/&+-]")
_ENDING = re.compile(r"(?:ies|es|s|ed|ing|e|y)\Z")
_LISTS = Path(__file__).with_name("words.txt").read_text("utf-8").replace("\n    ", " ")
# Lists of words by name: words.txt says what each is for.
WORDS = {
    name: frozenset(words.split())
    for name, colon, words in (line.partition(": ") for line in _LISTS.splitlines())
    if colon and name[0] != "#"
}
SMALL_WORDS = WORDS["small"]
# Types and roles that passages state in other words: at most half of a description.
GENERIC_WORDS = WORDS["generic"]

PLACES: dict[str, set[str]] = {}  # demonym to its places, case-folded, compounds by the last word
for _pair in Path(__file__).with_name("demonyms.txt").read_text("utf-8").casefold().split():
    _place, _demonym = _pair.split(":")  # listed, since by endings "Niger" would give "Nigerian"
    PLACES.setdefault(_demonym, set()).add(_place)


def is_wording(description: str) -> bool:
    """Return whether a text has the form of a description.

    At most five words with single spaces between, each of at most 32 characters. In scripts without
    spaces, 2 characters of Chinese or Japanese and 4 of Thai, Lao, Khmer or Burmese count as a
    word. No letter is a variant of another (full-width, mathematical), and no mark strikes one
    through. Full stops stand only in abbreviations, initials and numbers, which keeps out addresses
    and sentences.
    """
    plain = _WHOLE_VOWELS.sub("", description)
    if unicodedata.normalize("NFKC", plain) != unicodedata.normalize("NFC", plain):
        return False
    words, count = description.split(" "), 0
    for word in words:
        if len(word) > MAX_WORD_LENGTH or not _SHAPE.fullmatch(_shape(word)):
            return False
        count += max(1, sum(-(-len(script.findall(word)) // n) for script, n in _PER_WORD))
    is_open = words[-1].endswith(".") and "." not in words[-1][:-1]  # "St." and no name behind it
    return count <= MAX_WORDS and not is_open


def _shape(word: str) -> str:
    """Return a word with "a" for letters, "1" for digits, and without legible combining marks."""
    shape, marks = "", 0
    for character in word:
        kind = unicodedata.category(character)
        if kind in ("Mn", "Mc") and shape[-1:] in ("a", "1") and marks < MAX_MARKS:
            is_overlay = unicodedata.combining(character) == _OVERLAY
            marks += 1
            shape += "?" if is_overlay or _HIDDEN.match(character) else ""
            continue
        marks = 0
        is_letter = kind[0] == "L" and not _HIDDEN.match(character)
        shape += "a" if is_letter else "1" if kind == "Nd" else character
    return shape


class _Facts:
    """Words of passages, without accents."""

    def __init__(self, passages: Iterable[str]) -> None:
        self.text = _plain("\n".join(passages))
        self.words: set[str] = set()  # case-folded
        self.names: set[str] = set()  # those of them that have capitals
        self.stems: set[str] = set()  # of the others
        for token in _BREAK.split(self.text):
            word = _without_ending(token)
            for part in (word, *(part for part in _JOINT.split(word) if len(part) > 1)):
                folded = part.casefold()
                self.words.add(folded)
                if part == folded:
                    self.stems.add(_stem(part))
                else:
                    self.names.add(folded)

    def support(self, word: str) -> bool:
        """Return whether a word occurs. In lower case it may have another number or verb form.

        A name may be the adjective of a place that occurs ("Canadian" for "Canada").
        """
        if _SPACELESS.search(word):
            return all(word[i : i + 2] in self.text for i in range(max(1, len(word) - 1)))
        folded = word.casefold()
        if word == folded and word not in SMALL_WORDS:
            return word in self.words or _stem(word) in self.stems
        is_acronym = word.isupper() and len(word) > 1
        places = PLACES.get(folded, set())
        occurs = folded in (self.names if is_acronym else self.words)
        return occurs or not places.isdisjoint(self.names)


def is_supported(description: str, passages: Iterable[str]) -> bool:
    """Return whether passages contain every word of a description.

    A compound may also occur in parts of several letters each ("singer-songwriter"). In scripts
    without spaces every pair of neighbouring characters occurs. Two kinds of words need no support:
    small ones ("of"), which say nothing alone, and in lower case the plain name of a type or role
    ("singer"), for at most half of the other words.
    """
    facts, content, generic = _Facts(passages), 0, 0
    words = _plain(description).split(" ")
    if re.search(r"(?:^|& )&|&$", " ".join(words)):
        return False  # it joins two words
    for i, word in enumerate(words):
        is_small_title = i == 0 and word.istitle() and word.lower() in SMALL_WORDS
        if word == "&" or word in SMALL_WORDS or is_small_title:
            continue
        whole = _without_ending(word)
        parts = [whole]
        if not facts.support(whole):
            parts = [part for part in _JOINT.split(whole) if part not in SMALL_WORDS]
            if len(parts) > 1 and min(map(len, parts)) < 2:
                return False
        for part in parts:
            if facts.support(part):
                content += len(part) > 1 or part.isdigit() or bool(_SPACELESS.match(part))
            elif part in GENERIC_WORDS:
                generic += 1
            else:
                return False
    return 0 < content >= generic


def _plain(text: str) -> str:
    """Return a text without accents, and with one kind of apostrophe."""
    apart = unicodedata.normalize("NFKD", stream_safe(text)).replace("’", "'")
    kept = "".join(c for c in apart if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", kept)


def _without_ending(word: str) -> str:
    """Return a word without a possessive or the full stop of an abbreviation."""
    return word.strip(".'").removesuffix("'s")


def _stem(word: str) -> str:
    return _ENDING.sub("", word) if len(word) > 3 else word


def repeats(description: str, entity: str) -> bool:
    """Return whether a description has only words of the name that it stands behind."""
    return set(description.casefold().split()) <= set(entity.casefold().split())


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
            f"{MAX_WORDS} words between commas after first mentions"
        )
    pairs = zip(where.items(), found, strict=True)
    insertions = [Insertion(at, entity, text) for (entity, at), text in pairs if text is not None]
    for insertion in insertions:
        entity, description = insertion.entity, insertion.description
        passages = context.get(entity, ())
        if repeats(description, entity):
            return f"{description!r} only repeats {entity!r}"
        if not is_supported(description, passages):
            return f"{description!r} after {entity!r} is not supported by the knowledge base"
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
        if is_wording(description):
            yield description, end
            if synthesis.startswith(",", end):
                yield description, end + 1
