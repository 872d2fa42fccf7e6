"""Read, write and cut runs: TREC run files (six columns) and JSON, gzipped or not.

A run may have to leave out documents of a query before it is scored (BRIGHT): the question's own
post lies in the corpus, and finding it is no success. Retrieve `spare` more results than k, then
k are left by `without_excluded`.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

from argus.data.documents import QUERY_ID_FIELDS
from argus.data.reading import check_file, nothing_in, read_columns, read_lines, reading
from argus.data.rows import Row, id_value, pick_field, read_rows, suffix_of, whole_characters
from argus.data.types import Run
from argus.data.writing import replacing
from argus.errors import InputError, Location

RUN_FILE = "run file"  # in place of an encoder's fingerprint, where a run is all that is known
COLUMNS = ("query id", "Q0", "document id", "rank", "score", "tag")
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
    if suffix_of(path) == ".json":
        run = _read_json(path)
    else:
        run = {}
        fix = "Write one result per line; ids hold no white space."
        for where, (query, _, doc, _, raw, _) in read_columns(path, COLUMNS, fix=fix):
            _put(run, query, doc, _score(raw, replace(where, field="score")), where)
    if not any(run.values()):
        raise nothing_in(path, "result", "at least one document for one query")
    return run


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs: a name may stand twice."""


def _read_json(path: Path) -> Run:
    at, form = partial(Location, path, None), "{query: {document: score}}"
    text = "".join(line for _, line in read_lines(path))
    fix = "Mend the file; a TREC run must not be named .json."
    with reading(path, "broken JSON", expected=form, fix=fix):
        content = json.loads(text, object_pairs_hook=_Pairs)

    def pairs(value: object, field: str) -> _Pairs:
        if isinstance(value, _Pairs):
            return value
        got = f"{type(value).__name__} instead of an object"
        fix = "Write one object per query: document id to score, or a list of ids, best first."
        raise InputError(got, expected=form, fix=fix, where=at(field))

    run: Run = {}
    for query, documents in pairs(content, "the file"):
        whole_characters(query, at, query)
        if query in run:
            got, fix = f"query {query!r} is given twice", "Remove one of the two."
            raise InputError(got, expected="one object per query", fix=fix, where=at(query))
        run[query] = {}
        is_list = isinstance(documents, list) and not isinstance(documents, _Pairs)
        if is_list and all(isinstance(doc, str) and doc for doc in documents):
            documents = _Pairs(zip(documents, range(len(documents), 0, -1), strict=True))
        for doc, raw in pairs(documents, query):
            where = at(f"{query}.{doc}")
            whole_characters(doc, at, f"{query}.{doc}")
            _put(run, query, doc, _score(raw, where), where)
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


def _put(run: Run, query: str, doc: str, score: float, where: Location) -> None:
    documents = run.setdefault(query, {})
    if doc in documents:
        got = f"document {doc!r} is given twice for query {query!r}"
        fix = "Keep the line with the better score (one view of a document is one result)."
        raise InputError(got, expected="each document once per query", fix=fix, where=where)
    documents[doc] = score
