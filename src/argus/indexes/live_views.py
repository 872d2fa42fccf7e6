"""Which views of a remedy are new: no text is put into an index twice for one document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from argus.data.types import View
from argus.indexes.views import ViewIndex


@dataclass(frozen=True)
class NewViews:
    """The views that an index lacks, and why the others are left out."""

    views: list[View]
    known: int
    """Views whose document has a view with the same text already."""
    beyond: int
    """Views of documents that have as many views of their kind as they may have."""
    relied_on: list[str]
    """Remedies that hold what was left out: without one of them it would be missing."""


def new_views(
    views: Sequence[View], index: ViewIndex, remedy: str, most: int | None = None
) -> NewViews:
    """Sort the views of a remedy into those to add and those to leave out.

    Views that the index has of this remedy itself are left out without being counts. most: most
    views of one kind that a document may have, those counted that are in the index; the first are
    taken. Equal texts among `views` all stay: they are what a remedy's rule asks for.
    """
    rows = index.rows()
    names = ("doc_id", "text", "kind", "remedy")
    there = list(zip(*(rows[name].to_pylist() for name in names), strict=True))
    holders = {(doc_id, text): remedy for doc_id, text, _, remedy in there}
    counts = Counter((doc_id, kind) for doc_id, _, kind, _ in there)
    lacking = [view for view in views if (view.doc_id, view.text) not in holders]
    new: list[View] = []
    full: set[tuple[str, str]] = set()
    for view in lacking:
        place = (view.doc_id, view.kind)
        if most is not None and counts[place] >= most:
            full.add(place)
            continue
        counts[place] += 1
        new.append(view)
    by = [holders[key] for v in views if (key := (v.doc_id, v.text)) in holders]
    known = [holder for holder in by if holder != remedy]
    relied = {*known, *(of for doc_id, _, kind, of in there if (doc_id, kind) in full)}
    beyond = len(lacking) - len(new)
    return NewViews(new, len(known), beyond, sorted(relied - {"", remedy}))
