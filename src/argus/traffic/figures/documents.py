"""What real traffic brings back: hubs, documents that serve nobody, ids that nobody knows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from typing_extensions import TypedDict

from argus.retrievability.concentration import gini, lorenz
from argus.traffic.log.book import LogBook

HUBS = 50
SCHEMA = pa.schema(
    [
        ("id", pa.string()), ("label", pa.string()), ("asks", pa.int64()),
        ("questions", pa.int64()), ("first", pa.int64()), ("in_corpus", pa.bool_()),
        ("superseded", pa.int64()),
    ]
)  # fmt: skip
"""One row per document that came back, or is in the corpus, the most served first.

asks: asks in whose first k it was.
questions: different questions that it came back for.
first: asks for which it came first.
in_corpus: whether the corpus has it; null without one.
superseded: asks for which it was served though superseded by then.
"""


class TrafficHub(TypedDict):
    """A document that comes back for many.

    asks: asks that it came back for.
    share: these as a share of all asks.
    """

    id: str
    label: str
    asks: int
    share: float


class ServedDocuments(TypedDict):
    """Documents in the first k results of all asks whose results are known.

    asks: asks whose results are known.
    different: different documents that came back.
    corpus: documents of the corpus; None without one.
    never: of these, documents that never came back; None without a corpus.
    unknown: different ids that are no document of the corpus; None without one.
    gini: Gini coefficient over documents of the corpus, or over those that came back.
    lorenz: Lorenz curve, at equal steps of the share of documents.
    hubs: documents that came back most often.
    """

    asks: int
    different: int
    corpus: int | None
    never: int | None
    unknown: int | None
    gini: float
    lorenz: list[float]
    hubs: list[TrafficHub]


@dataclass
class DocumentCounts:
    """How often each document came back. Memory grows with documents, not with the log."""

    asks: int = 0
    served: Counter[str] = field(default_factory=Counter)
    first: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    """Different lists that hold it, counted by question."""

    @classmethod
    def of(cls, book: LogBook, k: int) -> DocumentCounts:
        """Count over all asks."""
        counts = cls()
        for results, asks, questions in book.rows(
            "SELECT results, COUNT(*), COUNT(DISTINCT question) FROM asks "
            "JOIN lists ON lists.id = list GROUP BY list"
        ):
            counts.asks += asks
            for rank, (id_, _) in enumerate(json.loads(results)[:k]):
                counts.served[id_] += asks
                counts.questions[id_] += questions
                counts.first[id_] += asks * (rank == 0)
        return counts

    def table(self, labels: Mapping[str, str], is_corpus: bool, stale: Counter[str]) -> pa.Table:
        """One row per document, the most served first; labels: of the corpus, by id."""
        ids = sorted(dict.fromkeys([*self.served, *(labels if is_corpus else ())]),
                     key=lambda id_: (-self.served[id_], id_))  # fmt: skip
        rows = [
            {
                "id": id_, "label": labels.get(id_, ""), "asks": self.served[id_],
                "questions": self.questions[id_], "first": self.first[id_],
                "in_corpus": id_ in labels if is_corpus else None, "superseded": stale[id_],
            }
            for id_ in ids
        ]  # fmt: skip
        return pa.Table.from_pylist(rows, schema=SCHEMA)

    def summary(self, labels: Mapping[str, str], is_corpus: bool) -> ServedDocuments:
        """Return the figures."""
        ids = list(labels) if is_corpus else list(self.served)
        counts = [self.served[id_] for id_ in ids]
        return {
            "asks": self.asks,
            "different": len(self.served),
            "corpus": len(labels) if is_corpus else None,
            "never": sum(not n for n in counts) if is_corpus else None,
            "unknown": len(self.served.keys() - labels.keys()) if is_corpus else None,
            "gini": gini(counts),
            "lorenz": lorenz(counts).round(5).tolist() if counts else [],
            "hubs": [
                {
                    "id": id_,
                    "label": labels.get(id_, ""),
                    "asks": n,
                    "share": round(n / self.asks, 5),
                }
                for id_, n in sorted(self.served.items(), key=lambda pair: (-pair[1], pair[0]))[
                    :HUBS
                ]
            ],
        }
