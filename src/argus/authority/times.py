"""Read dates and times as intervals of microseconds (`Moment`).

A moment known to the year is the whole year: "1896" is the interval from its first to its last
microsecond. One moment is later than another only if it is later whichever points are meant, so a
year and a day in it are not ordered. Intervals ordered like this are a strict partial order
(Fishburn 1970), as Def. 1 of CAR needs for time(d2) > time(d1). A domain may name further forms
of dates, as `strptime` has them.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from argus.errors import InputError, Location

_DAYS = {"%d", "%j"}
_TIMES = re.compile(r"%[HIMSfpzZ]")
_KNOWN = re.compile(r"%[YymbBdHIMSfpzZaAj%]")


def date_form(form: str) -> str:
    """Return a form of dates as `strptime` has it. Raise ValueError for one that is none."""
    unknown = _KNOWN.sub("", form)
    if "%" in unknown:
        at = unknown.index("%")
        raise ValueError(f"{form!r} has the unknown part {unknown[at : at + 2]!r}")
    if "%Y" not in form and "%y" not in form:
        raise ValueError(f"{form!r} has no year")
    if _TIMES.search(form) and not any(day in form for day in _DAYS):
        raise ValueError(f"{form!r} has a time of day and no day")
    return form


def read_form(text: str, forms: Iterable[str]) -> tuple[datetime, str] | None:
    """Return the date in the first form that fits, and the form. None where none does."""
    for form in forms:
        with suppress(ValueError):
            return datetime.strptime(text, form), form
    return None


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
    try:
        interval = _formed(value, zone, forms) or _parse(value, zone)
    except (ValueError, OverflowError) as error:
        interval, cause = None, error
    if interval is not None:
        return Moment(*interval, str(value))
    why = "" if cause is None else f" ({cause})"
    fix = "Mend it, or leave the time out."
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        why = f" is a number{why}"
        is_date = _COMPACT.fullmatch(str(value)) or _PARTIAL.fullmatch(str(value))
        fix = f'Write it as text: "{value}".' if is_date else "Write the date that it stands for."
    elif not forms:
        fix = "Mend it, leave the time out, or name its form in the domain file (`dates`)."
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


def _formed(value: object, zone: tzinfo, forms: Sequence[str]) -> tuple[int, int] | None:
    """Return the interval of a text in one of the forms. None where it is in none."""
    reading = read_form(value.strip(), forms) if forms and isinstance(value, str) else None
    if reading is None:
        return None
    day, form = reading
    if _TIMES.search(form):
        return _point(day, zone)
    month = day.month if any(part in form for part in ("%m", "%b", "%B", "%j")) else None
    has_day = any(part in form for part in _DAYS)
    return _partial(day.year, month, day.day if has_day else None, zone=zone)


def _parse(value: object, zone: tzinfo) -> tuple[int, int] | None:
    if isinstance(value, datetime):
        return _point(value, zone)
    if isinstance(value, date):
        return _days(value, value, zone)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _WEEK.fullmatch(text):
        return None
    if _COMPACT.fullmatch(text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    partial = _PARTIAL.fullmatch(text)
    if partial:
        return _partial(*(int(part) if part else None for part in partial.groups()), zone=zone)
    for form in _IN_WORDS if _WORD.search(text) else ():
        try:
            day = datetime.strptime(text, form).date()
        except ValueError:
            continue
        return _days(day, day, zone) if "%d" in form else _partial(day.year, day.month, zone=zone)
    return _point(datetime.fromisoformat(text), zone)


def _partial(
    year: int | None, month: int | None = None, day: int | None = None, *, zone: tzinfo
) -> tuple[int, int]:
    first = date(year or 0, month or 1, day or 1)
    last_month = month or 12
    last = date(first.year, last_month, day or monthrange(first.year, last_month)[1])
    return _days(first, last, zone)


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
