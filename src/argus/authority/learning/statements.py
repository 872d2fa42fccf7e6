"""Sentences that say that one document supersedes another: which, which way, and how surely.

A statement is a cue of supersession and a name in one sentence. "overrules X", "X is replaced", "in
place of X": the document that says it supersedes X. "superseded by X", "deprecated, use X": X
supersedes it. Words of doubt and of dissent ("declined to overrule") are told beside it, as are
words between cue and name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from argus.authority.learning.names import Naming

_END = re.compile(
    r"""(?<!\bv)(?<!\bvs)(?<!\bNo)(?<!\b[A-Z])(?<!\be\.g)(?<!\bi\.e)[.!?]["'”’)\]*]*\s+"""
    r"""(?=["'“‘(\[`*]*[A-Z0-9_])|\n\s*(?:\n|[-*•#>]\s)|[*•]\s(?=[A-Z0-9*_`])"""
)
FAR = 25
"""Words between cue and name from which on the two have nothing to do with one another."""
_STRONG = "overrul|supersed|supersess|obsolet|repeal|rescind|abrogat|deprecat|superannuat"
_WEAK = "overturn|replac|withdr[ae]w|revok|annul|retract|invalidat|discontinu|displac"
_PHRASES = r"\bno longer (?:good|valid|in force|current)\b|\bin place of\b|\binstead\b"
CUE = re.compile(rf"\b(?P<strong>(?:{_STRONG})[a-z]*)\b|\b(?:{_WEAK})[a-z]*\b|{_PHRASES}", re.I)
"""A cue of supersession; strong where it hardly says anything else."""
_BY = re.compile(
    r"\W{0,20}(?:in\s+)?(?:\S{1,60}\s+){0,4}?(?:by|in\s+favou?r\s+of|with|(?:please\s+)?(?:use|see)(?:\s+of)?)"
    r"\s+(?:the\s+|our\s+|its\s+)?[`'\"*]*\.?$",
    re.I,
)
_USE = re.compile(
    r"\b(?:use|using|see|prefer)\s+(?:the\s+)?(?:\S+(?:,|\s+(?:or|and|with))\s+)*[`'\"*]*\.?$",
    re.I,
)
_PASSIVE = re.compile(r"(?:ed|n|ete)$", re.I)
_BEING = re.compile(r"\b(?:is|are|was|were|be|been|being|effectively|hereby)\W+$", re.I)
_OF = re.compile(r"(?<!\s)\s+of\s+(?:the\s+)?[`'\"*]*\.?$", re.I)
HEDGE = re.compile(
    r"\b(?:dissent\w*|declin\w*|refus\w*|should|would|could|may|might|whether|ask\w*|argu\w*|urg\w*|"
    r"not|never|without|unless|oppos\w*|contend\w*|claim\w*|propos\w*|reconsider\w*)\b",
    re.I,
)
"""Words of doubt, of dissent and of others' wishes."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence says of a record that it names.

    other: that record. supersedes_other: whether who says it supersedes that one; else the reverse.
    gap: words between cue and name. is_strong: the cue is. has_doubt: a word of doubt stands in
    front of the cue.
    """

    other: str
    supersedes_other: bool
    is_full: bool
    gap: int
    is_strong: bool
    has_doubt: bool
    sentence: str


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence; a full stop after "v", "No" or an initial ends none."""
    start = 0
    for end in _END.finditer(text):
        yield start, end.end()
        start = end.end()
    if start < len(text):
        yield start, len(text)


def statements(text: str, namings: Sequence[Naming]) -> Iterator[Statement]:
    """Yield what a text says of the records that it names, in its order.

    A short name counts where the text names the record in full, too, or where it follows a strong
    cue at once.
    """
    named = {naming.id for naming in namings if naming.is_full}
    for start, end in sentences(text):
        inside = [n for n in namings if start <= n.start and n.end <= end]
        cues = _cues(text, start, end) if inside else []
        for naming in inside if cues else ():
            gap, cue = min(((_gap(text, c, naming), c) for c in cues), key=lambda pair: pair[0])
            is_strong = cue["strong"] is not None
            if gap >= FAR or not (naming.id in named or (is_strong and not gap)):
                continue
            forward = _supersedes(text, start, cue, naming)
            if forward is not None:
                yield Statement(
                    naming.id, forward, naming.is_full, gap, is_strong,
                    HEDGE.search(text, start, cue.start()) is not None,
                    " ".join(text[start:end].split()),
                )  # fmt: skip


def _cues(text: str, start: int, end: int) -> list[re.Match[str]]:
    """Return the strong cues of a sentence; all where none is strong."""
    cues = list(CUE.finditer(text, start, end))
    return [cue for cue in cues if cue["strong"]] or cues


def _gap(text: str, cue: re.Match[str], naming: Naming) -> int:
    """Return how many words stand between cue and name; FAR where one lies in the other."""
    if cue.end() <= naming.start:
        return len(text[cue.end() : naming.start].split())
    if naming.end <= cue.start():
        return len(text[naming.end : cue.start()].split())
    return FAR


def _supersedes(text: str, start: int, cue: re.Match[str], naming: Naming) -> bool | None:
    """Return whether who says it supersedes what it names, by what stands between the two.

    None where the sentence is about something else: "instead of raising X", "X, which overruled Y".
    """
    word = cue[0].lower()
    if cue.end() <= naming.start:
        between = text[cue.end() : naming.start]
        if word in ("instead", "in place of"):
            if word == "in place of" or _OF.fullmatch(between):
                return True
            return False if _USE.search(between) else None
        by = _BY.fullmatch(between) or _USE.search(between)
        return not (by and _PASSIVE.search(word))
    if word == "instead":
        return False if _USE.search(text[start : naming.start]) else None
    if word == "in place of":
        return None
    is_said = word.startswith("no longer") or _BEING.search(text[naming.end : cue.start()])
    return True if is_said else None
