"""Texts that keep a regular expression busy, from its parse tree.

For each repeat without a bound: what leads to it, what it repeats many times, and an end that
nothing matches; and what leads to it many times, each of which is a start of its own.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

ENDS = ("\x00", "\n\x00 a")
# Repeats of more than so many are without a bound here.
MANY = 50
# Walks of the tree, each with other characters and branches.
ROUNDS = 8
# What many expressions name.
UNITS = (
    *"aA0 \t\n.,-_/\\\"'<>[]{}()=@#*|:&;é",
    *("a ", "a.", "a-", "1.", "0 ", "\n\n", "{{", "[[", "<!--", "<ref", "&amp;", "http://a"),
    *("a@a", "$a"),
)
_USUAL = "a (.A0-_\n,\"'[<{=:/\\é"
_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
# What leads to a repeat, and what it repeats.
Pump = tuple[str, str]


def texts(pattern: re.Pattern[Any], n: int) -> Iterator[str]:
    """Yield texts of about n characters."""
    for lead, unit in dict.fromkeys(pumps(pattern)):
        for end in ENDS:
            yield lead + unit * (n // len(unit)) + end
    for unit in UNITS:
        yield unit * (n // len(unit)) + ENDS[0]


def pumps(pattern: re.Pattern[Any]) -> Iterator[Pump]:
    """Yield what is repeated after what, as the tree of an expression says."""
    source, flags = pattern.pattern, pattern.flags
    if isinstance(source, bytes):
        source = source.decode("latin1")
        flags &= ~re.UNICODE
    tree = parser.parse(source, flags)
    walk = _Walk(Random(7))
    for _ in range(ROUNDS):
        whole = walk.sample(tree, "")
        walk.found.append(("", whole))
    for lead, unit in walk.found:
        for one in ((lead, unit), ("", lead + unit), ("", lead), ("a", unit)):
            if 0 < len(one[1]) <= 200:
                yield one


@dataclass
class _Walk:
    random: Random
    found: list[Pump] = field(default_factory=list)

    def sample(self, nodes: Iterable[tuple[Any, Any]], lead: str) -> str:
        """Return a text that nodes match, about; note the repeats on the way."""
        text = ""
        for kind, value in nodes:
            text += self._one(kind, value, lead + text)
        return text

    def _one(self, kind: Any, value: Any, lead: str) -> str:
        if kind is sre.LITERAL:
            return chr(value)
        if kind is sre.NOT_LITERAL:
            return self.random.choice([c for c in _USUAL if ord(c) != value])
        if kind is sre.ANY:
            return self.random.choice("a .(")
        if kind is sre.IN:
            return self.random.choice(_members(value))
        if kind is sre.BRANCH:
            return self.sample(self.random.choice(value[1]), lead)
        if kind is sre.SUBPATTERN:
            return self.sample(value[3], lead)
        if kind is sre.ATOMIC_GROUP:
            return self.sample(value, lead)
        if kind is sre.ASSERT and value[0] < 0:
            return self.sample(value[1], lead)
        return self._repeat(value, lead) if kind in _REPEATS else ""

    def _repeat(self, value: Any, lead: str) -> str:
        least, most, body = value
        unit = self.sample(body, lead)
        if most is sre.MAXREPEAT or most > MANY:
            self.found.append((lead, unit))
        return unit * min(max(least, self.random.choice((0, 1)) if most else 0), MANY)


def _members(items: list[tuple[Any, Any]]) -> list[str]:
    """Return some characters of a class."""
    inside: list[str] = []
    for kind, value in items:
        if kind is sre.LITERAL:
            inside.append(chr(value))
        elif kind is sre.RANGE:
            inside += [chr(value[0]), chr(value[1])]
        elif kind is sre.CATEGORY:
            inside += [c for c in _USUAL if re.match(_CATEGORIES[value], c)]
    if items[0][0] is not sre.NEGATE:
        return inside
    outside = [c for c in _USUAL if not any(_is_in(c, item) for item in items[1:])]
    return outside or ["\u4e00"]


def _is_in(character: str, item: tuple[Any, Any]) -> bool:
    kind, value = item
    if kind is sre.LITERAL:
        return ord(character) == value
    if kind is sre.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    return re.match(_CATEGORIES[value], character) is not None
