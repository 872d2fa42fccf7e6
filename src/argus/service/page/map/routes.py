"""The page of the map, and what its script asks for."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from argus.errors import InputError
from argus.indexes.remedy_views import ORIGINAL
from argus.service.page.availability import TABLES, any_of, has_index
from argus.service.page.documents.filters import BANDS
from argus.service.page.documents.routes import Tables
from argus.service.page.documents.table import DocumentTable, DocumentTables
from argus.service.page.holding import Warm, index_of
from argus.service.page.map.points import Box, as_bytes, atlas, has_points, in_box, nearest
from argus.service.page.rendering import PageRoute, folder_path, fragment, render
from argus.service.state import Service, ServiceOf

router = APIRouter(route_class=PageRoute)
Number = Annotated[float, Query(allow_inf_nan=False)]


@router.get("/page/{folder}/map")
def show(request: Request, folder: str, service: ServiceOf, tables: Tables) -> HTMLResponse:
    """Show the map of a folder."""
    path = folder_path(service.workplace, folder)
    is_there = path is not None and any_of(*TABLES)(service.workplace, path)
    table = tables.of(path) if path is not None and is_there else None
    counts = table.count_by("band") if table is not None and has_points(table) else {}
    bands = {name: counts[name] for name in BANDS if name in counts}
    return render(request, "map.html.j2", "map", folder, bands=bands)


@router.get("/page/{folder}/map/points")
def points(folder: str, service: ServiceOf, tables: Tables) -> Response:
    """Return all points, as `as_bytes` lays them out."""
    return Response(
        as_bytes(_table(folder, service, tables)), media_type="application/octet-stream"
    )


@router.get("/page/{folder}/map/box")
def box(
    folder: str, service: ServiceOf, tables: Tables, x0: Number, x1: Number, y0: Number, y1: Number,
    bands: Annotated[str, Query(max_length=40)] = ",".join(BANDS),
) -> HTMLResponse:  # fmt: skip
    """List the documents of a rectangle. bands: with commas between."""
    shown = tuple(name for name in bands.split(",") if name in BANDS)
    documents = in_box(_table(folder, service, tables), Box(x0, x1, y0, y1, shown))
    return fragment("map_box.html.j2", folder=folder, documents=documents)


@router.get("/page/{folder}/map/nearest")
def point(folder: str, service: ServiceOf, tables: Tables, x: Number, y: Number) -> HTMLResponse:
    """Tell of the document that is nearest to a place."""
    document = nearest(_table(folder, service, tables), x, y)
    return fragment("map_point.html.j2", folder=folder, document=document)


@router.get("/page/{folder}/map/atlas.parquet")
def export(folder: str, service: ServiceOf, tables: Tables, warm: Warm) -> Response:
    """Return the points with their texts, for Embedding Atlas."""
    table, path = _table(folder, service, tables), folder_path(service.workplace, folder)
    texts: dict[str, str] = {}
    if has_index(service.workplace, path):
        columns = warm.snapshot(index_of(service.workplace, path)).columns
        rows = columns.select(["doc_id", "kind", "text"]).to_pylist()
        texts = {row["doc_id"]: row["text"] for row in rows if row["kind"] == ORIGINAL}
    headers = {"Content-Disposition": 'attachment; filename="atlas.parquet"'}
    return Response(
        atlas(table, texts), media_type="application/vnd.apache.parquet", headers=headers
    )


def _table(folder: str, service: Service, tables: DocumentTables) -> DocumentTable:
    """Return the table of a folder with a map; InputError where it has none."""
    path = folder_path(service.workplace, folder)
    if path is None or not any_of("retrievability.parquet")(service.workplace, path):
        raise InputError(
            "no map",
            expected="a folder that argus audit wrote",
            fix="Run argus audit with --out set to this folder.",
            where=folder,
        )
    table = tables.of(path)
    if not has_points(table):
        raise InputError(
            "the audit made no projection",
            expected="at least two bands of entities",
            fix="Audit more of them.",
            where=path,
        )
    return table
