"""The corpus that a retriever under test is given."""

from __future__ import annotations

from argus.authority.rules import Record, corpus_of
from argus.authority.times import parse_moment
from argus.retrievers.python_retriever import corpus_rows

RECORDS = [
    Record("b", "note", None, {"cve": ("1", "2")}, "old text", "Old", metadata={"gold": True}),
    Record("a", "note", parse_moment("2024-03"), {"host": "h"}, "new text"),
]


def test_the_corpus_is_ordered_by_id_and_tells_no_metadata() -> None:
    assert corpus_rows(corpus_of(RECORDS)) == [
        {
            "doc_id": "a", "_id": "a", "type": "note", "event_type": "note",
            "timestamp": "2024-03",
            "entities": {"host": "h"}, "title": "", "text": "new text",
        },
        {
            "doc_id": "b", "_id": "b", "type": "note", "event_type": "note", "timestamp": None,
            "entities": {"cve": ["1", "2"]}, "title": "Old", "text": "old text",
        },
    ]  # fmt: skip
