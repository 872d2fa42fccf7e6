"""Read judgements: BEIR tables (`query-id`, `corpus-id`, `score`) and TREC qrels (four columns)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from argus.data.rows import FORMATS, id_value, pick_field, read_lines, read_rows
from argus.data.types import Qrels
from argus.errors import InputError, Location

COLUMNS = ("query id", "iteration", "document id", "grade")
Judgement = tuple[str, str, int, Location]


def read_qrels(path: Path) -> Qrels:
    """Read judgements, gzipped or not.

    A TSV, CSV, JSONL or Parquet file has columns query-id, corpus-id and score (1 where there is
    none). A file of any other ending, and a .tsv without such a header, is a TREC file: `query 0
    document grade`, split at white space; the second column is not read. Raises InputError naming
    file, line and field for a missing or empty file, missing columns, a grade that is no whole
    number, and a document that a query is given twice with different grades.
    """
    qrels: Qrels = {}
    for query, doc, grade, where in _trec(path) if _is_trec(path) else _table(path):
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


def _is_trec(path: Path) -> bool:
    """Whether a file that is there holds four columns without a header, by ending or content."""
    endings = [s.lower() for s in path.suffixes if s.lower() != ".gz"][-1:]
    if not path.is_file() or (endings != [".tsv"] and set(endings) & set(FORMATS)):
        return False
    if endings != [".tsv"]:
        return True
    fields = next((line.split() for _, line in read_lines(path) if line.strip()), [])
    return len(fields) == len(COLUMNS) and fields[-1].removeprefix("-").isdecimal()


def _trec(path: Path) -> Iterator[Judgement]:
    for number, line in read_lines(path):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != len(COLUMNS):
            raise InputError(
                f"{len(fields)} columns",
                expected=f"four, split at white space: {', '.join(COLUMNS)}",
                fix="Mend the line; a table with a header must be named .tsv or .csv.",
                where=Location(path, number),
            )
        query, _, doc, raw = fields
        yield query, doc, _grade(raw, Location(path, number, "grade")), Location(path, number)


def _table(path: Path) -> Iterator[Judgement]:
    for row in read_rows(path):
        query = pick_field(row, ("query-id", "query_id", "qid"), what="query id", option="a rename")
        doc = pick_field(
            row, ("corpus-id", "doc_id", "docid"), what="document id", option="a rename"
        )
        grade = _grade(row.values.get("score", "1"), row.at("score"))
        yield id_value(row, query), id_value(row, doc), grade, row.at()


def _grade(raw: Any, where: Location) -> int:
    try:
        grade = int(raw)
        if isinstance(raw, float) and raw != grade:
            raise ValueError(raw)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{raw!r}",
            expected="a whole number (relevance grade)",
            fix="Write 0, 1, 2, ...",
            where=where,
        ) from error
    return grade
