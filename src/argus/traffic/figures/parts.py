"""Which documents serve, and which serve nobody, slice by slice and over time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, groupby
from operator import itemgetter

import pyarrow as pa

from argus.measures.slices import NONE, slice_names
from argus.retrievability.concentration import gini
from argus.traffic.figures.over_time import step_days
from argus.traffic.figures.stale import DAY_S
from argus.traffic.log.book import LogBook

TIME = "time"
_JOINED = "FROM asks JOIN lists ON lists.id = list"
SCHEMA = pa.schema(
    [
        ("field", pa.string()), ("part", pa.string()), ("asks", pa.int64()),
        ("different", pa.int64()), ("never", pa.int64()), ("gini", pa.float64()),
        ("hub", pa.string()), ("hub_label", pa.string()), ("hub_asks", pa.int64()),
    ]
)  # fmt: skip
"""One row per slice, and per step of time, with asks whose results are known.

field: field of the slice; time for a step of time.
part: what the field holds there; the day on which the step begins, UTC.
asks: asks in it whose results are known.
different: different documents that came back.
never: documents of the corpus that came back for none of them; null without a corpus.
gini: Gini coefficient over documents of the corpus, or over those that came back.
hub: id of the document that came back for most of them.
hub_label: its title.
hub_asks: asks that it came back for.
"""


@dataclass
class _Part:
    """Asks of one part, and how often each document came back for them."""

    asks: int = 0
    served: Counter[str] = field(default_factory=Counter)

    def add(self, results: str, asks: int, k: int) -> None:
        """Count a list of the log's file, served for so many asks."""
        self.asks += asks
        for id_, _ in json.loads(results)[:k]:
            self.served[id_] += asks


def served_by_part(book: LogBook, k: int, labels: Mapping[str, str], is_corpus: bool) -> pa.Table:
    """Return who serves in each part of the log. labels: titles by document, of the corpus or not.

    Memory grows with the documents of one field's slices, or of one step, not with the log.
    """
    parts = chain(_slices(book, k), _steps(book, k))
    rows = [_row(name, part, own, labels, is_corpus) for name, part, own in parts]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _slices(book: LogBook, k: int) -> Iterator[tuple[str, str, _Part]]:
    for i, name in enumerate(book.slices):
        values = dict(
            book.rows(f"SELECT s{i}, COUNT(*) FROM asks WHERE s{i} IS NOT NULL GROUP BY 1")
        )
        names, _ = slice_names(values)
        parts: dict[str, _Part] = {}
        for value, results, asks in book.rows(
            f"SELECT s{i}, results, COUNT(*) {_JOINED} GROUP BY 1, list"
        ):
            parts.setdefault(NONE if value is None else names[value], _Part()).add(results, asks, k)
        yield from ((name, part, own) for part, own in parts.items())


def _steps(book: LogBook, k: int) -> Iterator[tuple[str, str, _Part]]:
    seconds = DAY_S * step_days(book)
    rows = book.rows(
        f"SELECT CAST(at / {seconds} AS INTEGER), results, COUNT(*) {_JOINED} "
        "WHERE at IS NOT NULL GROUP BY 1, list ORDER BY 1"
    )
    for step, own in groupby(rows, key=itemgetter(0)):
        part = _Part()
        for _, results, asks in own:
            part.add(results, asks, k)
        yield TIME, datetime.fromtimestamp(step * seconds, UTC).date().isoformat(), part


def _row(
    name: str, part: str, counts: _Part, labels: Mapping[str, str], is_corpus: bool
) -> dict[str, object]:
    ids = labels if is_corpus else counts.served
    served = [counts.served[id_] for id_ in ids]
    hub = min(counts.served, key=lambda id_: (-counts.served[id_], id_), default=None)
    return {
        "field": name, "part": part, "asks": counts.asks, "different": len(counts.served),
        "never": sum(not n for n in served) if is_corpus else None, "gini": gini(served),
        "hub": hub, "hub_label": labels.get(hub or "", ""),
        "hub_asks": counts.served[hub] if hub is not None else 0,
    }  # fmt: skip
