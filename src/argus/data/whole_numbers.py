"""Whole numbers as files write them: Python reads more of them than it can count with."""

from __future__ import annotations

import re

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def whole_number(text: str) -> int | None:
    """Return the number that at most 18 ASCII digits with an optional sign write.

    None for other text.
    """
    return int(text) if _WHOLE.fullmatch(text) else None
