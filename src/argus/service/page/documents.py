"""Show the pages of documents in `argus serve`: a table of up to a million rows, and each document.

The table comes from the folder's Parquet files (`argus.service.page.tables`). The page of a
document shows its views (texts indexed for it) and every row that names it.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from argus.data.tables import read_names, read_where
from argus.data.types import View
from argus.indexes.fold import ORIGINAL
from argus.indexes.snapshot import rows_to_views
from argus.service.page.indexes import Warm, index_of
from argus.service.page.rendering import PageOf, PageRoute, Rows, Values, refused
from argus.service.page.tables import ROWS, Filters, table_of

BANDS = ("low", "mid", "high")
MAX_ROWS = 100  # of each part of a document's page
CHAIN = "superseded controlling superseded_title controlling_title rule hops title_rank text_rank"
router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/documents")
def documents(page: PageOf, filters: Annotated[Filters, Query()]) -> HTMLResponse:
    """Show a page of the wanted documents."""
    path = page.path
    if path is None or not page.has_documents:
        return page.render("documents_none.html.j2")
    if filters.band and filters.band not in BANDS:
        expected = f"one of {', '.join(BANDS)}"
        raise refused("band", f"no band {filters.band!r}", expected, "Choose one of these.")
    table = table_of(path)
    found, total = table.page(filters)
    listed = {"rows": found, "total": total}
    values: Values = {"filters": filters, "columns": table.listed, "size": ROWS, "page": listed}
    if page.is_part:
        return page.part("documents_part.html.j2", **values)
    values |= {"bands": table.count_by("band"), "causes": table.count_by("cause")}
    return page.render("documents.html.j2", **values)


@router.get("/page/{folder}/document")
def document(
    page: PageOf, warm: Warm, id: Annotated[str, Query(min_length=1, max_length=4000)]
) -> HTMLResponse:
    """Show the views of a document, and the rows of the folder's tables that name it.

    questions: those that want it, with the rank that it had. misses: its own probes that failed.
    related: entities that should bring it.
    """
    path, views = page.path, list[View]()
    table = table_of(path) if path is not None and any(path.glob("*.parquet")) else None
    row = table.row(id) if table is not None else None
    if page.has_index and id in (snapshot := warm.snapshot(index_of(page.place, path))):
        rows = snapshot.rows_of(id)
        views = list(rows_to_views(snapshot.columns.slice(rows.start, len(rows))))
    if row is None and not views:
        fix = "Search for it in the table of documents."
        raise refused("id", f"no document {id!r}", "the id of a document of this folder", fix)

    def read(name: str, columns: str, key: str) -> Rows:
        """Return the rows of a table whose `key` is the document. None without the table."""
        file = None if path is None else path / f"{name}.parquet"
        if file is None or not file.is_file() or key not in (names := read_names(file)):
            return []
        present = [column for column in columns.split() if column in names]
        found: Rows = read_where(file, [(key, "=", id)], present).slice(0, MAX_ROWS).to_pylist()
        return found

    known = {
        "views": views,
        "own": next((view for view in views if view.kind == ORIGINAL), None),
        "questions": read("questions", "question rank first", "wanted")
        or read("comparison_only", "text rank only", "doc_id"),
        "misses": read("misses", "probe query rank displaced_by", "id"),
        "needs": read("needs", "scenario need rank", "document"),
        "related": read("pair_ranks", "related similarity above pool", "entity"),
        "superseded_by": read("authority", CHAIN, "superseded"),
        "supersedes": read("authority", CHAIN, "controlling"),
    }
    return page.render(
        "document.html.j2", tab="documents", id=id, row=row, known=known,
        columns=table.columns if table else (), has_index=page.has_index,
    )  # fmt: skip
