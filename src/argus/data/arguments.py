"""What callers in Python hand over in place of files: lists of ids, and queries under theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

from argus.data.types import Query
from argus.errors import InputError


def listed(values: Iterable[str], what: str = "ids") -> list[str]:
    """Return what any iterable gives, as a list.

    Raises InputError for one text in place of it, whose letters would be taken for the values.
    """
    if isinstance(values, str | bytes):
        raise InputError(
            f"{what} are the text {values!r:.60}",
            expected=f"a list of {what}",
            fix=f"For one: [{values!r:.60}].",
        )
    return list(values)


def is_count(value: object) -> bool:
    """Return whether a value is a whole number from 1, of Python or another library."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def check_unique(queries: Sequence[Query]) -> None:
    """Raise InputError where two queries have one id, of which one answer would be lost."""
    ids = Counter(query.id for query in queries)
    if len(ids) < len(queries):
        twice = next(id_ for id_, n in ids.items() if n > 1)
        raise InputError(
            f"{len(queries) - len(ids)} query ids are given twice, such as {twice!r:.60}",
            expected="one query per id",
            fix="Rename one of each two.",
        )


def text_in(value: Any, where: str) -> str:
    """Return a text. Raises InputError for anything else, such as a conversation or None."""
    if isinstance(value, str):
        return value
    raise InputError(f"{value!r:.60}", expected="text", fix="Only texts are searched.", where=where)
