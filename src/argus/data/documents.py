"""Read and write documents and queries, in files of rows or from a program.

`argus.corpora` opens a corpus of any kind. This reads its files, and writes BEIR folders:
`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv` (Thakur et al., 2021).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

from argus.data.fields import FieldNames
from argus.data.reading import no_file, nothing_in
from argus.data.rows import (
    FORMATS,
    FRAME,
    Frame,
    Row,
    frame_rows,
    has_field,
    id_value,
    pick_field,
    read_rows,
    text_value,
    whole_characters,
)
from argus.data.types import Document, Qrels, Query
from argus.data.writing import write_jsonl, write_whole
from argus.errors import InputError

# A chunk's own id comes before that of its document, which may stand beside it.
ID_FIELDS = ("_id", "id", "chunk_id", "doc_id", "docid", "docno", "document_id", "pid")
QUERY_ID_FIELDS = ("_id", "id", "query_id", "qid", *ID_FIELDS[2:])
TITLE_FIELDS = ("title", "label", "name")
TEXT_FIELDS = ("text", "contents", "content", "paragraph", "passage", "body")
CORPUS_STEMS = ("corpus", "documents", "entities")
EXPANSIONS = "expansions.jsonl"  # pseudo-queries and summaries, beside a corpus
BEIR_FILES = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")

T = TypeVar("T", Document, Query)


def find_file(folder: Path, stems: Sequence[str]) -> Path | None:
    """Return the first `folder/stem.format[.gz]` that exists."""
    names = (f"{stem}{end}{gz}" for stem in stems for end in FORMATS for gz in ("", ".gz"))
    return next((folder / name for name in names if (folder / name).is_file()), None)


def documents_in(file: Path, fields: FieldNames, *, limit: int | None = None) -> list[Document]:
    """Read the documents of a file of rows, in its order.

    Fields other than id, title and text become metadata. Raises InputError naming file, line and
    field for a missing column, no document, duplicate or non-string ids, non-UTF-8 bytes and broken
    JSON.
    """
    check_limit(limit)
    return _unique(file, _documents(islice(read_rows(file), limit), fields))


def documents_of_frame(
    frame: Frame, fields: FieldNames, *, limit: int | None = None
) -> list[Document]:
    """Return the documents of a data frame, as `documents_in` those of a file."""
    check_limit(limit)
    return _unique(FRAME, _documents(islice(frame_rows(frame), limit), fields))


def queries_file(path: Path) -> Path:
    """Return the file of queries: `path` itself, or `queries.*` in a BEIR folder."""
    file = path if path.is_file() else find_file(path, ["queries"])
    if file is None:
        expected = "a file of questions, or a folder with queries.jsonl"
        got = "the folder holds no queries file" if path.is_dir() else no_file(path)
        raise InputError(got, expected=expected, fix="Check the path.", where=path)
    return file


def read_queries(path: Path, *, coerce_ids: bool = False, limit: int | None = None) -> list[Query]:
    """Read queries (`_id`, `text`) from a file or from `queries.*` in a BEIR folder."""
    file = queries_file(path)

    def parse(rows: Iterator[Row]) -> Iterator[tuple[Row, Query]]:
        for row in rows:
            id_ = id_value(row, pick_field(row, QUERY_ID_FIELDS, what="id"), coerce=coerce_ids)
            text_field = pick_field(row, ("text", "query", "question"), what="text")
            yield row, Query(id_, text_value(row, text_field))

    check_limit(limit)
    return _unique(file, parse(islice(read_rows(file), limit)), "query")


def check_columns(file: Path, fields: FieldNames) -> None:
    """Raise InputError where the first row lacks a column, as reading the documents would."""
    next(_documents(read_rows(file), fields), None)


def _documents(rows: Iterator[Row], fields: FieldNames) -> Iterator[tuple[Row, Document]]:
    """Yield each row with its document.

    A `metadata` object, as BEIR has it, is opened: metadata stay one level deep. Where a column
    beside it has the name of a field inside, that field goes by its path.
    """
    if (first := next(rows, None)) is None:
        return
    ids = [fields.id] if fields.id else ID_FIELDS
    texts = [fields.text] if fields.text else TEXT_FIELDS
    id_field = pick_field(first, ids, what="id", option="--id-field")
    text_field = pick_field(first, texts, what="text", option="--text-field")
    names = [fields.title] if fields.title else TITLE_FIELDS
    has_titles = False
    for row in chain([first], rows):
        pick_field(row, [text_field], what="text", option="--text-field")
        title_field = next((name for name in names if has_field(row, name)), None)
        has_titles = has_titles or title_field is not None
        used = {id_field, title_field, text_field}
        metadata: dict[str, Any] = {k: v for k, v in row.values.items() if k not in used}
        if isinstance(nested := metadata.get("metadata"), dict):
            del metadata["metadata"]
            metadata |= {f"metadata.{k}" if k in metadata else k: v for k, v in nested.items()}
        id_ = id_value(row, id_field, coerce=fields.coerce_ids)
        title = text_value(row, title_field) if title_field else ""
        text, named = text_value(row, text_field), {"id_field": id_field, "text_field": text_field}
        yield row, Document(id_, text, title, metadata, **named)
    if not has_titles and fields.title:
        pick_field(first, [fields.title], what="title", option="--title-field")


def _unique(place: Path, parsed: Iterator[tuple[Row, T]], what: str = "document") -> list[T]:
    """Return the items of rows. Raises InputError for an id that comes twice, and for no item."""
    lines: dict[str, int] = {}
    items: list[T] = []
    for row, item in parsed:
        if item.id in lines:
            fix = "Remove or rename one of the two; or name the column of ids with --id-field."
            got = f"id {item.id!r} was already given on line {lines[item.id]}"
            raise InputError(got, expected=f"one {what} per id", fix=fix, where=row.at())
        lines[item.id] = row.line
        items.append(item)
    if not items:
        raise nothing_in(place, what)
    return items


def file_in(path: Path, name: str) -> Path:
    """Return `path/name` where that is a file in a folder, else `path` itself."""
    return path / name if path.is_dir() and (path / name).is_file() else path


def rows_by_document(path: Path, *, coerce_ids: bool = False) -> Iterator[tuple[str, Row]]:
    """Yield document id and row of a file with a row per document, such as profiles.

    Raises InputError, with the line, for a row without an id and a document that comes twice.
    """
    lines: dict[str, int] = {}
    for row in read_rows(path):
        field = pick_field(row, ("_id", "id", "doc_id"), what="document id")
        doc_id = id_value(row, field, coerce=coerce_ids)
        if doc_id in lines:
            got = f"document {doc_id!r} comes twice: it was given on line {lines[doc_id]}"
            expected, fix = "one line per document", "Make one line of the two."
            raise InputError(got, expected=expected, fix=fix, where=row.at())
        lines[doc_id] = row.line
        yield doc_id, row


def write_beir(
    folder: Path, documents: Iterable[Document], queries: Iterable[Query], qrels: Qrels
) -> None:
    """Write the three files of a BEIR collection into `folder`, making it if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    write_jsonl(folder / "corpus.jsonl", as_rows(documents))
    write_questions(folder, queries, qrels)


