"""Read judgements: tables such as BEIR's (`query-id`, `corpus-id`, `score`), and TREC qrels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

from argus.data.fields import QrelsFields
from argus.data.reading import nothing_in, read_columns, read_lines
from argus.data.rows import (
    ARROW,
    FORMATS,
    Row,
    field_value,
    id_value,
    pick_field,
    read_rows,
    suffix_of,
    whole_number,
)
from argus.data.types import Qrels
from argus.errors import InputError, Location

COLUMNS = ("query id", "iteration", "document id", "grade")
QUERY_FIELDS = ("query-id", "query_id", "qid", "topic", "question_id", "question-id")
DOCUMENT_FIELDS = (
    "corpus-id", "corpus_id", "chunk_id", "chunk-id", "doc_id", "doc-id", "docid", "docno",
    "document_id", "document-id", "document",
)  # fmt: skip
GRADE_FIELDS = ("score", "rel", "relevance", "label", "grade", "judgment", "judgement")
ITERATION_FIELDS = ("iteration", "iter", "Q0", "q0")
MAX_GRADE = 1_000_000  # and the lowest below zero: sums of gains hold little more


@dataclass(frozen=True, slots=True)
class QrelsFile(PathLike[str]):
    """A file of judgements with the names of its columns. It can stand for its path."""

    path: Path
    columns: QrelsFields

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        """Return the path."""
        return str(self.path)


def read_judgements(source: Path | str | QrelsFile | Qrels) -> Qrels:
    """Return the judgements of a file, as `read_qrels` does, or of a program, with equal checks."""
    if isinstance(source, QrelsFile):
        return read_qrels(source.path, source.columns)
    if isinstance(source, str | Path):
        return read_qrels(Path(source))
    return {
        query: {doc: _grade(raw, f"qrels[{query!r}][{doc!r}]") for doc, raw in grades.items()}
        for query, grades in source.items()
    }


def read_qrels(
    path: Path, columns: QrelsFields | None = None, *, coerce_ids: bool = False
) -> Qrels:
    """Read judgements, gzipped or not. coerce_ids: whole numbers in a table are ids, too.

    A TSV, CSV, JSONL or Parquet file has the columns that are named, or query-id, corpus-id and
    score, or other usual names of these (QUERY_FIELDS, DOCUMENT_FIELDS, GRADE_FIELDS). Every grade
    is 1 where there is no column beyond query, document and iteration. A file of any other ending,
    and a .tsv without such a header, is a TREC file unless a column is named: `query 0 document
    grade`, split at white space. The second column is ignored. Raises InputError naming file, line
    and field for a missing or empty file, missing columns, columns of which none or several may
    hold the grade, a grade that is no whole number, and a document that a query is given twice with
    different grades.
    """
    columns = columns or QrelsFields()
    is_table = columns != QrelsFields() or not _is_trec(path)
    rows = _read_table(path, columns, coerce_ids) if is_table else _read_trec(path)
    qrels: Qrels = {}
    for query, doc, grade, where in rows:
        earlier = qrels.setdefault(query, {}).setdefault(doc, grade)
        if earlier != grade:
            got = f"document {doc!r} is graded {grade} for query {query!r}, and {earlier} before"
            expected, fix = "one grade per document and query", "Remove the wrong judgement."
            raise InputError(got, expected=expected, fix=fix, where=where)
    if not qrels:
        raise nothing_in(path, "judgement", "at least one row of query-id, corpus-id, score")
    return qrels


def _is_trec(path: Path) -> bool:
    """Return whether a file holds four columns without a header, by its ending or its content."""
    suffix = suffix_of(path)
    if suffix != ".tsv" or not path.is_file():
        return path.is_file() and suffix not in (*FORMATS, ARROW)
    fields = next((line.split() for _, line in read_lines(path) if line.strip()), [])
    return len(fields) == len(COLUMNS) and fields[-1].removeprefix("-").isdecimal()


def _read_trec(path: Path) -> Iterator[tuple[str, str, int, Location]]:
    fix = "Mend the line; a table with a header must be named .tsv or .csv."
    for where, (query, _, doc, raw) in read_columns(path, COLUMNS, fix=fix):
        yield query, doc, _grade(raw, replace(where, field="grade")), where


def _read_table(
    path: Path, columns: QrelsFields, coerce: bool
) -> Iterator[tuple[str, str, int, Location]]:
    queries = [columns.query] if columns.query else QUERY_FIELDS
    documents = [columns.document] if columns.document else DOCUMENT_FIELDS
    graded: bool | None = None
    for row in read_rows(path):
        query = pick_field(row, queries, what="query id", option="--qrels-query-field")
        doc = pick_field(row, documents, what="document id", option="--qrels-document-field")
        field = _grade_field(row, query, doc, columns.grade)
        if graded not in (None, field is not None):
            got, expected = "a grade" if field else "no grade", "a grade in every row, or in none"
            fix = "Write the grades that are missing: 0 is not relevant, 1 is."
            raise InputError(got, expected=expected, fix=fix, where=row.at(field))
        graded = field is not None
        grade = _grade(field_value(row, field), row.at(field)) if field else 1
        query_id = id_value(row, query, coerce=coerce)
        yield query_id, id_value(row, doc, coerce=coerce), grade, row.at()


def _grade_field(row: Row, query: str, doc: str, named: str | None) -> str | None:
    """Return the column of the grade. None where every row is a relevant document.

    named: the column that must be there. Raises InputError for other columns, of which one may
    hold the grade: rows with grade 0 must not count as relevant.
    """
    if named:
        return pick_field(row, [named], what="grade", option="--qrels-grade-field")
    columns = [name for name in GRADE_FIELDS if name in row.values]
    if len(columns) == 1:
        return columns[0]
    others = [n for n in row.values if n not in (query, doc, *ITERATION_FIELDS)]
    if not others:
        return None
    got = f"the grade may be in any of {', '.join(map(repr, columns or others))}"
    expected = f"one column of grades, called {', '.join(GRADE_FIELDS)}"
    fix = "Name it with --qrels-grade-field; without any further column every row is relevant."
    raise InputError(got, expected=expected, fix=fix, where=row.at())


def grade_of(raw: Any) -> int:
    """Return a foreign value as a grade. Raises TypeError, ValueError, OverflowError."""
    if isinstance(raw, str):
        grade = whole_number(raw.strip())
    elif isinstance(raw, bool) or not isinstance(raw, Real | Decimal):
        raise TypeError(raw)  # bytes and truth values, though Python counts them
    else:
        whole = int(raw)  # type: ignore[arg-type]  # every Real has __trunc__
        grade = whole if whole == raw else None
    if grade is None or abs(grade) > MAX_GRADE:
        raise ValueError(raw)
    return grade


def _grade(raw: Any, where: Location | str) -> int:
    try:
        return grade_of(raw)
    except (TypeError, ValueError, OverflowError) as error:
        expected = "a whole number (relevance grade)"
        fix = f"Write 0, 1, 2, ..., at most {MAX_GRADE:,}."
        raise InputError(f"{raw!r}", expected=expected, fix=fix, where=where) from error
