"""Refuse an unknown query id, and options that contradict a run or retriever."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from argus.errors import InputError


def unknown_query(
    query_id: str, known: Iterable[str], where: Path, otherwise: str = "Check the id."
) -> InputError:
    """Return the error for an id that is not among the queries of a file.

    otherwise: the advice if no known id is similar.
    """
    ids = list(known)
    near = difflib.get_close_matches(query_id, ids, 3)
    return InputError(
        f"no query has the id {query_id!r}",
        expected=f"one of its {len(ids):,} query ids",
        fix=f"Did you mean {' or '.join(map(repr, near))}?" if near else otherwise,
        where=where,
    )


def run_alone(**others: object) -> None:
    """Refuse options of a search beside a run."""
    refuse_beside("--run", "a run is what was found already", **others)


def retriever_alone(**others: object) -> None:
    """Refuse options of Argus' own search beside a retriever."""
    refuse_beside("--retriever", "a retriever is asked as it is", **others)


def refuse_beside(beside: str, why: str, **others: object) -> None:
    """Raise InputError for the first of some options that is given beside another one."""
    option = next((f"--{name}" for name, value in others.items() if value), None)
    if option is not None:
        raise InputError(
            f"{option} with {beside}",
            expected=f"one of them: {why}",
            fix=f"Leave {option} out.",
            where=option,
        )
