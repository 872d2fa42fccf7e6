"""Times as logs write them: ISO 8601, seconds to nanoseconds since 1970, web servers' own."""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC, date, datetime

PATTERNS = ("%d/%b/%Y:%H:%M:%S %z", "%Y/%m/%d %H:%M:%S", "%a, %d %b %Y %H:%M:%S %Z", "%d.%m.%Y")
UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which number on it is nano-, micro- or milliseconds, and how many make a second."""
BASIC = {4: "", 6: "", 8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
"""Digits of ISO 8601's basic dates to how they are read; a year or a month alone is no time."""
CENTURIES = ("19", "20")
OLDEST = 946_684_800.0
"""2000: a number that is earlier as seconds is read as a basic date, where it looks like one."""
EARLIEST, LATEST = 0.0, 4_102_444_800.0
"""1970 to 2100: what lies outside is no time of a log."""


def seconds(value: object) -> float | None:
    """Return seconds since 1970, UTC; None for what is no time. Without a zone it is UTC."""
    if isinstance(value, str):
        value = value.strip()
        moment = _number(value) if _is_number(value) else _written(value)
    elif isinstance(value, bool):
        return None
    elif isinstance(value, int | float):
        moment = _number(value)
    elif isinstance(value, datetime):
        moment = _utc(value)
    elif isinstance(value, date):
        moment = _utc(datetime(value.year, value.month, value.day))
    else:
        return None
    return moment if moment is not None and EARLIEST < moment < LATEST else None


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _number(value: str | float) -> float | None:
    number = math.nan
    with suppress(ValueError, OverflowError):
        number = float(value)
    if not math.isfinite(number):
        return None
    moment = next((number / unit for least, unit in UNITS if number >= least), number)
    if OLDEST <= moment < LATEST or number != int(number):
        return moment
    digits = str(int(number))
    is_date = len(digits) in BASIC and digits.startswith(CENTURIES)
    return _basic(digits) if is_date else moment


def _basic(digits: str) -> float | None:
    """Return the time of a date such as 20240101; None for 2024, which may be seconds, or none."""
    pattern = BASIC[len(digits)]
    with suppress(ValueError, OverflowError):
        return _utc(datetime.strptime(digits, pattern)) if pattern else None
    return None


def _written(text: str) -> float | None:
    with suppress(ValueError, OverflowError):
        return _utc(datetime.fromisoformat(text))
    for pattern in PATTERNS:
        with suppress(ValueError, OverflowError):
            return _utc(datetime.strptime(text, pattern))
    return None


def _utc(moment: datetime) -> float | None:
    with suppress(ValueError, OverflowError):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None
