"""Whether a description reads as language: whether its words may stand in this order.

`support` judges words one by one, so that "of of of of Jamaican" passes. Here their order counts.
Words are told apart by short lists and by endings of English (`_kind`); `_NEVER` says which kinds
do not stand side by side. Two words that the passages have side by side are never held against a
description; what they have only the other way round is.

Nothing is known of meaning, and of other languages only what is common to all: words of other
scripts, and those that no list or ending knows, may stand anywhere. So it does not see a wrong
order of nouns that the passages lack ("genre music"), nor a well-formed phrase that is untrue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from argus.remedies.demonyms import PLACES
from argus.remedies.support import GENERIC_WORDS, SMALL_WORDS
from argus.remedies.wording import word_set

_KINDS = {
    "the": word_set("the"),
    "a": word_set("a an"),
    "of": word_set("at by for from in into of on to with"),
    "as": word_set("as"),
    "and": word_set("and or &"),
    "who": word_set("that which who"),
    "is": word_set("is are was were"),
    "its": word_set("its their"),
    "it": word_set("he it she they we you"),
}
_NOT_ROLES = word_set(
    """
    after amber copper earlier either elder ever exterior former greater higher however inferior
    inner interior junior larger later lesser lower major minor never newer number older order other
    outer over paper popular power prior proper rather senior silver smaller summer super superior
    tender thriller together under upper water whether winter younger
    """
)
"""What ends as a role does and is none."""
_ROLE = re.compile(r"[a-z]{3,}(?:er|or|ist|ian|ress|man|men|woman|women)s?")
_ADJECTIVE = re.compile(r"[a-z]{3,}(?:ous|itical|orical|ological|edical|ional|less|ful)")
_NEVER = """
    start: and is
    the: the a of and who is its end
    a: the a of and who is its end
    of: of and is end
    as: as and is end
    and: and end
    who: who of and its end
    is: is and who end
    its: the a of and who is its end
    number: a
    demonym: a the
    it: the a and who its it number demonym name role
    role: demonym number a the adjective-end
    word: demonym-end adjective-end
    adjective: demonym-end
    name of: role-end
    start of: role-end
"""
"""After which kind, or two of them, which others never stand; `KIND-end`: such a one at the end."""
KNOWN = frozenset({"demonym", "role", "adjective"})
"""Kinds of words that are English for certain."""
LONG = 5
"""Characters from which on a word that is repeated is surely none of the small ones."""
_RUNS = re.compile(r"[,;:()!?\[\]\n\"“”]|(?<=\w\w\w)\.(?=\s)")
_ENDING = re.compile(r"(?:['’]s?|\.)\Z")
"""What words are compared without: a possessive, the full stop of an abbreviation."""


Pairs = frozenset[tuple[str, str]]
"""Words, case-folded, that stand side by side."""


def misphrased(description: str, passages: Iterable[str]) -> str:
    """Return why a description does not read as language, "" where nothing speaks against it."""
    words = description.split(" ")
    folded = [_ENDING.sub("", word.casefold()) for word in words]
    beside = _pairs_in(tuple(passages))
    doubts = (
        _repeated(words, folded, beside),
        _misplaced(words, folded, beside),
        _turned(folded, beside),
    )
    return next((doubt for some in doubts for doubt in some), "")


def _repeated(words: Sequence[str], folded: Sequence[str], beside: Pairs) -> Iterator[str]:
    """Yield a word that stands twice with nothing small between, or three times.

    Short ones may stand twice: in other languages they are small words. "In re" is not "in re".
    """
    pairs = zip(words, folded, strict=True)
    same = [word if plain in SMALL_WORDS else plain for word, plain in pairs]
    for i, word in enumerate(same):
        for before in (j for j in range(i) if same[j] == word and (word, word) not in beside):
            between = same[before + 1 : i]
            apart = len(word) < LONG or not SMALL_WORDS.isdisjoint(between)
            if not (between and apart) or same.count(word) > 2:
                yield f"{word!r} is repeated"


def _misplaced(words: Sequence[str], folded: Sequence[str], beside: Pairs) -> Iterator[str]:
    """Yield words that stand where their kinds never do."""
    kinds = ["start", *(_kind(word, first=not i) for i, word in enumerate(words)), "end"]
    before = ""
    for i, (one, other) in enumerate(pairwise(kinds)):
        first, second = folded[i - 1 : i], folded[i : i + 1]
        if first and second and (*first, *second) in beside:
            before = ""
            continue
        never = _never().get(one, frozenset()) | _never().get(f"{before} {one}", frozenset())
        at_end = i == len(words) - 1 and f"{other}-end" in never
        article = one == "a" and other in KNOWN and _other_article(*words[i - 1 : i + 1])
        if other in never or at_end or article:
            yield _beside(first, second)
        before = one


def _beside(first: Sequence[str], second: Sequence[str]) -> str:
    """Say which words do not stand side by side; none is a beginning or an end."""
    if not second:
        return f"it ends with {first[0]!r}"
    return f"{second[0]!r} after {first[0]!r}" if first else f"it begins with {second[0]!r}"


def _turned(words: Sequence[str], beside: Pairs) -> Iterator[str]:
    """Yield words that the passages have side by side, but only the other way round."""
    for one, other in pairwise(words):
        content = one != other and SMALL_WORDS.isdisjoint((one, other))
        if content and (other, one) in beside and (one, other) not in beside:
            yield f"{one!r} and {other!r} in the wrong order"
    for one, small, other in zip(words, words[1:], words[2:], strict=False):
        turned = small in _KINDS["of"] and {(other, small), (small, one)} <= beside
        if turned and beside.isdisjoint({(one, small), (small, other)}):
            yield f"{one!r} and {other!r} in the wrong order"


def _kind(word: str, *, first: bool) -> str:
    """Return what a word is: a key of `_KINDS`, number, demonym, name, role, adjective or word.

    "other" where nothing is known of it. first: at the beginning a small word may have a capital.
    """
    folded = word.casefold()
    small = word if not first or len(word) == 1 or not word.istitle() else folded
    for kind, words in _KINDS.items():
        if small in words:
            return kind
    if not word.isascii():
        return "other"
    if word[:1].isdigit():
        return "number"
    if word[:1].isupper():
        return "demonym" if folded.rpartition("-")[2] in PLACES else "name"
    if folded in _NOT_ROLES:
        return "word"
    if folded.removesuffix("s") in GENERIC_WORDS or _ROLE.fullmatch(folded):
        return "role"
    return "adjective" if _ADJECTIVE.fullmatch(folded) else "word"


def _other_article(article: str, word: str) -> bool:
    """Return whether "a" stands for "an", or the other way round, as far as letters tell."""
    first = word[:1].casefold()
    if word[:2].isupper() or not "a" <= first <= "z":
        return False
    if article.casefold() == "an":
        return first not in "aeiouh"
    return first in "ai" or (first == "e" and not word.casefold().startswith(("eu", "ew")))


@cache
def _never() -> dict[str, frozenset[str]]:
    lines = (line.partition(":") for line in _NEVER.strip().splitlines())
    return {kind.strip(): word_set(others) for kind, _, others in lines}


@lru_cache(maxsize=64)
def _pairs_in(passages: tuple[str, ...]) -> Pairs:
    """Return the words that stand side by side in passages; several descriptions share them."""
    return frozenset(
        pair
        for passage in passages
        for run in _RUNS.split(passage)
        for pair in pairwise(_ENDING.sub("", word) for word in run.casefold().split())
    )
