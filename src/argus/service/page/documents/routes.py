"""The table of documents, and a document's own page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse

from argus.errors import InputError
from argus.indexes.snapshot import Snapshot
from argus.service.page.availability import TABLES, any_of, has_index
from argus.service.page.documents.document import known_of
from argus.service.page.documents.filters import BANDS, ROWS, Filters, FiltersOf
from argus.service.page.documents.slicing import SliceLabels, slice_names
from argus.service.page.documents.table import DocumentTables
from argus.service.page.holding import Warm, WarmIndexes, index_of
from argus.service.page.rendering import PageRoute, folder_path, fragment, is_fragment, render
from argus.service.page.rows import Values
from argus.service.state import ServiceOf
from argus.service.workplace import Workplace

router = APIRouter(route_class=PageRoute)


def document_tables(request: Request) -> DocumentTables:
    """Return the service's tables of documents."""
    state = request.app.state
    if not hasattr(state, "document_tables"):
        state.document_tables = DocumentTables()
    return cast(DocumentTables, state.document_tables)


Tables = Annotated[DocumentTables, Depends(document_tables)]


@router.get("/page/{folder}/documents")
def documents(
    request: Request, folder: str, service: ServiceOf, tables: Tables, filters: FiltersOf
) -> HTMLResponse:
    """Show a page of the documents that are looked for."""
    path = folder_path(service.workplace, folder)
    if path is None or not any_of(*TABLES)(service.workplace, path):
        return render(request, "documents_none.html.j2", "documents", folder)
    table = tables.of(path)
    slices = _slices(service.workplace, path)
    _check(filters, slices)
    shown: Values = {
        "folder": folder, "filters": filters, "columns": table.listed, "size": ROWS,
        "page": table.page(filters),
    }  # fmt: skip
    if is_fragment(request):
        return fragment("documents_part.html.j2", **shown)
    del shown["folder"]
    return render(
        request, "documents.html.j2", "documents", folder,
        bands=table.count_by("band"), causes=table.count_by("cause"), slices=slices, **shown,
    )  # fmt: skip


def _check(filters: Filters, slices: list[str]) -> None:
    """Raise InputError for a slice that is not offered, or a band that is none."""
    if filters.slice and filters.slice not in slices:
        raise InputError(
            f"no slice {filters.slice!r}",
            expected="FIELD=VALUE of a slice that the results tell of, whose corpus lies in a "
            "folder of the service",
            fix="Choose one of the list.",
            where="slice",
        )
    if filters.band and filters.band not in BANDS:
        raise InputError(
            f"no band {filters.band!r}", expected=f"one of {', '.join(BANDS)}",
            fix="Choose one of these.", where="band",
        )  # fmt: skip


def _slices(workplace: Workplace, folder: Path) -> list[str]:
    """Return the slices that can be chosen: their corpus must lie in the service's folders."""
    names = slice_names(folder)
    if not names:
        return []
    return names if workplace.contains(SliceLabels.of(folder).corpus) else []


@router.get("/page/{folder}/document")
def document(
    request: Request, folder: str, service: ServiceOf, tables: Tables, warm: Warm,
    id: Annotated[str, Query(min_length=1, max_length=4000)],
) -> HTMLResponse:  # fmt: skip
    """Show all that is known of a document."""
    path = folder_path(service.workplace, folder)
    table = tables.of(path) if path is not None and any(path.glob("*.parquet")) else None
    row = table.row(id) if table is not None else None
    snapshot = _snapshot(service.workplace, path, warm)
    known = known_of(path, snapshot, id)
    if row is None and not known.views:
        raise InputError(
            f"no document {id!r}",
            expected="the id of a document of this folder",
            fix="Search for it in the table of documents.",
            where="id",
        )
    return render(
        request, "document.html.j2", "documents", folder,
        id=id, row=row, columns=table.columns if table else (), known=known,
        has_index=snapshot is not None,
    )  # fmt: skip


def _snapshot(workplace: Workplace, folder: Path | None, warm: WarmIndexes) -> Snapshot | None:
    if not has_index(workplace, folder):
        return None
    return warm.snapshot(index_of(workplace, folder))
