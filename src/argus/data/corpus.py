"""Read documents and queries from files in any row format (`argus.corpora` opens a corpus)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from argus.data.fields import FieldNames
from argus.data.frames import PLACE, Frame, frame_rows
from argus.data.rows import (
    FORMATS,
    Row,
    file_format,
    has_field,
    id_value,
    pick_field,
    read_rows,
    text_value,
)
from argus.data.text_files import no_file
from argus.data.types import Document, Query, RecordFields
from argus.errors import InputError

ID_FIELDS = ("_id", "id", "chunk_id", "doc_id", "docid", "docno", "document_id", "pid")
"""A chunk's own id comes before that of its document, which may stand beside it."""
QUERY_ID_FIELDS = ("_id", "id", "query_id", "qid", *ID_FIELDS[2:])
TITLE_FIELDS = ("title", "label", "name")
TEXT_FIELDS = ("text", "contents", "content", "paragraph", "passage", "body")
LOOKED_AT = 1_000
"""Rows among which a named title is sought before all are read."""
CORPUS_STEMS = ("corpus", "documents", "entities")

T = TypeVar("T", Document, Query)


def check_limit(limit: int | None) -> None:
    """Raise InputError unless some documents, or questions, are left."""
    if limit is not None and limit < 1:
        raise InputError(
            f"limit={limit}",
            expected="a whole number from 1, or None for all",
            fix="For example 100.",
        )


def find_file(folder: Path, stems: Sequence[str]) -> Path | None:
    """Return the first `folder/stem.format[.gz]` that exists."""
    candidates = (
        folder / f"{stem}{suffix}{zipped}"
        for stem in stems
        for suffix in FORMATS
        for zipped in ("", ".gz")
    )
    return next((path for path in candidates if path.is_file()), None)


def documents_in(file: Path, fields: FieldNames, *, limit: int | None = None) -> list[Document]:
    """Read the documents of a file of rows, in its order.

    Fields other than id, title and text become metadata. Raises InputError naming file, line and
    field for a missing column, no document, duplicate or non-string ids, non-UTF-8 bytes and broken
    JSON.
    """
    return _unique(file, _documents_of(fields), limit=limit, what="document")


def documents_of_frame(
    frame: Frame, fields: FieldNames, *, limit: int | None = None
) -> list[Document]:
    """Return the documents of a data frame, as `documents_in` those of a file."""
    check_limit(limit)
    rows = list(islice(frame_rows(frame), limit))
    return _unique(PLACE, _documents_of(fields), limit=limit, what="document", read=lambda: rows)


def check_columns(file: Path, fields: FieldNames) -> None:
    """Raise InputError where the first row lacks a column, as reading the documents would.

    A title may be missing in some records of JSON: it has to be in one of the first.
    """
    rows = list(islice(read_rows(file), LOOKED_AT))
    if not rows:
        return
    _id_and_text(rows[0], fields)
    is_whole = len(rows) < LOOKED_AT or file_format(file) not in (".jsonl", ".ndjson")
    if fields.title and is_whole and not any(has_field(row, fields.title) for row in rows):
        _require_title(rows[0], fields)


def _documents_of(
    fields: FieldNames,
) -> Callable[[Iterator[Row]], Iterator[tuple[Row, Document]]]:
    """Return what makes documents of rows."""

    def parse(rows: Iterator[Row]) -> Iterator[tuple[Row, Document]]:
        names: tuple[str, str] | None = None
        first: Row | None = None
        has_titles = False
        shared: dict[RecordFields, RecordFields] = {}  # few, which all documents share
        for row in rows:
            first = first or row
            names = names or _id_and_text(row, fields)
            id_field, text_field = names
            if not has_field(row, text_field):
                pick_field(row, [text_field], what="text", option="--text-field")
            title_field = _title_field(row, fields)
            has_titles = has_titles or title_field is not None
            metadata, inner = _metadata(row, {id_field, title_field, text_field})
            own = RecordFields(id_field, title_field, inner, text_field)
            yield (
                row,
                Document(
                    id=id_value(row, id_field, coerce=fields.coerce_ids),
                    title=text_value(row, title_field) if title_field else "",
                    text=text_value(row, text_field),
                    metadata=metadata,
                    fields=shared.setdefault(own, own),
                ),
            )
        if first is not None and not has_titles:
            _require_title(first, fields)

    return parse


def _id_and_text(row: Row, fields: FieldNames) -> tuple[str, str]:
    return (
        pick_field(row, [fields.id] if fields.id else ID_FIELDS, what="id", option="--id-field"),
        pick_field(
            row, [fields.text] if fields.text else TEXT_FIELDS, what="text", option="--text-field"
        ),
    )


