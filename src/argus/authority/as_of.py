"""What is in force at a time: now, or as of an earlier time and what was known then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from argus.authority.records import Record, find_record
from argus.authority.rules import Order
from argus.authority.times import FOREVER, Moment


@dataclass(frozen=True, slots=True, eq=False)
class AsOf:
    """A time at which records are looked at; without limits it is now, and all are in force.

    effective: only what had certainly taken effect by then counts. known: only what had certainly
    been published by then.
    """

    records: Mapping[str, Record]
    effective: Moment | None = None
    known: Moment | None = None

    @property
    def is_earlier(self) -> bool:
        """Whether this is an earlier time than now."""
        return self.effective is not None or self.known is not None

    def in_force(self, id_: str) -> bool:
        """Return whether a record had taken effect, and was known, at this time."""
        if self.effective is None and self.known is None:
            return True
        record = find_record(self.records, id_)
        effective = record.time or record.published
        return _by(effective, self.effective) and _by(record.known, self.known)

    def horizon(self, order: Order) -> int | None:
        """Return by which end what is ordered so is in force; None where another time decides."""
        if not self.is_earlier:
            return FOREVER
        if order is Order.EFFECTIVE and self.effective is not None and self.known is None:
            return self.effective.end
        if order is Order.PUBLISHED and self.known is not None and self.effective is None:
            return self.known.end
        return None


def _by(moment: Moment | None, limit: Moment | None) -> bool:
    return moment is None or limit is None or moment.end <= limit.end
