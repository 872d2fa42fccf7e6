"""Times as logs write them: ISO 8601, seconds to nanoseconds since 1970, web servers' own."""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC, date, datetime

PATTERNS = ("%d/%b/%Y:%H:%M:%S %z", "%Y/%m/%d %H:%M:%S", "%a, %d %b %Y %H:%M:%S %Z", "%d.%m.%Y")
UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which number on it is nano-, micro- or milliseconds, and how many make a second."""
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
    return next((number / unit for least, unit in UNITS if number >= least), number)


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
