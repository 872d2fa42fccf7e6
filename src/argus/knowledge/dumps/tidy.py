"""Plain text made even where something vanished from it: brackets, separators, spaces, entities."""

from __future__ import annotations

import re
import unicodedata
from html import unescape

from argus.data.texts import stream_safe
from argus.knowledge.dumps.markup import GONE

_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
_SPACES = re.compile(r"\s+")
_BRACKETS = re.compile(r"\(((?:[^()]++|\([^()]*+\))*)\)")
_INNER = re.compile(r"\(([^()]*+)\)")
_SEPARATOR = re.compile(r"([;,])")
_NOTHING = " ;,:/[]–—-·&" + GONE
_LABELS = frozenset(
    {
        "pronounced", "pronunciation", "ipa", "listen", "see", "english", "locally", "local",
        "us", "uk", "am.", "br.", "and", "or", "also", "from", "in", "either", "as", "is",
        "named", "called", "spelled", "say", "occasionally", "sometimes", "usually",
        "rarely", "years", "year", "ago", "old", "aged", "age", "simplified",
        "traditional", "romanized", "gesprochen", "aussprache", "prononcé", "pronunciado",
    }
)  # fmt: skip
"""Words that stand beside what vanishes and mean nothing without it."""

_LEFT = re.compile(r"^\s*+\x00[\s\x00]*+(?:or|and)\s++|(?<!\s)\s++(?:or|and)\s*+\x00[\s\x00]*+$")
_GAP = r" ?\x00[ \x00]*+"
_BEFORE_SIGN = re.compile(rf"{_GAP}(?=[,.;:!?)\]])|({_GAP})")
"""A gap that goes, or, as its group, one that stays: each is looked at once, as a whole."""
_AFTER_BRACKET = re.compile(r"(?<=[(\[])[ \x00]+")
_WIDE = re.compile(r"(?<=（)[\x00 、，；]++|(?<![\x00 、，；])[\x00 、，；]++(?=）)")
_DANGLING = re.compile(rf",{_GAP}(?=\()")
_QUOTED_NOTHING = re.compile(r'"\x00++"|“\x00++”|« *+\x00[ \x00]*+»')
_MENDS = (
    (re.compile(r" +"), " "),
    (re.compile(r"\( ?[,;:]+[ ,;:]*"), "("),
    (re.compile(r"(?<![ ,;])[ ,;]++\)"), ")"),
    (re.compile(r" ?\( ?\)"), ""),
    (re.compile(r" ?\[ ?\]"), ""),
    (re.compile(r"(?<! ) +(?=[,.](?:[ \"”’)]|$))"), ""),
    (re.compile(r",(?: ?,)+"), ","),
    (re.compile(r";(?: ?;)+"), ";"),
    (re.compile(r"^[ ,;:)\]]+|^[.–—-] +"), ""),
    (re.compile(r"(?<=[^.])\.(?: ?\.)(?=$| [A-Z])"), "."),
)
_TAGS = "ref|nowiki|math|small|big|sub|sup|span|div|br|gallery|noinclude|onlyinclude|includeonly"
_NEVER = re.compile(
    rf"\{{\{{+|\}}\}}+|\[\[+|\]\]+|\{{\||\|\}}|</?(?:{_TAGS})\b[^<>]*+>?|<!--|''+|__[^\W_]+__",
    re.IGNORECASE,
)
_DEEPEST_MARKS = 100
"""Marks that only stand there once others are gone, as in "<!-<!---"; a text of more is broken."""


def tidy(text: str) -> str:
    """Return the text with entities decoded, in NFC, its spaces, brackets and commas made even.

    text: prose in which `GONE` stands where something vanished. A bracket that is left with nothing
    but separators, or with the label of what vanished ("pronounced"), vanishes with it.
    """
    if "&" in text:
        text = unescape(text)
    text = _INVISIBLE.sub("", _SPACES.sub(" ", text))
    if GONE in text:
        text = _without_gaps(text)
    text = _mended(text)
    for _ in range(_DEEPEST_MARKS):
        if not _NEVER.search(text):
            break
        text = _mended(_NEVER.sub("", text))
    else:
        return ""
    return text if text.isascii() else unicodedata.normalize("NFC", stream_safe(text))


def _mended(text: str) -> str:
    for pattern, instead in _MENDS:
        text = pattern.sub(instead, text)
    return text.strip()


def _without_gaps(text: str) -> str:
    text = _BRACKETS.sub(_bracket, _INNER.sub(_bracket, text))
    text = _QUOTED_NOTHING.sub("", text)
    text = _WIDE.sub("", text).replace("（）", "")
    text = _BEFORE_SIGN.sub(r"\1", _DANGLING.sub(" ", text))
    return _AFTER_BRACKET.sub("", text).replace(GONE, "")


def _bracket(bracket: re.Match[str]) -> str:
    """Return a bracket without the parts of it that vanished; `GONE` where nothing is left."""
    inside = bracket[1]
    if GONE not in inside:
        return bracket[0]
    text = ""
    pieces = ["", *_SEPARATOR.split(_LEFT.sub(" ", inside))]
    for separator, piece in zip(pieces[::2], pieces[1::2], strict=True):
        if not _is_nothing(piece):
            text += (separator if text else "") + piece
    text = text.strip(" ;,")
    return f"({text})" if text.strip(_NOTHING) else GONE


def _is_nothing(piece: str) -> bool:
    """Whether all that a part of a bracket had to say vanished."""
    if GONE not in piece:
        return not piece.strip(_NOTHING)
    words = piece.strip(_NOTHING).lower().replace(":", " ").replace(GONE, " ").split()
    return all(word in _LABELS for word in words) or piece.rstrip(" \x00").endswith(":")
