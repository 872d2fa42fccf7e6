"""Documents that are taken out of a query's results before these are scored (BRIGHT).

A question's own post, or the passage that it was made of, lies in the corpus, and finding it is no
success. Who is asked for k results is asked for `spare` more, so that k are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from argus.data.corpus import QUERY_ID_FIELDS
from argus.data.rows import Row, id_value, pick_field, read_rows, whole_characters
from argus.data.runs import cut
from argus.data.types import Run
from argus.errors import InputError

Excluded = Mapping[str, frozenset[str]]
"""Query id to the documents that its results must not hold."""
FIELD = "excluded_ids"
NOTHING = "N/A"
"""What BRIGHT writes where a query excludes nothing."""


def read_excluded(path: Path) -> dict[str, frozenset[str]]:
    """Read what each query excludes: rows with an id and `excluded_ids`, a list of document ids.

    The examples of BRIGHT are such a file. Queries that exclude nothing are left out. Raises
    InputError naming file, line and field for a missing column, ids that are no text, and a query
    that stands twice.
    """
    excluded: dict[str, frozenset[str]] = {}
    for row in read_rows(path):
        pick_field(row, [FIELD], what="list of excluded documents")
        query = id_value(row, pick_field(row, QUERY_ID_FIELDS, what="query id"))
        if query in excluded:
            raise InputError(
                f"query {query!r} stands twice",
                expected="one row per query",
                fix="Write all that it excludes into one row.",
                where=row.at(),
            )
        excluded[query] = frozenset(ids_of(row, FIELD)) - {NOTHING}
    return {query: ids for query, ids in excluded.items() if ids}


def ids_of(row: Row, field: str) -> tuple[str, ...]:
    """Return the document ids of a field, each once: a list of texts, or nothing."""
    values = row.values.get(field)
    if values is None:
        return ()
    if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
        raise InputError(
            f"{values!r:.60}",
            expected="a list of document ids, as text",
            fix="Write each id in quotes.",
            where=row.at(field),
        )
    return tuple(dict.fromkeys(whole_characters(value, row.at, field) for value in values))


def without_excluded(run: Run, excluded: Excluded, depth: int | None = None) -> Run:
    """Return the run without what each query excludes; then, of every query, `depth` results."""
    nothing: frozenset[str] = frozenset()
    rest = {
        query: {doc: score for doc, score in scores.items() if doc not in own}
        for query, scores in run.items()
        for own in [excluded.get(query, nothing)]
    }
    return rest if depth is None else cut(rest, depth)


def spare(excluded: Excluded) -> int:
    """Return how many documents a query excludes at most: so many results more are asked for."""
    return max(map(len, excluded.values()), default=0)