def _title_field(row: Row, fields: FieldNames) -> str | None:
    """Return the row's own title column: a record may lack what others have."""
    names = [fields.title] if fields.title else TITLE_FIELDS
    return next((name for name in names if has_field(row, name)), None)


def _require_title(row: Row, fields: FieldNames) -> None:
    """Raise InputError where the row lacks the title column that was named."""
    if fields.title:
        pick_field(row, [fields.title], what="title", option="--title-field")


def _metadata(row: Row, used: set[str | None]) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the other columns; BEIR's `metadata` object is opened, so that it stays one level.

    A column beside it that has the name of one inside is kept, the one inside under its path. The
    names of those inside that have no such column come with them.
    """
    rest = {k: v for k, v in row.values.items() if k not in used}
    nested = rest.get("metadata")
    if not isinstance(nested, dict):
        return rest, frozenset()
    del rest["metadata"]
    inner = frozenset(k for k in nested if k not in rest)
    rest |= {k if k in inner else f"metadata.{k}": v for k, v in nested.items()}
    return rest, inner


def read_queries(path: Path, *, coerce_ids: bool = False, limit: int | None = None) -> list[Query]:
    """Read queries (`_id`, `text`) from a file or from `queries.*` in a BEIR folder."""
    file = path if path.is_file() else find_file(path, ["queries"])
    if file is None:
        raise InputError(
            "no queries file" if path.is_dir() else no_file(path),
            expected="queries.jsonl in the folder, or a file",
            fix="Check the path.",
            where=path,
        )

    def parse(rows: Iterator[Row]) -> Iterator[tuple[Row, Query]]:
        for row in rows:
            id_field = pick_field(row, QUERY_ID_FIELDS, what="id")
            text_field = pick_field(row, ("text", "query", "question"), what="text")
            yield (
                row,
                Query(id_value(row, id_field, coerce=coerce_ids), text_value(row, text_field)),
            )

    return _unique(file, parse, limit=limit, what="query")


def _unique(
    file: Path,
    parse: Callable[[Iterator[Row]], Iterator[tuple[Row, T]]],
    *,
    limit: int | None,
    what: str,
    read: Callable[[], Iterable[Row]] | None = None,
) -> list[T]:
    """Return what rows hold, each id once. read: the rows, where they are of no file."""
    check_limit(limit)
    read = read or (lambda: read_rows(file))
    lines: dict[str, int] = {}
    items: list[T] = []
    for row, item in parse(islice(read(), limit)):
        if item.id in lines:
            raise InputError(
                f"id {item.id!r} was already given on line {lines[item.id]}",
                expected=f"one {what} per id",
                fix="Remove or rename one of the two."
                + (_other_id(read(), lines[item.id], row) if isinstance(item, Document) else ""),
                where=row.at(),
            )
        lines[item.id] = row.line
        items.append(item)
    if not items:
        raise InputError(
            f"no {what} in it",
            expected=f"at least one {what}",
            fix="Check that this is the right file and that writing it did not break off.",
            where=file,
        )
    return items


def _other_id(rows: Iterable[Row], line: int, row: Row) -> str:
    """Return which usual column of ids tells two records of one id apart, if any does."""
    other = next(other for other in rows if other.line == line)
    for name in ID_FIELDS:
        ids = [one.values.get(name) for one in (other, row)]
        if None not in ids and ids[0] != ids[1]:
            return f" If the records' own ids are in {name!r}, pass --id-field {name}."
    return ""


def refuse_repeated(documents: Sequence[Document]) -> None:
    """Raise InputError where two documents have one id."""
    twice = next((id_ for id_, n in Counter(d.id for d in documents).items() if n > 1), None)
    if twice is not None:
        raise InputError(
            f"two documents have the id {twice!r}",
            expected="one document per id",
            fix="Remove or rename one of the two.",
            where="corpus",
        )


def whole_documents(documents: tuple[Document, ...]) -> tuple[Document, ...]:
    """Raise InputError, as reading a file does: tokenizers and Parquet take whole characters."""
    refuse_repeated(documents)
    for document in documents:
        for name in ("id", "title", "text"):
            _refuse_half_character(getattr(document, name), name, document)
    return documents


def _refuse_half_character(text: str, name: str, document: Document) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"half a surrogate pair (\\u{ord(text[error.start]):04x}), character "
            f"{error.start + 1} of the {name} of document {document.id!r}",
            expected="whole Unicode characters",
            fix="The text was cut inside a character: make it again, or remove the half.",
            where="corpus",
        ) from error
