"""Name the figures to compare from run to run: a table's column, one value per item.

Every value lies in 0..1 and more is better, so that one test and one direction serve all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

Values = list[float | None]
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Tracked:
    """One job's table. id: its key, of several columns joined. settings: those that must agree.

    read: from the table to the values of each figure, None where an item was not measured. columns:
    columns to read, by default all. unique: whether no key comes twice.
    """

    table: str
    id: tuple[str, ...]
    unit: str
    settings: tuple[str, ...]
    read: Callable[[pa.Table], dict[str, Values]]
    columns: tuple[str, ...] | None = None
    unique: bool = True


def _column(table: pa.Table, name: str) -> list[float | None]:
    if name not in table.column_names:
        return [None] * table.num_rows
    return [None if v is None else float(v) for v in table[name].to_pylist()]


def _exposure(table: pa.Table) -> dict[str, Values]:
    own, back = _column(table, "own_probes"), _column(table, "retrieved_by_own")
    shares = [b / n if n and b is not None else None for n, b in zip(own, back, strict=True)]
    never = _column(table, "never_retrieved")
    return {
        "found by its own title and sentences": shares,
        "ever retrieved": [None if v is None else 1 - v for v in never],
    }


def _audit(table: pa.Table) -> dict[str, Values]:
    return {"RPS": _column(table, "rps")}


def _evaluation(table: pa.Table) -> dict[str, Values]:
    """Return the measures of the last system: the one after a change, or the only one."""
    names = [n for n in table.column_names if n.partition("@")[0] in ("nDCG", "R", "RR")]
    plain = [n for n in names if not n.endswith((" before", " after", " difference"))]
    of_last = {n: n for n in plain} or {
        n.removesuffix(" after"): n for n in table.column_names if n.endswith(" after")
    }
    skipped = ("rank", "not_indexed")
    return {
        figure: _column(table, column)
        for figure, column in of_last.items()
        if not figure.startswith(skipped)
    }


def _questions(table: pa.Table) -> dict[str, Values]:
    ranks = _column(table, "rank")
    hits = [float(rank is not None and rank <= DEPTH) for rank in ranks]
    return {f"relevant in the top {DEPTH}": list(hits)}


def _needs(table: pa.Table) -> dict[str, Values]:
    return {"RPS of needs": _column(table, "rps")}


def _needs_served(table: pa.Table) -> dict[str, Values]:
    return {"needs found": _column(table, "found")}


def _authority(table: pa.Table) -> dict[str, Values]:
    return {
        f"controlling document found by {proxy}": _column(table, f"{proxy}_reachable")
        for proxy in ("title", "text")
    }


def _traffic(table: pa.Table) -> dict[str, Values]:
    """Return for each question of a log whether it had results, and the feedback on them."""
    results, good, bad = (_column(table, name) for name in ("results", "good", "bad"))
    signs = [(g or 0.0, b or 0.0) for g, b in zip(good, bad, strict=True)]
    return {
        "something came back": [None if n is None else float(n > 0) for n in results],
        "good feedback": [g / (g + b) if g + b else None for g, b in signs],
    }


def _judging(table: pa.Table) -> dict[str, Values]:
    failures = _column(table, "failure")
    return {
        "judged relevant in the top k": [None if v is None else 1 - v for v in failures],
        "nDCG of what came": _column(table, "ndcg"),
    }


# By the name that a job has in summary.json.
TRACKED: Mapping[str, Tracked] = {
    "audit": Tracked("retrievability", ("id",), "entities", ("k", "pool", "pooling"), _audit),
    "exposure": Tracked(
        "exposure", ("id",), "documents", ("k", "sentences", "parent_field"), _exposure
    ),
    "evaluation": Tracked("per_query", ("query_id",), "questions", ("parent_field",), _evaluation),
    "questions": Tracked("questions", ("query_id",), "questions", (), _questions),
    "needs": Tracked("need_audit", ("id",), "documents", ("k", "rps", "pool"), _needs),
    "needs_served": Tracked("needs_served", ("id",), "documents", ("k",), _needs_served),
    "traffic": Tracked(
        "questions",
        ("question",),
        "questions",
        ("k",),
        _traffic,
        ("question", "results", "good", "bad"),
        unique=False,  # texts, from which secrets were taken
    ),
    "judging": Tracked("judging", ("query_id",), "questions", ("k", "relevant_from"), _judging),
    "authority": Tracked("authority", ("superseded", "controlling"), "pairs", ("k",), _authority),
}
