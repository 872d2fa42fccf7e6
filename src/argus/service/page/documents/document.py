"""All that a folder, and its index, know of one document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.data.artifacts import ArtifactFolder
from argus.data.parquet import read_names, read_where
from argus.data.types import View
from argus.indexes.remedy_views import ORIGINAL
from argus.indexes.snapshot import Snapshot, rows_to_views
from argus.remedies.repair.remedy import MADE, REMEDIES
from argus.service.page.rows import Rows

MOST = 100
"""Rows of each part that are shown."""


@dataclass(frozen=True, slots=True)
class Known:
    """A document: its views, and the rows of the folder's tables that speak of it.

    questions: those that want it, with the rank that it had; misses: its own probes that failed;
    needs: what it is needed for; related: entities that should bring it; chain: what supersedes
    it, and what it supersedes; receipts: what repairs did to it.
    """

    views: list[View]
    questions: Rows
    misses: Rows
    needs: Rows
    related: Rows
    superseded_by: Rows
    supersedes: Rows
    receipts: Rows

    @property
    def own(self) -> View | None:
        """Its own text; None where no index holds it."""
        return next((view for view in self.views if view.kind == ORIGINAL), None)


def known_of(folder: Path | None, snapshot: Snapshot | None, id_: str) -> Known:
    """Return what is known of a document: nothing where nothing speaks of it."""
    views: list[View] = []
    if snapshot is not None and id_ in snapshot:
        rows = snapshot.rows_of(id_)
        views = list(rows_to_views(snapshot.columns.slice(rows.start, len(rows))))
    if folder is None:
        return Known(views, [], [], [], [], [], [], [])
    return Known(
        views,
        questions=_questions(folder, id_),
        misses=_rows(folder / "misses.parquet", ("probe", "query", "rank", "displaced_by"), id=id_),
        needs=_needs(folder, id_),
        related=_rows(
            folder / "pair_ranks.parquet", ("related", "similarity", "above", "pool"), entity=id_
        ),
        superseded_by=_rows(folder / "authority.parquet", CHAIN, superseded=id_),
        supersedes=_rows(folder / "authority.parquet", CHAIN, controlling=id_),
        receipts=_receipts(folder, id_),
    )


CHAIN = ("superseded", "controlling", "superseded_title", "controlling_title", "rule", "hops",
         "title_rank", "text_rank")  # fmt: skip


def _questions(folder: Path, id_: str) -> Rows:
    """Return the judged questions that want a document."""
    rows = _rows(folder / "questions.parquet", ("question", "rank", "first"), wanted=id_)
    return rows or _rows(folder / "comparison_only.parquet", ("text", "rank", "only"), doc_id=id_)


def _needs(folder: Path, id_: str) -> Rows:
    for name in ("needs_served_queries", "needs"):
        rows = _rows(folder / f"{name}.parquet", ("scenario", "need", "rank"), document=id_)
        if rows:
            return rows
    return []


def _receipts(folder: Path, id_: str) -> Rows:
    """Return the rows of repairs' receipts that are of a document."""
    remedies = folder / REMEDIES
    homes = [folder, *(sorted(remedies.iterdir()) if remedies.is_dir() else ())]
    rows = [
        {"remedy": _remedy(home), **row}
        for home in homes
        for row in _rows(home / "receipt.parquet", RECEIPT, doc_id=id_)
    ]
    return rows[:MOST]


def _remedy(home: Path) -> str:
    """Return the id of the remedy whose receipt lies in a folder."""
    return str(ArtifactFolder(home).read_json(MADE).get("remedy", home.name))


RECEIPT = ("entity", "rank_before", "rank_after", "views", "state")


def _rows(path: Path, columns: Sequence[str], **equals: str) -> Rows:
    """Return the rows of a table whose columns equal some values; none where there is no table."""
    if not path.is_file():
        return []
    names = read_names(path)
    if not equals.keys() <= names:
        return []
    filters = [(name, "=", value) for name, value in equals.items()]
    present = [name for name in columns if name in names]
    rows: Rows = read_where(path, filters, present).slice(0, MOST).to_pylist()
    return rows
