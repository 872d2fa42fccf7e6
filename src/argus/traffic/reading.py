"""Read a query log and redact personal data and secrets before any other code sees it.

`read_traffic`: the records of `argus.traffic.formats` -> redacted questions, for
`argus traffic audit`. `preview_log` is `argus traffic preview`. Personal data and secrets become
marks such as <mail>, questions keyed hashes. Patterns and checksums find them, kind by kind. Every
repetition is bounded: texts may be hostile. Hashes are keyed, so that nobody can find their source
by trial.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from argus.data.texts import stream_safe
from argus.errors import InputError, NothingMeasured
from argus.settings import Option
from argus.traffic.config import LogConfig
from argus.traffic.exchange import Exchange, Feedback, Passage, ReadingTally
from argus.traffic.formats import read_exchanges

SHOWN, WIDEST = 3, 60
"""Questions of a preview, and characters of a value in it."""
# Ids whose cleaning is remembered: the same documents come again and again.
IDS = 65_536
Span = tuple[int, int]
"""Begin and end of a find in a text."""
# Kinds that are replaced in ids, too: a number there is the document's own.
IN_IDS = ("token", "mail")
MIN_KEY = 16
_NAMED = re.compile(r"([\w-]{1,40})\s*=\s*(.+)", re.DOTALL)
# Without any of these a text has no find.
SUSPECT = re.compile(
    r"[@\uff20]|\d(?:\D{0,3}\d){5}|\S{16}|bearer|passw|passwort|pwd|secret|token|api.?key",
    re.IGNORECASE,
)

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
# A word that somebody calls a password, or the like.
_SAID = re.compile(
    r"\b(?:bearer\s{1,4}|(?:api[ _-]?key|access[ _-]?token|auth[ _-]?token|token|secret|password|"
    r"passwort|passwd|pwd)(?:\s{0,4}[:=]\s{0,4}|\s{1,4}is\s{1,4}(?=\S{0,40}\d)))[\"']?([^\s\"',;]{4,500})",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"(?<![\w/.+-])[A-Za-z0-9+/_-]{24,500}={0,2}(?![\w/.])")
_HEX = re.compile(r"[0-9a-fA-F]{32,128}")
# Bits per character of letters and digits that are drawn, not written.
MIN_BITS = 3.7
_MAIL = re.compile(
    r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}+\s?[@\uff20]\s?[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
)
_IBAN = re.compile(r"\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?\b")
_GAP = re.compile("[ -]")
# Characters of the shortest account number (Norway).
MIN_IBAN = 15
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
        word = match[0]
        has_all = all(any(map(kind, word)) for kind in (str.isdigit, str.isupper, str.islower))
        bits = -sum(n / len(word) * math.log2(n / len(word)) for n in Counter(word).values())
        if _HEX.fullmatch(word) or (has_all and bits >= MIN_BITS):
            yield match.span()


def _accounts(text: str) -> Iterator[Span]:
    """Yield account numbers: by their checksum (IBAN), or because the text says so.

    An IBAN, in groups or not, leaves 1 when divided by 97 (ISO 7064). Words may follow it.
    """
    for match in _IBAN.finditer(text):
        ends = [*(gap.start() for gap in _GAP.finditer(match[0])), len(match[0])]
        for end in reversed(ends):
            compact = _GAP.sub("", match[0][:end])
            digits = "".join(str(int(c, 36)) for c in compact[4:] + compact[:4])
            if len(compact) >= MIN_IBAN and int(digits) % 97 == 1:
                yield match.start(), match.start() + end
                break
    yield from (match.span(1) for match in _ACCOUNT.finditer(text))
    yield from (match.span() for match in _SOCIAL.finditer(text))


def _cards(text: str) -> Iterator[Span]:
    """Yield numbers of payment cards, by the check digit of Luhn (ISO/IEC 7812)."""
    for match in _CARD.finditer(text):
        digits = [int(c) for c in match[0] if c.isdigit()]
        doubled = [n * (1 + i % 2) for i, n in enumerate(reversed(digits))]
        is_one = digits[0] in range(2, 7) and len(set(digits)) > 1
        if is_one and sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0:
            yield match.span()


def _matches(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Span]]:
    return lambda text: (match.span() for match in pattern.finditer(text))


# In this order: a number that was replaced as one kind is not looked at as another.
KINDS = {
    "token": _tokens, "mail": _matches(_MAIL), "account": _accounts, "card": _cards,
    "phone": _matches(_PHONE),
}  # fmt: skip


@dataclass
class Redactor:
    """Replace finds by a mark such as <mail>. own: patterns by name, tried first."""

    own: Sequence[tuple[str, re.Pattern[str]]] = ()
    counts: Counter[str] = field(default_factory=Counter)
    """How often each kind was replaced so far."""

    def clean(self, text: str, kinds: Iterable[str] = KINDS) -> str:
        """Return a text with every find replaced."""
        for name, pattern in self.own:
            text = self._marked(text, name, _matches(pattern)(text))
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
    """Read patterns, NAME=REGEX each. Raises InputError for others, and for a broken pattern."""
    patterns = []
    for one in named:
        if (match := _NAMED.fullmatch(one)) is None:
            expected, fix = "NAME=REGEX", "Write it as case=CASE-[0-9]+."
            raise InputError(repr(one), expected=expected, fix=fix, where="--redact")
        got = f"{match[2]!r} is no regular expression"
        try:
            compiled = re.compile(match[2])
        except (re.error, OverflowError, RecursionError) as error:  # x{10**20}, "(" * 10_000
            raise InputError(
                f"{got} ({error})", expected="one of Python's re", fix="Correct it.",
                where="--redact",
            ) from error  # fmt: skip
        if compiled.fullmatch("") is not None:
            got, expected = f"{match[2]!r} matches nothing at all", "a pattern of some characters"
            raise InputError(got, expected=expected, fix="Use + in place of *.", where="--redact")
        patterns.append((match[1], compiled))
    return patterns


class Keys:
    """Keyed hashes of questions and ids.

    Texts that are stored beside their hashes are hashed with an open key, ids with a secret. It is
    read from a file, or drawn and forgotten. Raises InputError for a short file.
    """

    def __init__(self, config: LogConfig) -> None:
        self._secret = secrets.token_bytes(32)
        if (path := config.key_file) is not None:
            if not path.is_file() or path.stat().st_size < MIN_KEY:
                got = "no such file" if not path.is_file() else "is shorter than a secret should be"
                expected = f"a file of at least {MIN_KEY} random bytes"
                fix = "Make one: head -c 32 /dev/urandom > FILE. Keep it away from the results."
                raise InputError(got, expected=expected, fix=fix, where=path)
            self._secret = hashlib.blake2b(path.read_bytes(), digest_size=32).digest()
        self._of_texts = self._secret if config.hash_only else b"argus traffic"

    def of_question(self, text: str) -> bytes:
        """Return 16 bytes for a question, the same for any case and spaces."""
        return _hash(self._of_texts, normal(text))

    def of_ref(self, name: str) -> str:
        """Return a hash for an id of the log, "" for none."""
        return _hash(self._secret, name).hex()[:16] if name else ""


def _hash(key: bytes, text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), key=key, digest_size=16).digest()


def normal(text: str) -> str:
    """Return a question as duplicates are compared: one case, single spaces, no closing marks."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", stream_safe(text))
    return " ".join(text.casefold().split()).rstrip(" ?!.？！。")


