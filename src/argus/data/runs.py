"""Read and write runs: TREC run files (six columns) and JSON, gzipped or not."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

from argus.data.rows import read_columns, read_lines, whole_characters
from argus.data.text_files import no_file
from argus.data.types import Run
from argus.data.writing import replacing
from argus.errors import InputError, Location

RUN_FILE = "run file"
"""In place of an encoder's fingerprint, where a run is all that is known of a system."""
COLUMNS = ("query id", "Q0", "document id", "rank", "score", "tag")


def read_run(path: Path) -> Run:
    """Read a run: `.json` holds {query: {document: score}} or {query: [document, best first]}.

    Anything else is a TREC run.
    A TREC line is `query Q0 document rank score tag`, split at white space. Scores decide, as in
    trec_eval; the rank column is not read. Raises InputError naming file, line and field for a
    missing or empty file, another number of columns, a score that is no finite number, and a
    document that a query is given twice.
    """
    if not path.is_file():
        raise InputError(
            no_file(path),
            expected="a TREC run file, or JSON of {query: {document: score}} or of lists of ids",
            fix="Check the path.",
            where=path,
        )
    suffixes = [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    run = _read_json(path) if suffixes[-1:] == [".json"] else _read_trec(path)
    if not any(run.values()):
        raise InputError(
            "no result in it",
            expected="at least one document for one query",
            fix="Check that this is the right file and that writing it did not break off.",
            where=path,
        )
    return run


def write_run(path: Path, run: Run, *, tag: str = "argus") -> None:
    """Write a TREC run file, gzipped where the name ends in .gz, best document first.

    Scores are written so that reading gives back the same floats. Raises InputError for an id or a
    tag that the format cannot hold (white space, nothing).
    """
    for id_ in (tag, *run, *(doc for scores in run.values() for doc in scores)):
        if not id_ or id_.split() != [id_]:
            raise InputError(
                f"id {id_!r}",
                expected="no white space in it, since a TREC line is split there",
                fix="Write the run as JSON, or rename the id.",
                where=path,
            )
    lines = (
        f"{query} Q0 {doc} {rank} {float(run[query][doc])!r} {tag}\n"
        for query in run
        for rank, doc in enumerate(ranking(run[query]), start=1)
    )
    with replacing(path) as temporary:
        is_packed = path.suffix.lower() == ".gz"
        with (
            gzip.open(temporary, "wt", encoding="utf-8")
            if is_packed
            else temporary.open("w", encoding="utf-8")
        ) as file:
            file.writelines(lines)


def finite_scores(run: Mapping[str, Mapping[str, Any]], name: str) -> Run:
    """Return a run that comes from no file. Raises InputError for a score that ranks nowhere."""
    return {
        query: {doc: _score(raw, f"{name}[{query!r}][{doc!r}]") for doc, raw in scores.items()}
        for query, scores in run.items()
    }


def ranking(scores: dict[str, float]) -> list[str]:
    """Return the documents of one query, best first; equal scores by id."""
    return sorted(scores, key=lambda doc: (-scores[doc], doc))


def first_rank(scores: dict[str, float], relevant: Container[str]) -> int | None:
    """Return the 1-based rank of the first relevant document; None where there is none."""
    ranked = enumerate(ranking(scores), start=1)
    return next((rank for rank, doc in ranked if doc in relevant), None)


def cut(run: Run, depth: int) -> Run:
    """Return the run with the best `depth` documents of every query."""
    return {query: {d: s[d] for d in ranking(s)[:depth]} for query, s in run.items()}


def _read_trec(path: Path) -> Run:
    run: Run = {}
    fix = "Write one result per line; ids hold no white space."
    for where, (query, _, doc, _, raw, _) in read_columns(path, COLUMNS, fix=fix):
        _put(run, query, doc, _score(raw, replace(where, field="score")), where)
    return run


def _read_json(path: Path) -> Run:
    text = "".join(line for _, line in read_lines(path))
    try:
        content = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"broken JSON ({error})",
            expected="{query: {document: score}}",
            fix="Mend the file; a TREC run must not be named .json.",
            where=path,
        ) from error

    def at(field: str) -> Location:
        return Location(path, field=field)

    run: Run = {}
    for query, documents in _pairs(content, path, "the file"):
        whole_characters(query, at, query)
        if query in run:
            raise InputError(
                f"query {query!r} is given twice",
                expected="one object per query",
                fix="Remove one of the two.",
                where=at(query),
            )
        run[query] = {}
        if isinstance(documents, list) and not isinstance(documents, _Pairs):
            documents = _scored(documents, path, query)
        for doc, raw in _pairs(documents, path, query):
            field = f"{query}.{doc}"
            whole_characters(doc, at, field)
            where = at(field)
            _put(run, query, doc, _score(raw, where), where)
    return run


class _Pairs(list[tuple[str, object]]):
    """A JSON object as its pairs, so that a name that stands twice is seen."""


def _scored(documents: list[object], path: Path, query: str) -> _Pairs:
    """Return a list of ids, best first, as pairs with falling scores."""
    pairs = _Pairs()
    for place, doc in enumerate(documents):
        if not isinstance(doc, str) or not doc:
            raise InputError(
                f"{doc!r} in a list of documents",
                expected="ids as strings, best first",
                fix="Write the ids alone, or {document: score}.",
                where=Location(path, field=query),
            )
        pairs.append((doc, len(documents) - place))
    return pairs


def _pairs(value: object, path: Path, what: str) -> Sequence[tuple[str, object]]:
    if isinstance(value, _Pairs):
        return value
    raise InputError(
        f"{type(value).__name__} instead of an object",
        expected="{query: {document: score}}",
        fix="Write one object per query, document id to score.",
        where=Location(path, field=what),
    )


def _score(raw: object, where: Location | str) -> float:
    score = math.nan
    is_odd = isinstance(raw, str) and ("_" in raw or not raw.isascii())  # Python reads 1_000
    if isinstance(raw, str | Real) and not isinstance(raw, bool) and not is_odd:
        with suppress(ValueError, OverflowError):
            score = float(raw)
    if not math.isfinite(score):
        raise InputError(
            f"{raw!r}",
            expected="a finite number",
            fix="Leave out what has no score: a result without one has no rank.",
            where=where,
        )
    return score


def _put(run: Run, query: str, doc: str, score: float, where: Location) -> None:
    documents = run.setdefault(query, {})
    if doc in documents:
        raise InputError(
            f"document {doc!r} is given twice for query {query!r}",
            expected="each document once per query",
            fix="Keep the line with the better score (one view of a document is one result).",
            where=where,
        )
    documents[doc] = score
