"""Replace personal data and secrets in texts by marks, and people and questions by keyed hashes.

Patterns and checksums find them, kind by kind. Every repetition is bounded: texts may be hostile.
Hashes are keyed, so that nobody can find their source by trial.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from argus.data.text_files import read_lines
from argus.data.texts import stream_safe
from argus.errors import InputError, Location
from argus.traffic.config import LogConfig

Span = tuple[int, int]
"""Begin and end of a find in a text."""
IN_IDS = ("token", "mail")
"""Kinds that are replaced in ids, too: a number there is the document's own."""
MIN_KEY = 16
_NAMED = re.compile(r"([\w-]{1,40})\s*=\s*(.+)", re.DOTALL)
IBAN_LENGTHS: Final = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22,
    "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27,
    "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27,
    "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32,
    "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19,
    "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24,
    "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31,
    "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23,
    "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
"""Characters of an account number by country (ISO 13616)."""


SUSPECT = re.compile(
    r"[@\uff20]|\d(?:\D{0,3}\d){5}|\S{16}|bearer|passw|passwort|pwd|secret|token|api.?key",
    re.IGNORECASE,
)
"""Without any of these a text has no find."""

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
_SAID = re.compile(
    r"\b(?:bearer\s{1,4}|(?:api[ _-]?key|access[ _-]?token|auth[ _-]?token|token|secret|password|"
    r"passwort|passwd|pwd)(?:\s{0,4}[:=]\s{0,4}|\s{1,4}is\s{1,4}(?=\S{0,40}\d)))[\"']?([^\s\"',;]{4,500})",
    re.IGNORECASE,
)
"""A word that somebody calls a password, or the like."""
_RANDOM = re.compile(r"(?<![\w/.+-])[A-Za-z0-9+/_-]{24,500}={0,2}(?![\w/.])")
_HEX = re.compile(r"[0-9a-fA-F]{32,128}")
MIN_BITS = 3.7
"""Bits per character of letters and digits that are drawn, not written."""
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


def _tokens(text: str) -> Iterator[Span]:
    """Yield private keys, tokens and passwords, and words that look drawn at random."""
    for pattern in (_KEY_BLOCK, *_TOKENS):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span(1) for match in _SAID.finditer(text))
    for match in _RANDOM.finditer(text):
        if _HEX.fullmatch(match[0]) or _is_drawn(match[0]):
            yield match.span()


def _is_drawn(word: str) -> bool:
    """Return True if a word has digits, both cases, and the spread of characters of a key."""
    kinds = (str.isdigit, str.isupper, str.islower)
    if not all(any(map(kind, word)) for kind in kinds):
        return False
    bits = -sum(n / len(word) * math.log2(n / len(word)) for n in Counter(word).values())
    return bits >= MIN_BITS


def _mails(text: str) -> Iterator[Span]:
    return (match.span() for match in _MAIL.finditer(text))


def _accounts(text: str) -> Iterator[Span]:
    """Yield account numbers: by their checksum (IBAN), or because the text says so."""
    for match in _IBAN.finditer(text):
        if end := _iban_end(text[match.start() : match.start() + 60]):
            yield match.start(), match.start() + end
    yield from (match.span(1) for match in _ACCOUNT.finditer(text))
    yield from (match.span() for match in _SOCIAL.finditer(text))


def _iban_end(text: str) -> int:
    """Return the end of an account number at the start of a text, 0 without one.

    text: may have spaces between its groups. The remainder by 97 must be 1 (ISO 7064).
    """
    length = IBAN_LENGTHS.get(text[:2].upper(), 0)
    compact, end = "", 0
    for end, character in enumerate(text, 1):  # noqa: B007
        if character in " -":
            continue
        if not (character.isascii() and character.isalnum()):
            break
        compact += character.upper()
        if len(compact) == length:
            break
    if not length or len(compact) != length or text[end : end + 1].isalnum():
        return 0
    digits = "".join(str(int(c, 36)) for c in compact[4:] + compact[:4])
    return end if int(digits) % 97 == 1 else 0


def _cards(text: str) -> Iterator[Span]:
    """Yield numbers of payment cards, by the check digit of Luhn (ISO/IEC 7812)."""
    for match in _CARD.finditer(text):
        digits = [int(c) for c in match[0] if c.isdigit()]
        doubled = [n * (1 + i % 2) for i, n in enumerate(reversed(digits))]
        is_one = digits[0] in range(2, 7) and len(set(digits)) > 1
        if is_one and sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0:
            yield match.span()