class TrafficReader:
    """Iterate over the redacted questions of a log, counting in `tally` and `redacted`.

    Raises InputError for a bad pattern or a short secret.
    """

    def __init__(self, log: Path, config: LogConfig) -> None:
        self.log, self.config, self.tally = log, config, ReadingTally()
        self._redactor, self._keys = Redactor(own_patterns(config.redact)), Keys(config)
        self.clean_id = lru_cache(IDS)(self._clean_id)

    def __iter__(self) -> Iterator[Exchange | Feedback]:
        for one in read_exchanges(self.log, self.config, self.tally):
            if isinstance(one, Exchange):
                yield self._clean(one)
            else:
                yield replace(one, ref=self._keys.of_ref(one.ref))

    def preview(self) -> list[str]:
        """Describe how the first questions are read, field by field, as lines.

        Reads on until every named field was seen. Raises InputError for one that no record has,
        NothingMeasured for a log without a question.
        """
        lines: list[str] = []
        questions = 0
        for one in self:
            if isinstance(one, Exchange) and questions < SHOWN:
                questions += 1
                lines += self._shown(one)
            if questions == SHOWN and not self.tally.unseen:
                break
        if questions:
            return lines
        reasons = [f"{n:,} {reason}" for reason, n in self.tally.skipped.items()]
        why = "; ".join(reasons) or "it is empty, or speaks of questions elsewhere"
        raise NothingMeasured(
            f"question in {self.log}",
            f"Left out: {why}. Logs are JSON, JSON lines, CSV, TSV or Parquet (docs/traffic.md); "
            "make one record of each question with its time and results.",
        )

    def _shown(self, one: Exchange) -> Iterator[str]:
        """Yield a question's fields with their values."""
        file, format_ = next(reversed(self.tally.files.items()))
        yield f"{file}, record {self.tally.records:,}, read as {format_}:"
        ids = ", ".join(passage.id or "a text without an id" for passage in one.results or ())
        values = {
            "question": "kept as a hash" if self.config.hash_only else one.query,
            "results": "unreadable" if one.results is None else f"{len(one.results)}: {ids}",
            "feedback": f"{one.good} good, {one.bad} bad",
            "clicks": f"{one.clicks}",
            "time": "no time" if one.at is None else f"{datetime.fromtimestamp(one.at, UTC)}",
        }
        named = [(role, self.tally.last.get(role, ""), value) for role, value in values.items()]
        slices = enumerate(zip(self.config.by, one.slices, strict=True), 1)
        named += [(f"slice {i}", name, value or "nothing") for i, (name, value) in slices]
        for role, name, value in named:
            value = value if len(value) <= WIDEST else f"{value[:WIDEST].rstrip()} …"
            yield f"  {role:<9} {f'{name} = {value}' if name else 'not in the record'}"

    @property
    def redacted(self) -> dict[str, int]:
        """Number of replacements so far by kind of secret, the most frequent first."""
        return dict(self._redactor.counts.most_common())

    def key(self, query: str) -> bytes:
        """Return the hash of a redacted question, which equal ones share."""
        return self._keys.of_question(query)

    def _clean(self, exchange: Exchange) -> Exchange:
        clean = self._redactor.clean
        results, slices = exchange.results, exchange.slices
        return replace(
            exchange,
            query=clean(exchange.query),
            results=results and tuple(map(self._clean_passage, results)),
            slices=tuple(one and clean(whole(one)) for one in slices),
            ref=self._keys.of_ref(exchange.ref),
        )

    def _clean_passage(self, passage: Passage) -> Passage:
        """Return a passage with a clean id, or else with its redacted text."""
        id_ = self.clean_id(passage.id)
        if id_ and not passage.text and id_ == passage.id:
            return passage
        text = ""
        if passage.text and not passage.id:
            text = self._redactor.clean(whole(passage.text))
        return Passage(id_, passage.score, text)

    def _clean_id(self, id_: str) -> str:
        """Return an id without mails and tokens, and with a hash of these instead."""
        id_ = whole(id_)
        cleaned = self._redactor.clean(id_, IN_IDS) if id_ else id_
        return id_ if cleaned == id_ else f"{cleaned}#{self._keys.of_ref(id_)[:8]}"


def whole(text: str) -> str:
    """Return a text with half characters replaced, which nothing can write."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def read_traffic(log: Path | str, config: LogConfig | None = None) -> TrafficReader:
    """Read the questions of a log, redacted, as you iterate over them.

    log: a file or a folder of them: JSONL, CSV, TSV, spans of OpenInference or OpenTelemetry
    (JSON, OTLP, Parquet), OpenSearch UBI, Ragas, DeepEval.
    Memory does not grow with the log. Raises InputError for a file that is no log.
    """
    return TrafficReader(Path(log), config or LogConfig())


def preview_log(
    log: Annotated[Path | str, Option(argument="LOG")], reading: LogConfig | None = None
) -> list[str]:
    """Show how the first questions of a log are read, field by field. Nothing is written.

    Args:
        log: Log, or folder of logs, as `argus traffic audit` reads it.
    """
    return read_traffic(log, reading).preview()
