"""Documents of an index by what their titles or ids hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from argus.indexes.remedy_views import ORIGINAL
from argus.indexes.snapshot import Snapshot

MOST = 20
"""Documents that are offered at a time."""


@dataclass(frozen=True, slots=True)
class Titled:
    """A document by its id and title."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document's own text; "" where the index holds none of its own."""

    id: str
    title: str
    text: str


def titled(snapshot: Snapshot, words: str, most: int = MOST) -> list[Titled]:
    """Return documents whose id or title holds some words, whole titles first, then short ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not words.strip():
        return []
    columns = snapshot.columns
    text = words.strip()
    is_one = pc.or_(
        pc.match_substring(columns["source"], text, ignore_case=True),
        pc.match_substring(columns["doc_id"], text, ignore_case=True),
    )
    rows: pa.Table = columns.filter(pc.and_(is_one, pc.equal(columns["kind"], ORIGINAL)))
    rows = rows.select(["doc_id", "source"]).slice(0, 50 * most)
    pairs = (Titled(r["doc_id"], r["source"] or "") for r in rows.to_pylist())
    return nearest_titles(pairs, text, most)


def nearest_titles(pairs: Iterable[Titled], words: str, most: int = MOST) -> list[Titled]:
    """Return those that come nearest to some words, whole titles first."""
    low = words.strip().casefold()
    return sorted(pairs, key=lambda one: _nearness(one, low))[:most]


def _nearness(one: Titled, low: str) -> tuple[bool, bool, int, str]:
    """Return what sorts whole titles and ids first, then beginnings, then short ones."""
    title = one.title.casefold()
    is_whole = low in (one.id.casefold(), title)
    return not is_whole, not title.startswith(low), len(one.title), one.id


def text_of(snapshot: Snapshot, doc_id: str) -> DocumentText:
    """Return a document's own title and text; empty ones where this state lacks it."""
    if doc_id not in snapshot:
        return DocumentText(doc_id, "", "")
    rows = snapshot.rows_of(doc_id)
    views = snapshot.columns.slice(rows.start, len(rows)).to_pylist()
    own = next((view for view in views if view["kind"] == ORIGINAL), None)
    return DocumentText(doc_id, *(("", "") if own is None else (own["source"] or "", own["text"])))
