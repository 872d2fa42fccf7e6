"""The documents of an index, from the views that hold their own text."""

from __future__ import annotations

from dataclasses import replace

from argus.data.types import Document
from argus.indexes.views import ORIGINAL, ViewIndex
from argus.jobs.workspace import require_some


def originals(index: ViewIndex) -> list[Document]:
    """Return the documents of an index, ordered by id.

    Their content is exactly what is indexed. The title is the one that the index knows; none where
    it knows none, or another program put something else in its place. `metadata["added"]` is the
    number of the commit that a document came with.
    """
    rows = sorted(index.rows(ORIGINAL).to_pylist(), key=lambda row: (row["doc_id"], row["id"]))
    documents = [
        titled(Document(row["doc_id"], row["text"], row["source"], {"added": row["added"]}))
        for row in rows
        if row["kind"] == ORIGINAL
    ]
    require_some(len(documents), "document has its own text in the index", "Build it again.")
    return documents


def titled(document: Document) -> Document:
    """Return a document whose text begins with its title; without the title where it does not.

    So `content`, which puts a title in front of a text that lacks it, is the text.
    """
    return document if document.content == document.text else replace(document, title="")