def _phones(text: str) -> Iterator[Span]:
    return (match.span() for match in _PHONE.finditer(text))


KINDS = {"token": _tokens, "mail": _mails, "account": _accounts, "card": _cards, "phone": _phones}
"""In this order: a number that was replaced as one kind is not looked at as another."""


@dataclass
class Redactor:
    """Replaces finds by a mark such as <mail>. own: patterns by name, tried first."""

    own: Sequence[tuple[str, re.Pattern[str]]] = ()
    counts: Counter[str] = field(default_factory=Counter)
    """How often each kind was replaced so far."""

    def clean(self, text: str, kinds: Iterable[str] = KINDS) -> str:
        """Return a text with every find replaced."""
        for name, pattern in self.own:
            text = self._marked(text, name, (match.span() for match in pattern.finditer(text)))
        if SUSPECT.search(text) is None:
            return text
        for kind in kinds:
            text = self._marked(text, kind, KINDS[kind](text))
        return text

    def _marked(self, text: str, kind: str, spans: Iterator[Span]) -> str:
        parts, end = [], 0
        for start, stop in sorted(spans):
            if start < end or start == stop:
                continue
            parts += [text[end:start], f"<{kind}>"]
            end = stop
            self.counts[kind] += 1
        return "".join([*parts, text[end:]]) if parts else text


def own_patterns(named: Sequence[str]) -> list[tuple[str, re.Pattern[str]]]:
    """Read patterns: NAME=REGEX each, or a file of such lines (# begins a remark).

    Raises InputError for any other line, and for a broken pattern.
    """
    lines: list[tuple[str | Location, str]] = []
    for one in named:
        is_file = False
        with suppress(OSError):  # a pattern can be longer than any name
            is_file = Path(one).is_file()
        if not is_file:
            lines.append(("--redact", one))
            continue
        for number, line in read_lines(Path(one)):
            if line.strip() and not line.lstrip().startswith("#"):
                lines.append((Location(Path(one), number), line.strip()))
    return [_own_pattern(line, where) for where, line in lines]


def _own_pattern(line: str, where: str | Location) -> tuple[str, re.Pattern[str]]:
    match = _NAMED.fullmatch(line)
    if match is None:
        raise InputError(
            f"{line!r}",
            expected="NAME=REGEX, or a file of such lines",
            fix="Write it as case=CASE-[0-9]+; check the path if it is a file.",
            where=where,
        )
    try:
        compiled = re.compile(match[2])
    except (re.error, OverflowError, RecursionError) as error:  # x{10**20}, "(" * 10_000
        raise InputError(
            f"{match[2]!r} is no regular expression ({error})",
            expected="one of Python's re",
            fix="Correct it.",
            where=where,
        ) from error
    if compiled.fullmatch("") is not None:
        raise InputError(
            f"{match[2]!r} matches nothing at all",
            expected="a pattern of at least one character",
            fix="Use + in place of *.",
            where=where,
        )
    return match[1], compiled


class Keys:
    """Keyed hashes of questions and people.

    Texts that are stored beside their hashes are hashed with an open key, people with a secret. It
    is read from a file, or drawn and forgotten. Raises InputError for a short file.
    """

    def __init__(self, config: LogConfig) -> None:
        self._secret = secrets.token_bytes(32)
        if (path := config.key_file) is not None:
            if not path.is_file() or path.stat().st_size < MIN_KEY:
                raise InputError(
                    "no such file" if not path.is_file() else "is shorter than a secret should be",
                    expected=f"a file of at least {MIN_KEY} random bytes",
                    fix="Make one: head -c 32 /dev/urandom > FILE. Keep it away from the results.",
                    where=path,
                )
            self._secret = hashlib.blake2b(path.read_bytes(), digest_size=32).digest()
        self._of_texts = self._secret if config.hash_only else b"argus traffic"

    def of_question(self, text: str) -> bytes:
        """Return 16 bytes for a question, the same for any case and spaces."""
        return _keyed(self._of_texts, normal(text))

    def of_person(self, name: str) -> str:
        """Return a hash for a user or session, "" for nobody."""
        return _keyed(self._secret, name).hex()[:16] if name else ""


def _keyed(key: bytes, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return hashlib.blake2b(data, key=key, digest_size=16).digest()


def normal(text: str) -> str:
    """Return a question as duplicates are compared: one case, single spaces, no closing marks."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", stream_safe(text))
    return " ".join(text.casefold().split()).rstrip(" ?!.？！。")
