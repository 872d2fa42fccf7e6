"""Places: a rule in one scope, where records meet; and how many of them are a crowd."""

from __future__ import annotations

from argus.authority.records import Record
from argus.authority.times import Moment

Place = tuple[int, tuple[str, ...]]
"""Number of a rule, and a value for each of its scope keys."""
Entry = tuple[Record, Moment, tuple[Place, ...] | None]
"""A superseding record, its time, and where it is superseded; None: to be looked at alone."""
CROWDED = 64
"""Buckets of more superseding records are asked for their heads; smaller ones are walked."""
LAST = "\U0010ffff"
"""Sorts behind every id."""


def is_crowded(n: int) -> bool:
    """Return whether so many records in one place are a crowd."""
    return n > CROWDED
