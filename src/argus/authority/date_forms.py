"""Forms of dates that a domain names: by one date of the form, or as `strptime` has it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

_PART = re.compile(r"[A-Za-z]+\.?|\d+|[^A-Za-z\d]+")
_MONTHS = {name: form for form in ("%B", "%b") for name in
           (datetime(2000, month, 1).strftime(form).lower() for month in range(1, 13))}  # fmt: skip
_DAYS = {"%d", "%j"}
_TIMES = re.compile(r"%[HIMSfpzZ]")
_KNOWN = re.compile(r"%[YymbBdHIMSfpzZaAj%]")


def date_form(text: str) -> str:
    """Return a form as `strptime` has it, of a form or of a date: "25-Sep-2000" is "%d-%b-%Y".

    Raises ValueError for a form without a year, and a date that can be read in two ways.
    """
    form = text if "%" in text else _form_of(text)
    unknown = _KNOWN.sub("", form)
    if "%" in unknown:
        at = unknown.index("%")
        raise ValueError(f"{text!r} has the unknown part {unknown[at : at + 2]!r}")
    if "%Y" not in form and "%y" not in form:
        raise ValueError(f"{text!r} has no year")
    if _TIMES.search(form) and not any(day in form for day in _DAYS):
        raise ValueError(f"{text!r} has a time of day and no day")
    parts = _KNOWN.findall(form.replace("%%", ""))
    if len(parts) != len(set(parts)):
        raise ValueError(f"{text!r} has a part twice")
    return form


def read_form(text: str, forms: Iterable[str]) -> tuple[datetime, str] | None:
    """Return the date in one of the forms, and the form; None where none fits.

    Raises ValueError where two forms read it differently.
    """
    readings: dict[datetime, str] = {}
    for form in forms:
        try:
            readings.setdefault(datetime.strptime(text, form), form)
        except ValueError:
            continue
    if len(readings) > 1:
        days = " or ".join(f"{day:%Y-%m-%d} by {form}" for day, form in readings.items())
        raise ValueError(f"is {days}")
    return next(iter(readings.items()), None)


def has_time(form: str) -> bool:
    """Return whether a form names a time of day."""
    return _TIMES.search(form) is not None


def has_day(form: str) -> bool:
    """Return whether a form names a day; else it is a month, or a year."""
    return any(day in form for day in _DAYS)


def has_month(form: str) -> bool:
    """Return whether a form names a month, or a day of the year."""
    return any(part in form for part in ("%m", "%b", "%B", "%j"))


def _form_of(example: str) -> str:
    """Return the form of a date that stands for its like."""
    parts = _PART.findall(example.strip())
    small = [int(part) for part in parts if part.isdigit() and len(part) < 3]
    named = any(part.lower() in _MONTHS for part in parts)
    if len(small) > 2 - named:
        raise ValueError(f"{example!r} is no date with a month and a year of four digits")
    if len(small) == 2 and max(small) <= 12:
        raise ValueError(f"{example!r} can be read in two ways: name a day after the 12th")
    form = "".join(_directive(part, example, named) for part in parts)
    datetime.strptime(example.strip(), form)
    return form


def _directive(part: str, example: str, named: bool) -> str:
    if part.lower() == "may":
        raise ValueError(f"{example!r}: May is short and long: name another month")
    if part.lower() in _MONTHS:
        return _MONTHS[part.lower()]
    if part.isalpha():
        raise ValueError(f"{example!r}: {part!r} is no month")
    if not part.isdigit():
        return part
    if len(part) not in (1, 2, 4):
        raise ValueError(f"{example!r}: {part!r} is no day, month or year")
    if len(part) == 4:
        return "%Y"
    return "%d" if named or int(part) > 12 else "%m"
