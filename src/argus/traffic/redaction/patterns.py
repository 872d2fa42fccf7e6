"""What is looked for in a text, kind by kind. Every repetition is bounded: texts may be hostile."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from argus.traffic.redaction.checksums import iban_end, is_card

Hit = tuple[int, int]
"""Where something begins and ends."""

SUSPECT = re.compile(
    r"[@\uff20]|\d(?:\D{0,3}\d){5}|\S{16}|bearer|passw|passwort|pwd|secret|token|api.?key",
    re.IGNORECASE,
)
"""Without any of these a text holds nothing that is looked for here."""

_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.{0,10000}?(?:-----END [A-Z ]{0,30}-----|\Z)",
    re.DOTALL,
)
_TOKENS = (
    re.compile(r"\beyJ[\w-]{5,8000}\.[\w-]{4,8000}(?:\.[\w-]{0,8000})?"),  # JSON Web Token
    re.compile(
        r"\b(?:sk|pk|rk)[-_](?:[a-z]{2,12}[-_])?[\w-]{16,300}"
        r"|\b(?:gh[opsur]|glpat|github_pat|xox[abeoprs]|hf|npm|pypi|dop_v1|shpat|whsec)[-_]"
        r"[\w-]{10,300}"
        r"|\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b"
        r"|\bAIza[\w-]{30,50}|\bya29\.[\w-]{20,500}|\bSG\.[\w-]{16,40}\.[\w-]{16,60}"
    ),
)
_TOLD = re.compile(
    r"\b(?:bearer\s{1,4}|(?:api[ _-]?key|access[ _-]?token|auth[ _-]?token|token|secret|password|"
    r"passwort|passwd|pwd)(?:\s{0,4}[:=]\s{0,4}|\s{1,4}is\s{1,4}(?=\S{0,40}\d)))[\"']?([^\s\"',;]{4,500})",
    re.IGNORECASE,
)
"""What somebody says is a password, or the like."""
_RANDOM = re.compile(r"(?<![\w/.+-])[A-Za-z0-9+/_-]{24,500}={0,2}(?![\w/.])")
_HEX = re.compile(r"[0-9a-fA-F]{32,128}")
LEAST_BITS = 3.7
"""Bits per character from which letters and digits are drawn, not written."""
_MAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}\s?[@\uff20]\s?[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_IBAN = re.compile(r"\b[A-Za-z]{2}\d{2}[ -]?[A-Za-z0-9]{2}[A-Za-z0-9 -]{8,45}")
_CARD = re.compile(r"(?<![\d.,])\d(?:[ -]?\d){12,18}(?![\d]|[.,]\d)")
_ACCOUNT = re.compile(
    r"\b(?:account|acct|konto|kontonummer|compte|cuenta|a/c)(?:[ .:#-]|number|no|nr|num){0,8}"
    r"(\d[\d -]{4,20}\d)",
    re.IGNORECASE,
)
_SOCIAL = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_PHONE = re.compile(
    r"(?<![\w+.])(?:"
    r"\+\d{1,3}[ ()./-]{0,2}\d(?:[ ()./-]{0,2}\d){5,13}"
    r"|00[1-9]\d(?:[ ()./-]{0,2}\d){6,13}"
    r"|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}"
    r"|\(?0\d{1,4}\)?[ /-]\d{2,4}(?:[ /-]?\d{2,4}){1,4}"
    r")(?![\d]|[.,]\d)"
)


def tokens(text: str) -> Iterator[Hit]:
    """Yield private keys, tokens and passwords, and what looks drawn at random."""
    for pattern in (_KEY_BLOCK, *_TOKENS):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span(1) for match in _TOLD.finditer(text))
    for match in _RANDOM.finditer(text):
        if _HEX.fullmatch(match[0]) or _is_drawn(match[0]):
            yield match.span()


def _is_drawn(word: str) -> bool:
    """Return whether a word has digits, both cases, and the spread of characters of a key."""
    kinds = (str.isdigit, str.isupper, str.islower)
    if not all(any(kind(c) for c in word) for kind in kinds):
        return False
    bits = -sum(n / len(word) * math.log2(n / len(word)) for n in Counter(word).values())
    return bits >= LEAST_BITS


def mails(text: str) -> Iterator[Hit]:
    """Yield addresses of mail."""
    return (match.span() for match in _MAIL.finditer(text))


def accounts(text: str) -> Iterator[Hit]:
    """Yield account numbers: by their checksum (IBAN), or because the text says so."""
    for match in _IBAN.finditer(text):
        if end := iban_end(text[match.start() : match.start() + 60]):
            yield match.start(), match.start() + end
    yield from (match.span(1) for match in _ACCOUNT.finditer(text))
    yield from (match.span() for match in _SOCIAL.finditer(text))


def cards(text: str) -> Iterator[Hit]:
    """Yield numbers of payment cards, by their check digit."""
    for match in _CARD.finditer(text):
        if is_card("".join(str(int(c)) for c in match[0] if c.isdigit())):
            yield match.span()


def phones(text: str) -> Iterator[Hit]:
    """Yield telephone numbers."""
    return (match.span() for match in _PHONE.finditer(text))


KINDS = {"token": tokens, "mail": mails, "account": accounts, "card": cards, "phone": phones}
"""In this order: a number that was replaced as one kind is not looked at as another."""
