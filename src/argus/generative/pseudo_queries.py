"""Read pseudo-queries of documents from a file: MINDER's third view (Li et al., 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from argus.data.documents import EXPANSIONS, file_in, rows_by_document
from argus.data.rows import Row, pick_field, whole_characters
from argus.data.types import Document
from argus.errors import InputError

FIELDS = ("queries", "pseudo_queries")
_WITHOUT = frozenset({"summary", "state", "reason", "notes"})
"""Fields of an expansion that has no pseudo-queries, which is no mistake."""
_EXAMPLE = '{"_id": "d1", "queries": ["...", "..."]}'


def read(path: Path | str, *, coerce_ids: bool = False) -> dict[str, list[str]]:
    """Read pseudo-queries by document id: rows with `queries`, or the expansions of `argus`.

    path: a JSONL or Parquet file, or a folder that holds expansions.jsonl. White space is reduced
    to single spaces, and empty and repeated queries of a document are left out. A document without
    any is not in the result. Raises InputError, with the line, for a row without either field, a
    query that is no text, and a document that comes twice. And where no row has a query.
    """
    path = file_in(Path(path), EXPANSIONS)
    rows = {doc_id: _queries(row) for doc_id, row in rows_by_document(path, coerce_ids=coerce_ids)}
    by_document = {doc_id: queries for doc_id, queries in rows.items() if queries}
    if not by_document:
        raise InputError(
            f"no pseudo-query in {len(rows):,} lines",
            expected=f"lines such as {_EXAMPLE}",
            fix="Check the path and the fields.",
            where=path,
        )
    return by_document


def of_documents(
    pseudo_queries: Path | str | Mapping[str, list[str]] | None,
    documents: Sequence[Document],
    *,
    coerce_ids: bool = False,
) -> tuple[dict[str, list[str]], Path | None, int]:
    """Return the pseudo-queries of the documents, the file that they were read from, and others.

    pseudo_queries: by document id, or a file or folder. None for none. The last: how many documents
    with pseudo-queries are not among these. Raises InputError as `read` does, and where none is.
    """
    if pseudo_queries is None:
        return {}, None, 0
    file = None
    if not isinstance(pseudo_queries, Mapping):
        file = file_in(Path(pseudo_queries), EXPANSIONS)
        pseudo_queries = read(file, coerce_ids=coerce_ids)
    ids = {document.id for document in documents}
    known = {id_: queries for id_, queries in pseudo_queries.items() if id_ in ids}
    if pseudo_queries and not known:
        raise InputError(
            f"pseudo-queries of {len(pseudo_queries):,} documents, none of them in the corpus "
            f"(they begin with {min(pseudo_queries)!r}, the documents with {min(ids)!r})",
            expected="pseudo-queries by the ids of the corpus",
            fix="Check --pseudo-queries, --corpus and --id-field; --limit may have cut the corpus "
            "too short.",
            where=file or "pseudo-queries",
        )
    return known, file, len(pseudo_queries) - len(known)


def _queries(row: Row) -> list[str]:
    field = next((name for name in FIELDS if row.values.get(name) is not None), None)
    if field is None:
        if not (_WITHOUT | set(FIELDS)) & row.values.keys():
            pick_field(row, FIELDS, what="queries")
        return []
    value = row.values[field]
    wrong = [one for one in value if not isinstance(one, str)] if isinstance(value, list) else []
    if not isinstance(value, list) or wrong:
        raise InputError(
            f"{wrong[0]!r:.60} among the queries"
            if wrong
            else f"{value!r:.60} is of type {type(value).__name__}",
            expected="strings alone" if wrong else "a list of strings",
            fix="Quote it, or leave it out." if wrong else f"Write {_EXAMPLE}.",
            where=row.at(field),
        )
    texts = (" ".join(whole_characters(one, row.at, field).split()) for one in value)
    return list(dict.fromkeys(filter(None, texts)))
