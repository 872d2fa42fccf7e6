"""What remedies put into an index, and the original that is served whatever they added."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from argus.data.reading import record_of
from argus.data.types import View
from argus.errors import InputError
from argus.indexes.recipes import Recipe
from argus.indexes.summary import RemedyInIndex
from argus.indexes.table import quoted

ORIGINAL = "original"
"""`as_of` this: the index without any remedy's views. Also the kind of a document's own text."""
BEFORE = "before:"
"""`as_of` this and a remedy's id: the index right after the remedy, less the remedy's own views."""
REMEDY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class RemedyViews:
    """What one remedy put into the index, and what that takes."""

    id: str
    views: int
    documents: int
    bytes: int
    """Text in UTF-8 and vector, as stored before compression."""
    added: int
    """Number of its last commit; later remedies have larger ones."""

    def record(self) -> RemedyInIndex:
        """Return it as it stands in summary.json."""
        return record_of(RemedyInIndex, self)


def grouped(rows: Any, vector_bytes: int, recipes: Sequence[Recipe] = ()) -> list[RemedyViews]:
    """Return one entry per remedy of an Arrow table of `remedy, doc_id, text, added`.

    recipes: what remedies say of the search; one may have no view.
    """
    import pyarrow.compute as pc

    size = pc.add(pc.binary_length(rows["text"]), vector_bytes)
    groups = rows.append_column("bytes", size).group_by("remedy")
    sums = groups.aggregate(
        [("doc_id", "count"), ("doc_id", "count_distinct"), ("bytes", "sum"), ("added", "max")]
    )
    remedies = [
        RemedyViews(
            row["remedy"], row["doc_id_count"], row["doc_id_count_distinct"],
            row["bytes_sum"], row["added_max"],
        )
        for row in sums.to_pylist()
    ]  # fmt: skip
    of = {recipe.remedy: recipe.added for recipe in recipes}
    remedies = [replace(r, added=max(r.added, of.pop(r.id, 0))) for r in remedies]
    remedies += [RemedyViews(remedy, 0, 0, 0, added) for remedy, added in of.items()]
    return sorted(remedies, key=lambda r: (r.added, r.id))


def find_remedy(remedy: str, there: Sequence[RemedyViews], where: Path) -> RemedyViews:
    """Return the remedy of this id; InputError names those that there are."""
    known = {r.id: r for r in there}
    if remedy not in known:
        raise InputError(
            f"unknown remedy {remedy!r}",
            expected=f"one of {', '.join(known)}" if known else "a remedy; there is none",
            fix="Check the id.",
            where=where,
        )
    return known[remedy]


def state_condition(as_of: str, there: Sequence[RemedyViews], where: Path) -> str:
    """Return the SQL condition of a state; InputError for a remedy that is not `there`.

    A remedy: what of its moment is still there. "before:REMEDY": the same documents, without what
    the remedy added to them. Views that were rolled back and deleted documents are in no state.
    """
    if as_of == ORIGINAL:
        return "remedy = ''"
    remedy = find_remedy(as_of.removeprefix(BEFORE), there, where)
    own = f" AND remedy != {quoted([remedy.id])}" if as_of.startswith(BEFORE) else ""
    return f"added <= {remedy.added}{own}"


def recipes_of(
    as_of: str | None, recipes: Sequence[Recipe], there: Sequence[RemedyViews], where: Path
) -> list[Recipe]:
    """Return the recipes that count in a state; errors as for `state_condition`."""
    if as_of is None:
        return list(recipes)
    if as_of == ORIGINAL:
        return []
    remedy = find_remedy(as_of.removeprefix(BEFORE), there, where)
    own = remedy.id if as_of.startswith(BEFORE) else None
    return [r for r in recipes if r.added <= remedy.added and r.remedy != own]


def check_remedy_id(remedy: str) -> None:
    """Raise InputError unless `remedy` is "" or can stand in INDEX@REMEDY."""
    if remedy and (not REMEDY_ID.fullmatch(remedy) or remedy == ORIGINAL):
        raise InputError(
            f"remedy id {remedy!r}",
            expected=f"letters, digits, '.', '_' and '-', and not {ORIGINAL!r}",
            fix="For example expand-1.",
        )


def served(views: Sequence[View]) -> View:
    """Return the original among one document's views; InputError when there is none."""
    original = next((view for view in views if view.kind == ORIGINAL), None)
    if original is None:
        raise InputError(
            f"document {views[0].doc_id!r} has no view of kind {ORIGINAL!r}",
            expected="one original view per document",
            fix="Add the document's own text to the index.",
        )
    return original
