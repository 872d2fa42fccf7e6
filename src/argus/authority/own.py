"""A supersession rule that a user wrote: a function of a file that pairs records.

def rule(records):  # each with id, type, time, title, text, entities and metadata
    return [(superseder_id, superseded_id), ...]
"""

from __future__ import annotations

from collections.abc import Sequence

from argus.authority.records import Record
from argus.authority.rules import Edge
from argus.errors import ArgusError
from argus.python_file import call_own, load_own

EXPECTED = "a function of records that returns pairs of ids: (superseder, superseded)"


def own_edges(spec: str, records: Sequence[Record]) -> list[Edge]:
    """Return the supersessions that a user's rule finds among records. spec: `FILE.py:NAME`.

    Raises InputError for a file without such a function, ArgusError where it fails, and where it
    names an id that no record has.
    """
    _, rule = load_own(spec, callable, EXPECTED)
    found = call_own(spec, rule, list(records))
    known = {record.id for record in records}
    edges = []
    try:
        for superseder, superseded in found:
            edges.append(Edge(superseder, superseded, rule=spec))
    except (TypeError, ValueError) as error:
        raise ArgusError(f"{spec} returned something else; expected {EXPECTED}.") from error
    for edge in edges:
        if unknown := next((i for i in (edge.superseder, edge.superseded) if i not in known), None):
            raise ArgusError(f"{spec} names {unknown!r}, an id that no record has.")
    return edges
