"""Files that say something of documents, one row each: profiles, expansions, pseudo-queries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from argus.data.rows import Row, id_value, pick_field, read_rows
from argus.errors import InputError

ID_FIELDS = ("_id", "id", "doc_id")
EXPANSIONS = "expansions.jsonl"
"""The file of pseudo-queries and summaries beside a corpus."""


def file_in(path: Path, name: str) -> Path:
    """Return the file that `path` stands for: itself, or the one of that name in a folder."""
    return path / name if path.is_dir() and (path / name).is_file() else path


def rows_by_document(path: Path, *, coerce_ids: bool = False) -> Iterator[tuple[str, Row]]:
    """Yield document id and row.

    Raises InputError, with the line, for a row without an id and a document that comes twice.
    """
    lines: dict[str, int] = {}
    for row in read_rows(path):
        doc_id = id_value(row, pick_field(row, ID_FIELDS, what="document id"), coerce=coerce_ids)
        if doc_id in lines:
            raise InputError(
                f"document {doc_id!r} comes twice: it was given on line {lines[doc_id]}",
                expected="one line per document",
                fix="Make one line of the two.",
                where=row.at(),
            )
        lines[doc_id] = row.line
        yield doc_id, row
