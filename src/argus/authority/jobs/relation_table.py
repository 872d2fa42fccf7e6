"""What the rules of an authority relation found in the records, as a table."""

from __future__ import annotations

from argus.authority.jobs.summary import RelationSummary
from argus.reports.section import Table, table


def rules(relation: RelationSummary) -> Table:
    """Return one row per rule; where there are only edges, one for them."""
    columns = {
        "rule": "text",
        "can supersede": "count",
        "can be superseded": "count",
        "superseded": "count",
        "pairs": "count",
        "undecided": "count",
        "without scope key": "count",
        "without time": "count",
    }
    rows: list[list[object]] = [
        [
            rule["rule"], rule["superseding"], rule["superseded"], rule["retired"], rule["edges"],
            rule["undecided"], rule["no_scope"], rule["no_time"],
        ]
        for rule in relation["rules"]
    ]  # fmt: skip
    if relation["given_edges"]:
        rows.append(["edges given", *[None] * 3, relation["given_edges"], *[None] * 3])
    return table(columns, rows)
