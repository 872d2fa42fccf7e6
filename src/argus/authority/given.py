"""Checks of what callers give: records, rules and edges of their kind, names, numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TypeVar

from argus.data.documents import is_count
from argus.errors import InputError

Kind = TypeVar("Kind")
Choice = TypeVar("Choice", bound=StrEnum)


def all_of(kind: type[Kind], values: Iterable[Kind]) -> Iterator[Kind]:
    """Yield values; InputError for a single one in place of many, and for one of another kind."""
    name = kind.__name__
    if isinstance(values, kind):
        raise InputError(
            f"a single {name}, {values!r:.80}", expected=f"a list of {name}s",
            fix="Put it into brackets.",
        )  # fmt: skip
    if not isinstance(values, Iterable):
        raise InputError(
            f"{values!r:.80}", expected=f"a list of {name}s", fix="Leave it out for none."
        )
    for value in values:
        if not isinstance(value, kind):
            raise InputError(
                f"{value!r:.80} among {name}s",
                expected=f"{name}s alone",
                fix=f"Make it with {name}(...).",
            )
        yield value


def one_of(kind: type[Choice], value: Choice | str) -> Choice:
    """Return the member of an enumeration that a name says; InputError for another name."""
    try:
        return kind(value)
    except ValueError as error:
        names = " or ".join(repr(str(one)) for one in kind)
        raise InputError(
            f"{kind.__name__.lower()}={value!r:.80}",
            expected=names,
            fix="Leave it out for the first.",
        ) from error


def require_count(name: str, value: object) -> None:
    """Raise InputError for a number of documents that is none; None is all."""
    if value is None or is_count(value):
        return
    raise InputError(
        f"{name}={value!r:.80}", expected="a whole number from 1", fix="Leave it out for all."
    )
