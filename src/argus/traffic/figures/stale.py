"""Superseded documents that were really served, by what was in force on the day they were."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

from typing_extensions import TypedDict

from argus.authority.jobs.inputs import OpenedAuthority
from argus.authority.relation import Authority
from argus.traffic.figures.shares import Share, share
from argus.traffic.log.book import LogBook

SHOWN = 20
DAY_S = 86_400


class StaleDocument(TypedDict):
    """A superseded document, how often it was served, and what controls it.

    asks: asks that it was served for.
    instead: ids of what controls it.
    """

    id: str
    asks: int
    instead: list[str]


class StaleServed(TypedDict):
    """Asks whose first k results held a document that was superseded by then.

    asks: these, of the asks in which any result has a record.
    alone: of these, asks for which nothing that controls it came along.
    documents: superseded documents that were served.
    examples: the most served of them.
    """

    asks: Share | None
    alone: int
    documents: int
    without_time: int
    """Asks without a time: compared with what is in force now."""
    examples: list[StaleDocument]


@dataclass
class StaleLists:
    """Marks lists that held something superseded on their day, in the log's own file."""

    opened: OpenedAuthority
    counts: Counter[str] = field(default_factory=Counter)
    instead: dict[str, list[str]] = field(default_factory=dict)
    alone: int = 0
    _views: dict[int, Authority] = field(default_factory=dict)

    def mark(self, book: LogBook, k: int) -> None:
        """Make the table `stale (list, day, stale)`; lists without any record are left out."""
        book.do(
            "CREATE TABLE stale (list INTEGER, day INTEGER, stale INTEGER, PRIMARY KEY (list, day))"
        )
        rows = book.rows(
            f"SELECT list, COALESCE(CAST(at / {DAY_S} AS INTEGER), -1) AS day, COUNT(*), results "
            "FROM asks JOIN lists ON lists.id = list GROUP BY list, day ORDER BY day"
        )
        marks = []
        for list_, day, asks, results in rows:
            is_stale = self._look([id_ for id_, _ in json.loads(results)[:k]], day, asks)
            if is_stale is not None:
                marks.append((list_, day, is_stale))
        book.do_all("INSERT INTO stale VALUES (?,?,?)", marks)

    def _look(self, ids: list[str], day: int, asks: int) -> bool | None:
        view = self._view(day)
        own = [id_ for id_ in ids if id_ in view and view.in_force(id_)]
        if not own:
            return None
        stale = [id_ for id_ in own if not view.is_active(id_)]
        for id_ in stale:
            self.counts[id_] += asks
            if id_ not in self.instead:
                self.instead[id_] = sorted(view.controlling_chains([id_]))
        if stale and not any({*self.instead[id_]} & {*ids} for id_ in stale):
            self.alone += asks
        return bool(stale)

    def _view(self, day: int) -> Authority:
        """Return the relation as of a day; one that was named, or no time, is the one opened."""
        authority = self.opened.authority
        if day < 0 or authority.is_view:
            return authority
        if day not in self._views:
            self._views.clear()  # days come in order
            date = datetime.fromtimestamp(day * DAY_S, UTC).date().isoformat()
            self._views[day] = authority.as_of(date)
        return self._views[day]

    def summary(self, book: LogBook) -> StaleServed:
        """Return the figures."""
        stale, n, timeless = book.one(
            "SELECT COALESCE(SUM(stale), 0), COUNT(*), COALESCE(SUM(at IS NULL), 0) FROM asks "
            f"JOIN stale ON stale.list = asks.list AND stale.day = "
            f"COALESCE(CAST(at / {DAY_S} AS INTEGER), -1)"
        )
        worst = sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN]
        return {
            "asks": share(stale, n),
            "alone": self.alone,
            "documents": len(self.counts),
            "without_time": timeless,
            "examples": [
                {"id": id_, "asks": asks, "instead": self.instead[id_]} for id_, asks in worst
            ],
        }
