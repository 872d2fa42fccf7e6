"""Read judgements: BEIR tables (`query-id`, `corpus-id`, `score`) and TREC qrels (four columns)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

from argus.data.rows import (
    ARROW,
    FORMATS,
    Row,
    id_value,
    pick_field,
    read_columns,
    read_lines,
    read_rows,
)
from argus.data.types import Qrels
from argus.data.whole_numbers import whole_number
from argus.errors import InputError, Location

COLUMNS = ("query id", "iteration", "document id", "grade")
QUERY_FIELDS = ("query-id", "query_id", "qid", "topic")
DOCUMENT_FIELDS = ("corpus-id", "corpus_id", "doc_id", "doc-id", "docid", "docno", "document_id")
GRADE_FIELDS = ("score", "rel", "relevance", "label", "grade", "judgment", "judgement")
ITERATION_FIELDS = ("iteration", "iter", "Q0", "q0")
HIGHEST = 1_000_000
"""Of grades, and the lowest below zero: gains are summed in numbers that hold little more."""
Judgement = tuple[str, str, int, Location]


def read_qrels(path: Path, *, coerce_ids: bool = False) -> Qrels:
    """Read judgements, gzipped or not. coerce_ids: whole numbers in a table are ids, too.

    A TSV, CSV, JSONL or Parquet file has columns query-id, corpus-id and score, or other usual
    names of these (QUERY_FIELDS, DOCUMENT_FIELDS, GRADE_FIELDS); every grade is 1 where there is no
    column beyond query, document and iteration. A file of any other ending, and a .tsv without such
    a header, is a TREC file: `query 0 document grade`, split at white space; the second column is
    not read. Raises InputError naming file, line and field for a missing or empty file, missing
    columns, columns of which none or several may hold the grade, a grade that is no whole number,
    and a document that a query is given twice with different grades.
    """
    qrels: Qrels = {}
    for query, doc, grade, where in _judgements(path, coerce_ids):
        earlier = qrels.setdefault(query, {}).setdefault(doc, grade)
        if earlier != grade:
            raise InputError(
                f"document {doc!r} is graded {grade} for query {query!r}, and {earlier} before",
                expected="one grade per document and query",
                fix="Remove the judgement that is wrong.",
                where=where,
            )
    if not qrels:
        raise InputError(
            "no judgement in it",
            expected="at least one row of query-id, corpus-id, score",
            fix="Check that this is the right file.",
            where=path,
        )
    return qrels


def _judgements(path: Path, coerce_ids: bool) -> Iterator[Judgement]:
    return _trec(path) if _is_trec(path) else _table(path, coerce_ids)


def _is_trec(path: Path) -> bool:
    """Whether a file that is there holds four columns without a header, by ending or content."""
    endings = [s.lower() for s in path.suffixes if s.lower() != ".gz"][-1:]
    if not path.is_file() or (endings != [".tsv"] and set(endings) & {*FORMATS, ARROW}):
        return False
    if endings != [".tsv"]:
        return True
    fields = next((line.split() for _, line in read_lines(path) if line.strip()), [])
    return len(fields) == len(COLUMNS) and fields[-1].removeprefix("-").isdecimal()


def _trec(path: Path) -> Iterator[Judgement]:
    fix = "Mend the line; a table with a header must be named .tsv or .csv."
    for where, (query, _, doc, raw) in read_columns(path, COLUMNS, fix=fix):
        yield query, doc, _grade(raw, replace(where, field="grade")), where


def _table(path: Path, coerce: bool) -> Iterator[Judgement]:
    graded: bool | None = None
    for row in read_rows(path):
        query = pick_field(row, QUERY_FIELDS, what="query id")
        doc = pick_field(row, DOCUMENT_FIELDS, what="document id")
        field = _grade_field(row, query, doc)
        if graded not in (None, field is not None):
            raise InputError(
                "a grade" if field else "no grade",
                expected="a grade in every row, or in none",
                fix="Write the grades that are missing: 0 is not relevant, 1 is.",
                where=row.at(field),
            )
        graded = field is not None
        grade = _grade(row.values[field], row.at(field)) if field else 1
        query_id = id_value(row, query, coerce=coerce)
        yield query_id, id_value(row, doc, coerce=coerce), grade, row.at()


def _grade_field(row: Row, query: str, doc: str) -> str | None:
    """Return the column of the grade; None where every row is a relevant document.

    Raises InputError for other columns, of which one may hold the grade: rows with grade 0 must
    not count as relevant.
    """
    columns = [name for name in GRADE_FIELDS if name in row.values]
    if len(columns) == 1:
        return columns[0]
    others = [n for n in row.values if n not in (query, doc, *ITERATION_FIELDS)]
    if not others:
        return None
    raise InputError(
        f"the grade may be in any of {', '.join(map(repr, columns or others))}",
        expected=f"one column of grades, called {', '.join(GRADE_FIELDS)}",
        fix="Call it score, and remove or rename what else is called so; without any further "
        "column every row is relevant.",
        where=row.at(),
    )


def whole_grades(qrels: Mapping[str, Mapping[str, Any]]) -> Qrels:
    """Return judgements that come from no file. Raises InputError for a grade as a file's would."""
    return {
        query: {doc: _grade(raw, f"qrels[{query!r}][{doc!r}]") for doc, raw in grades.items()}
        for query, grades in qrels.items()
    }


def grade_of(raw: Any) -> int:
    """Return the grade that a foreign value is. Raises TypeError, ValueError, OverflowError."""
    grade = whole_number(raw.strip()) if isinstance(raw, str) else _whole(raw)
    if grade is None or abs(grade) > HIGHEST:
        raise ValueError(raw)
    return grade


def _whole(raw: Any) -> int | None:
    """Return a number that is whole; bytes and truth values are none, though Python counts them."""
    if isinstance(raw, bool) or not isinstance(raw, (Real, Decimal)):
        raise TypeError(raw)
    whole = int(raw)  # type: ignore[arg-type]  # every Real has __trunc__
    return whole if whole == raw else None


def _grade(raw: Any, where: Location | str) -> int:
    try:
        return grade_of(raw)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{raw!r}",
            expected="a whole number (relevance grade)",
            fix=f"Write 0, 1, 2, ..., at most {HIGHEST:,}.",
            where=where,
        ) from error