def write_questions(folder: Path, queries: Iterable[Query], qrels: Qrels) -> tuple[Path, Path]:
    """Write queries and judgements into `folder`, making it if need be. Return both files."""
    questions, judgements = folder / "queries.jsonl", folder / "qrels" / "test.tsv"
    judgements.parent.mkdir(parents=True, exist_ok=True)
    write_jsonl(questions, ({"_id": q.id, "text": q.text} for q in queries))
    lines = ["query-id\tcorpus-id\tscore"]
    lines += [f"{q}\t{d}\t{grade}" for q, grades in qrels.items() for d, grade in grades.items()]
    write_whole(judgements, "\n".join(lines) + "\n")
    return questions, judgements


def as_rows(documents: Iterable[Document]) -> Iterator[dict[str, Any]]:
    """Yield documents as the rows of a BEIR corpus."""
    for d in documents:
        yield {"_id": d.id, "title": d.title, "text": d.text, "metadata": dict(d.metadata)}


def listed(values: Iterable[str], what: str = "ids") -> list[str]:
    """Return the values of an iterable. Raises InputError for one text, which gives its letters."""
    if isinstance(values, str | bytes):
        got, fix = f"{what} are the text {values!r:.60}", f"For one: [{values!r:.60}]."
        raise InputError(got, expected=f"a list of {what}", fix=fix)
    return list(values)


def is_count(value: object) -> bool:
    """Return whether a value is a whole number from 1, of Python or another library."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def text_in(value: Any, where: str) -> str:
    """Return a text. Raises InputError for anything else, such as a conversation or None."""
    if isinstance(value, str):
        return value
    raise InputError(f"{value!r:.60}", expected="text", fix="Only texts are searched.", where=where)


def check_limit(limit: int | None) -> None:
    """Raise InputError for a limit that leaves no document or question."""
    if limit is not None and limit < 1:
        expected = "a whole number from 1, or None for all"
        raise InputError(f"limit={limit}", expected=expected, fix="For example 100.")


def check_unique(items: Sequence[Document] | Sequence[Query], where: Path | None = None) -> None:
    """Raise InputError where two documents, or two queries, have one id."""
    ids = Counter(item.id for item in items)
    if len(ids) < len(items):
        kind = "document" if isinstance(items[0], Document) else "query"
        got = f"two of them have the id {ids.most_common(1)[0][0]!r:.60}"
        place = where or ("corpus" if kind == "document" else None)
        fix = "Remove or rename one of the two."
        raise InputError(got, expected=f"one {kind} per id", fix=fix, where=place)


def whole_documents(documents: tuple[Document, ...]) -> tuple[Document, ...]:
    """Return documents of a program. Raises InputError for a repeated id and half a character.

    Tokenizers and Parquet accept whole characters only.
    """
    check_unique(documents)
    for document in documents:
        for name in ("id", "title", "text"):
            of = f" of the {name} of document {document.id!r}"
            whole_characters(getattr(document, name), lambda _: "corpus", name, of)
    return documents
