"""What no guard examined is for comparison alone: it is not taken out of its index."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from argus.errors import InputError
from argus.remedies.config import UNGUARDED

_MARK = f"-{UNGUARDED}-"


def refuse_unguarded(remedies: Iterable[str], *, where: Path) -> None:
    """Raise InputError where a remedy holds texts of a model that no guard examined.

    remedies: ids; such a one says so itself, whatever became of the files beside it.
    """
    name = next((remedy for remedy in remedies if _MARK in remedy), None)
    if name is None:
        return
    raise InputError(
        f"{name} holds texts of a language model that no guard examined",
        expected="what may be served; these are for comparison only",
        fix=f"Roll it back (argus remedy rollback {name}), and synthesize without "
        "--unguarded-for-comparison.",
        where=where,
    )
