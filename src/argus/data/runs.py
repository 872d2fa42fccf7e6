"""Read and write rankings (runs) and relevance judgements (qrels): TREC files, JSON and tables.

`read_run` -> {query: {document: score}}, `read_qrels` -> {query: {document: grade}}, gzipped or
not. Some tasks exclude documents from a query's results (BRIGHT: the question's own post lies in
the corpus). Retrieve `spare` more results than k, then `without_excluded` leaves k.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

from argus.data.documents import QUERY_ID_FIELDS
from argus.data.fields import QrelsFields
from argus.data.reading import check_file, nothing_in, parse_json, read_columns, read_lines, reading
from argus.data.rows import (
    FORMATS,
    Row,
    field_value,
    id_value,
    pick_field,
    read_rows,
    suffix_of,
    whole_characters,
    whole_number,
)
from argus.data.types import Qrels, Run
from argus.data.writing import replacing
from argus.errors import InputError, Location

QRELS_COLUMNS = ("query id", "iteration", "document id", "grade")
QUERY_FIELDS = ("query-id", "query_id", "qid", "topic", "question_id", "question-id", "query",
                "question")  # fmt: skip
DOCUMENT_FIELDS = (
    "corpus-id", "corpus_id", "chunk_id", "chunk-id", "doc_id", "doc-id", "docid", "docno",
    "document_id", "document-id", "document", "doc",
)  # fmt: skip
GRADE_FIELDS = ("score", "rel", "relevance", "label", "grade", "judgment", "judgement", "relevant")
ITERATION_FIELDS = ("iteration", "iter", "Q0", "q0")
MAX_GRADE = 1_000_000  # and the lowest below zero: sums of gains hold little more
RUN_FILE = "run file"  # in place of an encoder's fingerprint, where a run is all that is known
RUN_COLUMNS = ("query id", "Q0", "document id", "rank", "score", "tag")
Excluded = Mapping[str, frozenset[str]]  # documents that the results of a query must not hold
EXCLUDED_FIELD = "excluded_ids"
EXCLUDES_NOTHING = "N/A"  # BRIGHT's word for a query that excludes no document


def read_run(path: Path) -> Run:
    """Read a run: `.json` holds {query: {document: score}} or {query: [document, best first]}.

    Any other file is a TREC run: `query Q0 document rank score tag`, split at white space. Scores
    decide, as in trec_eval. The rank column is ignored. Raises InputError naming file, line and
    field for a missing or empty file, another number of columns, a score that is no finite number,
    and a document that a query is given twice.
    """
    check_file(path, "a TREC run file, or JSON of {query: {document: score}} or of lists of ids")
    run: Run = {}
    if suffix_of(path) == ".json":
        form = "{query: {document: score}}, or lists of ids, best first"
        text = "".join(line for _, line in read_lines(path))
        fix = "Mend the file; a TREC run must not be named .json."
        with reading(path, "cannot be read as a run", expected=form, fix=fix):
            for query, given in parse_json(text).items():
                if isinstance(given, list):
                    given = dict(zip(given, range(len(given), 0, -1), strict=True))
                run[query] = {}
                for doc, raw in given.items():
                    "".join((query, doc)).encode()  # ids that nothing can write are refused
                    run[query][doc] = _score(raw, Location(path, None, f"{query}.{doc}"))
    else:
        fix = "Write one result per line; ids hold no white space."
        for where, (query, _, doc, _, raw, _) in read_columns(path, RUN_COLUMNS, fix=fix):
            documents = run.setdefault(query, {})
            if doc in documents:
                got = f"document {doc!r} is given twice for query {query!r}"
                fix = "Keep the line with the better score."
                expected = "each document once per query"
                raise InputError(got, expected=expected, fix=fix, where=where)
            documents[doc] = _score(raw, replace(where, field="score"))
    if not any(run.values()):
        raise nothing_in(path, "result", "at least one document for one query")
    return run


def write_run(path: Path, run: Run) -> None:
    """Write a TREC run file, gzipped where the name ends in .gz, best document first.

    Scores are written so that reading gives back the same floats. Raises InputError for an id
    that the format cannot hold (white space, nothing).
    """
    for id_ in (*run, *(doc for scores in run.values() for doc in scores)):
        if not id_ or id_.split() != [id_]:
            expected = "no white space in it, since a TREC line is split there"
            fix = "Write the run as JSON, or rename the id."
            raise InputError(f"id {id_!r}", expected=expected, fix=fix, where=path)
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with replacing(path) as temporary, opened(temporary, "wt", encoding="utf-8") as file:
        file.writelines(
            f"{query} Q0 {doc} {rank} {float(run[query][doc])!r} argus\n"
            for query in run
            for rank, doc in enumerate(ranking(run[query]), start=1)
        )


def finite_scores(run: Mapping[str, Mapping[str, Any]], name: str) -> Run:
    """Return the run of a program. Raises InputError for a score that is no finite number."""
    return {
        query: {doc: _score(raw, f"{name}[{query!r}][{doc!r}]") for doc, raw in scores.items()}
        for query, scores in run.items()
    }


def ranking(scores: dict[str, float]) -> list[str]:
    """Return the documents of one query, best first. Equal scores by id."""
    return sorted(scores, key=lambda doc: (-scores[doc], doc))


def first_rank(scores: dict[str, float], relevant: Container[str]) -> int | None:
    """Return the 1-based rank of the first relevant document. None where there is none."""
    ranked = enumerate(ranking(scores), start=1)
    return next((rank for rank, doc in ranked if doc in relevant), None)


def cut(run: Run, depth: int) -> Run:
    """Return the run with the best `depth` documents of every query."""
    return {query: {d: s[d] for d in ranking(s)[:depth]} for query, s in run.items()}


def read_excluded(path: Path) -> dict[str, frozenset[str]]:
    """Read the documents that each query excludes: rows with an id and `excluded_ids`, a list.

    The examples of BRIGHT are such a file. Queries that exclude nothing are left out. Raises
    InputError naming file, line and field for a missing column, ids that are no text, and a query
    that stands twice.
    """
    excluded: dict[str, frozenset[str]] = {}
    for row in read_rows(path):
        pick_field(row, [EXCLUDED_FIELD], what="list of excluded documents")
        query = id_value(row, pick_field(row, QUERY_ID_FIELDS, what="query id"))
        if query in excluded:
            got, fix = f"query {query!r} stands twice", "Write all that it excludes into one row."
            raise InputError(got, expected="one row per query", fix=fix, where=row.at())
        excluded[query] = frozenset(read_id_list(row, EXCLUDED_FIELD)) - {EXCLUDES_NOTHING}
    return {query: ids for query, ids in excluded.items() if ids}


def read_id_list(row: Row, field: str) -> tuple[str, ...]:
    """Return the document ids of a field, each once: a list of texts, or nothing."""
    values = row.values.get(field)
    if values is None:
        return ()
    if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
        expected, fix = "a list of document ids, as text", "Write each id in quotes."
        raise InputError(f"{values!r:.60}", expected=expected, fix=fix, where=row.at(field))
    return tuple(dict.fromkeys(whole_characters(value, row.at, field) for value in values))


def without_excluded(run: Run, excluded: Excluded, depth: int | None = None) -> Run:
    """Return the run without excluded documents, cut to `depth` results per query if given."""
    rest = {
        query: {doc: score for doc, score in scores.items() if doc not in own}
        for query, scores in run.items()
        for own in [excluded.get(query, ())]
    }
    return rest if depth is None else cut(rest, depth)


def spare(excluded: Excluded) -> int:
    """Return the largest number of documents that a query excludes: retrieve so many more."""
    return max(map(len, excluded.values()), default=0)


def _score(raw: object, where: Location | str) -> float:
    score = math.nan
    is_odd = isinstance(raw, str) and ("_" in raw or not raw.isascii())  # Python reads 1_000
    if isinstance(raw, str | Real) and not isinstance(raw, bool) and not is_odd:
        with suppress(ValueError, OverflowError):
            score = float(raw)
    if not math.isfinite(score):
        fix = "Leave out what has no score: a result without one has no rank."
        raise InputError(f"{raw!r}", expected="a finite number", fix=fix, where=where)
    return score


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
    fix = "Mend the line; a table with a header must be named .tsv or .csv."
    rows: Iterable[tuple[str, str, int, Location]] = (
        (query, doc, _grade(raw, replace(where, field="grade")), where)
        for where, (query, _, doc, raw) in read_columns(path, QRELS_COLUMNS, fix=fix)
    )
    if is_table:
        rows = _read_table(path, columns, coerce_ids)
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
        return path.is_file() and suffix not in FORMATS
    fields = next((line.split() for _, line in read_lines(path) if line.strip()), [])
    return len(fields) == len(QRELS_COLUMNS) and fields[-1].removeprefix("-").isdecimal()


def _read_table(
    path: Path, columns: QrelsFields, coerce: bool
) -> Iterator[tuple[str, str, int, Location]]:
    queries = [columns.query] if columns.query else QUERY_FIELDS
    documents = [columns.document] if columns.document else DOCUMENT_FIELDS
    for row in read_rows(path):
        query = pick_field(row, queries, what="query id", option="--qrels-query-field")
        doc = pick_field(row, documents, what="document id", option="--qrels-document-field")
        grades = [columns.grade] if columns.grade else [n for n in GRADE_FIELDS if n in row.values]
        others = [n for n in row.values if n not in (query, doc, *ITERATION_FIELDS)]
        grade = 1  # without any further column every row is relevant
        if columns.grade or len(grades) == 1:
            field = pick_field(row, grades, what="grade", option="--qrels-grade-field")
            grade = _grade(field_value(row, field), row.at(field))
        elif others:  # one may hold the grade: rows with grade 0 must not count as relevant
            got = f"the grade may be in any of {', '.join(map(repr, grades or others))}"
            expected = f"one column of grades, called {', '.join(GRADE_FIELDS)}"
            fix = "Name it with --qrels-grade-field; with no such column every row is relevant."
            raise InputError(got, expected=expected, fix=fix, where=row.at())
        asked, judged = (id_value(row, column, coerce=coerce) for column in (query, doc))
        yield asked, judged, grade, row.at()


def grade_of(raw: Any) -> int:
    """Return a foreign value as a grade. Raises ValueError, TypeError, OverflowError for others."""
    grade = whole_number(raw.strip()) if isinstance(raw, str) else int(raw)
    is_number = isinstance(raw, str | Real | Decimal) and not isinstance(raw, bool)
    if grade is None or not is_number or abs(grade) > MAX_GRADE or grade != float(raw):
        raise ValueError(raw)
    return grade


def _grade(raw: Any, where: Location | str) -> int:
    try:
        return grade_of(raw)
    except (TypeError, ValueError, OverflowError) as error:
        expected = "a whole number (relevance grade)"
        fix = f"Write 0, 1, 2, ..., at most {MAX_GRADE:,}."
        raise InputError(f"{raw!r}", expected=expected, fix=fix, where=where) from error
