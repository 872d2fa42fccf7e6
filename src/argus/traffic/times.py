"""Read times as logs write them: ISO 8601, seconds to nanoseconds since 1970, web servers' own."""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC, date, datetime, time

PATTERNS = ("%d/%b/%Y:%H:%M:%S %z", "%Y/%m/%d %H:%M:%S", "%a, %d %b %Y %H:%M:%S %Z", "%d.%m.%Y")
UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Least number that is nano-, micro- or milliseconds, and how many of these make a second."""
BASIC = {4: "", 6: "", 8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
"""Digits of ISO 8601's basic dates to their pattern. A year or a month alone is no time."""
OLDEST = 946_684_800.0
"""2000: a number that is earlier as seconds is read as a basic date if it looks like one."""
EARLIEST, LATEST = 0.0, 4_102_444_800.0
"""1970 to 2100: no time of a log lies outside."""


def seconds(value: object) -> float | None:
    """Return seconds since 1970, UTC, or None if the value is no time. Without a zone it is UTC."""
    moment = None
    with suppress(ValueError, OverflowError):
        moment = _moment(value)
    return moment if moment is not None and EARLIEST < moment < LATEST else None


def _moment(value: object) -> float | None:
    if isinstance(value, str):
        text = value.strip()
        return _number(text) if text.replace(".", "", 1).isdecimal() else _written(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value)
    if isinstance(value, date):
        return _utc(value if isinstance(value, datetime) else datetime.combine(value, time.min))
    return None


def _number(value: str | float) -> float | None:
    number = float(value)
    if not math.isfinite(number):
        return None
    moment = next((number / unit for least, unit in UNITS if number >= least), number)
    digits = f"{number:.0f}"
    is_date = len(digits) in BASIC and digits.startswith(("19", "20")) and number == int(number)
    if OLDEST <= moment < LATEST or not is_date:
        return moment
    pattern = BASIC[len(digits)]
    return _utc(datetime.strptime(digits, pattern)) if pattern else None


def _written(text: str) -> float | None:
    with suppress(ValueError):
        return _utc(datetime.fromisoformat(text))
    for pattern in PATTERNS:
        with suppress(ValueError):
            return _utc(datetime.strptime(text, pattern))
    return None


def _utc(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
