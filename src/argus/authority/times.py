"""Read dates and times as intervals of microseconds (`Moment`), and compare them.

A date known to the year is the whole year: "1896" runs from its first to its last microsecond. One
moment is later than another only if it is later whichever points are meant, so a year and a day in
it are not ordered. Such intervals are a strict partial order (Fishburn 1970), as time(d2) >
time(d1) needs in CAR Def. 1. A domain may name further forms of dates, as `strptime` has them.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from argus.errors import InputError, Location

_TIMES = re.compile(r"%[HIMSfpzZ]")
_KNOWN = re.compile(r"%[YymbBdHIMSfpzZaAj%]")


def date_form(form: str) -> str:
    """Return a form of dates as `strptime` has it. Raise ValueError for one that is none."""
    if "%" in _KNOWN.sub("", form):
        raise ValueError(f"{form!r} has an unknown part")
    if "%Y" not in form and "%y" not in form:
        raise ValueError(f"{form!r} has no year")
    if _TIMES.search(form) and not re.search("%[dj]", form):
        raise ValueError(f"{form!r} has a time of day and no day")
    return form


FOREVER = 2**63 - 1  # microseconds since 1970, later than any moment

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_COMPACT = re.compile(r"\d{8}")
_PARTIAL = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_WEEK = re.compile(r"\d{4}-?W\d{2}(?:-?\d)?")
_WORD = re.compile(r"[A-Za-z]{3}")
_IN_WORDS = ("%B %Y", "%b %Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y")
_EXPECTED = (
    'a date or time such as "2024-03-01T09:30:00Z", "2024-03-01", "20240301", "2024-03", "2024", '
    '"March 2024" or "1 March 2024"'
)


@dataclass(frozen=True, slots=True)
class Moment:
    """Half-open interval `[start, end)` of microseconds since 1970 (UTC).

    text: as it was given.
    """

    start: int
    end: int
    text: str = field(compare=False)

    def before(self, other: Moment) -> bool:
        """Return True if this is certainly earlier than `other`."""
        return self.end <= other.start

    def __str__(self) -> str:
        return self.text


def parse_moment(
    value: object,
    *,
    zone: tzinfo = UTC,
    where: Location | str | None = None,
    forms: Sequence[str] = (),
) -> Moment | None:
    """Read a date or time. None and "" give None.

    zone: of times without one. forms: of dates as `strptime` has them, tried before the usual ones.
    Raises InputError for anything else, also for numbers: 20240301 might be a day or seconds since
    1970.
    """
    if value is None or value == "":
        return None
    cause: Exception | None = None
    why, fix = "", "Mend it, leave the time out, or name its form in the domain file (`dates`)."
    try:
        interval = _parse(value, zone, forms)
        if interval is not None:
            return Moment(*interval, str(value))
    except (ValueError, OverflowError) as error:
        why, cause = f" ({error})", error
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        why, fix = " is a number", f'Write the date that it stands for as text, such as "{value}".'
    expected = f"{_EXPECTED}, or as {', '.join(forms)}" if forms else _EXPECTED
    raise InputError(f"{value!r}{why}", expected=expected, fix=fix, where=where) from cause


def zone_named(name: str, where: Location | str | None = None) -> tzinfo:
    """Return the time zone of an IANA name, such as America/New_York, or raise InputError."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        expected = "an IANA name such as UTC, America/New_York or Europe/Berlin"
        fix = "Look it up in the tz database."
        raise InputError(f"time zone {name!r}", expected=expected, fix=fix, where=where) from error


def _parse(value: object, zone: tzinfo, forms: Sequence[str]) -> tuple[int, int] | None:
    """Return the interval of a date, a time or a text. None where it is none of them."""
    if isinstance(value, datetime):
        return _point(value, zone)
    if isinstance(value, date):
        return _days(value, value, zone)
    if not isinstance(value, str) or _WEEK.fullmatch(value.strip()):
        return None
    text = value.strip()
    for form in (*forms, *(_IN_WORDS if _WORD.search(text) else ())):
        with suppress(ValueError):
            point = datetime.strptime(text, form)
            if _TIMES.search(form):
                return _point(point, zone)
            month = point.month if re.search("%[mbBj]", form) else None
            return _partial(
                point.year, month, point.day if re.search("%[dj]", form) else None, zone
            )
    if _COMPACT.fullmatch(text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    if partial := _PARTIAL.fullmatch(text):
        year, month, day = (int(part) if part else None for part in partial.groups())
        return _partial(year or 0, month, day, zone)
    return _point(datetime.fromisoformat(text), zone)


def _partial(year: int, month: int | None, day: int | None, zone: tzinfo) -> tuple[int, int]:
    first, last_month = date(year, month or 1, day or 1), month or 12
    return _days(first, date(year, last_month, day or monthrange(year, last_month)[1]), zone)


def _days(first: date, last: date, zone: tzinfo) -> tuple[int, int]:
    start = _microseconds(datetime(first.year, first.month, first.day, tzinfo=zone))
    if last == date.max:
        return start, _microseconds(datetime.max.replace(tzinfo=zone)) + 1
    after = last + timedelta(days=1)
    end = _microseconds(datetime(after.year, after.month, after.day, tzinfo=zone))
    return start, max(end, start + 1)  # a zone that moved over the date line has left out a day


def _point(value: datetime, zone: tzinfo) -> tuple[int, int]:
    start = _microseconds(value if value.tzinfo else value.replace(tzinfo=zone))
    return start, start + 1


def _microseconds(value: datetime) -> int:
    return (value - _EPOCH) // _MICROSECOND
