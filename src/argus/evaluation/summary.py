"""An evaluation's part of summary.json, key by key. No value in it is NaN."""

from __future__ import annotations

from typing_extensions import TypedDict


class MissingDocuments(TypedDict):
    """Relevant documents that an index does not hold.

    pairs: of query and such a document. queries: that have one; queries_without_any: whose relevant
    documents are all such ones. ids: the first 50.
    """

    documents: int
    pairs: int
    queries: int
    queries_without_any: int
    ids: list[str]
