"""What commands say that are asked about one query of a run."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from argus.errors import InputError


def unknown_query(
    query_id: str, known: Iterable[str], where: Path, otherwise: str = "Check the id."
) -> InputError:
    """Return the error for an id that is not among the queries that a file knows.

    otherwise: what to do where no known id is like it.
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
    """Refuse options that say how to search where a run has been searched already."""
    refuse_beside("--run", "a run is what was found already", **others)


def retriever_alone(**others: object) -> None:
    """Refuse options that say how Argus searches where a retriever is asked."""
    refuse_beside("--retriever", "a retriever is asked as it is", **others)


def refuse_beside(what: str, why: str, **others: object) -> None:
    """Refuse the first of some options that is given. why: what one of them is, in words."""
    option = next((f"--{name}" for name, value in others.items() if value), None)
    if option is not None:
        raise InputError(
            f"{option} with {what}",
            expected=f"one of them: {why}",
            fix=f"Leave {option} out.",
            where=option,
        )
