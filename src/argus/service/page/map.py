"""Show the projection of all documents with their bands, linked to the table of them."""

from __future__ import annotations

import io
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from argus.errors import InputError
from argus.indexes.remedy_views import ORIGINAL
from argus.service.page.documents import BANDS, ROWS, DocumentTable, DocumentTables, Tables
from argus.service.page.indexes import Warm, index_of
from argus.service.page.rendering import (
    DOCUMENTS,
    PageRoute,
    any_of,
    folder_path,
    fragment,
    has_index,
    render,
)
from argus.service.state import Service, ServiceOf

MAX_POINTS = 200_000  # sent to a browser; of more, every so manieth
PLACED = "of_retrievability WHERE x IS NOT NULL AND y IS NOT NULL"
"""Documents that the projection shows."""
Number = Annotated[float, Query(allow_inf_nan=False)]
router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/map")
def show(request: Request, folder: str, service: ServiceOf, tables: Tables) -> HTMLResponse:
    """Show the map of a folder."""
    path = folder_path(service.workplace, folder)
    table = tables.of(path) if path is not None and any_of(path, *DOCUMENTS) else None
    counts = table.count_by("band") if table is not None and _has_points(table) else {}
    bands = {name: counts[name] for name in BANDS if name in counts}
    return render(request, "map.html.j2", "map", folder, bands=bands)


@router.get("/page/{folder}/map/points")
def points(folder: str, service: ServiceOf, tables: Tables) -> Response:
    """Return how many points, then x, y (float32), then the number of each band (uint8).

    Little-endian; 0 low, 1 mid, 2 high, 3 none. Mixed, so that the first ones, which are drawn
    while the map moves, lie all over it.
    """
    columns = _table(folder, service, tables).connection.cursor().execute(
        f"SELECT x, y, coalesce(list_position(?, band), 4) - 1 AS band FROM {PLACED} "
        "ORDER BY hash(id), id",
        [list(BANDS)],
    ).fetchnumpy()  # fmt: skip
    step = 1 + len(columns["x"]) // MAX_POINTS
    x, y = (np.asarray(columns[name], "<f4")[::step] for name in ("x", "y"))
    band = np.asarray(columns["band"], np.uint8)[::step]
    body = b"".join((len(x).to_bytes(4, "little"), x.tobytes(), y.tobytes(), band.tobytes()))
    return Response(body, media_type="application/octet-stream")


@router.get("/page/{folder}/map/box")
def box(
    folder: str, service: ServiceOf, tables: Tables, x0: Number, x1: Number, y0: Number, y1: Number,
    bands: Annotated[str, Query(max_length=40)] = ",".join(BANDS),
) -> HTMLResponse:  # fmt: skip
    """List the documents of a rectangle, the least reachable first. bands: with commas between."""
    shown = [name for name in bands.split(",") if name in BANDS]
    condition = "x BETWEEN ? AND ? AND y BETWEEN ? AND ? AND list_contains(?, band)"
    values, table = [x0, x1, y0, y1, shown], _table(folder, service, tables)
    rows = table.dicts(
        f"SELECT id, label, rps, band FROM {PLACED} AND {condition} ORDER BY rps, id LIMIT ?",
        [*values, ROWS],
    )
    (counted,) = table.dicts(f"SELECT count(*) AS n FROM {PLACED} AND {condition}", values)
    documents = {"rows": rows, "total": counted["n"]}
    return fragment("map_box.html.j2", folder=folder, documents=documents)


@router.get("/page/{folder}/map/nearest")
def point(folder: str, service: ServiceOf, tables: Tables, x: Number, y: Number) -> HTMLResponse:
    """Name the document that is nearest to a place."""
    rows = _table(folder, service, tables).dicts(
        f"SELECT id, label, rps, band FROM {PLACED} ORDER BY (x - ?) ** 2 + (y - ?) ** 2 LIMIT 1",
        [x, y],
    )
    return fragment("map_point.html.j2", folder=folder, document=next(iter(rows), None))


@router.get("/page/{folder}/map/atlas.parquet")
def export(folder: str, service: ServiceOf, tables: Tables, warm: Warm) -> Response:
    """Return a Parquet file for Embedding Atlas: id, x, y, text, band, rps.

    A document without a text has its label.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table, path = _table(folder, service, tables), folder_path(service.workplace, folder)
    texts: dict[str, str] = {}
    if has_index(service.workplace, path):
        columns = warm.snapshot(index_of(service.workplace, path)).columns
        rows = columns.select(["doc_id", "kind", "text"]).to_pylist()
        texts = {row["doc_id"]: row["text"] for row in rows if row["kind"] == ORIGINAL}
    sql = f"SELECT id, label, x, y, band, rps FROM {PLACED} ORDER BY id"
    placed = table.connection.cursor().sql(sql).to_arrow_table()
    named = zip(placed["id"].to_pylist(), placed["label"].to_pylist(), strict=True)
    own = pa.array([texts.get(id_) or label or id_ for id_, label in named], pa.string())
    whole = placed.append_column("text", own).select(["id", "x", "y", "text", "band", "rps"])
    file = io.BytesIO()
    pq.write_table(whole, file)
    headers = {"Content-Disposition": 'attachment; filename="atlas.parquet"'}
    kind = "application/vnd.apache.parquet"
    return Response(file.getvalue(), media_type=kind, headers=headers)


def _table(folder: str, service: Service, tables: DocumentTables) -> DocumentTable:
    """Return the table of a folder with a map; InputError where it has none."""
    path = folder_path(service.workplace, folder)
    if path is None or not any_of(path, "retrievability.parquet"):
        raise InputError(
            "no map",
            expected="a folder that argus audit wrote",
            fix="Run argus audit with --out set to this folder.",
            where=folder,
        )
    table = tables.of(path)
    if not _has_points(table):
        raise InputError(
            "the audit made no projection",
            expected="at least two bands of entities",
            fix="Audit more of them.",
            where=path,
        )
    return table


def _has_points(table: DocumentTable) -> bool:
    if "band" not in table.names:
        return False
    there = table.connection.cursor().execute("DESCRIBE of_retrievability").fetchall()
    if not {"x", "y"} <= {row[0] for row in there}:
        return False
    return bool(table.dicts(f"SELECT count(*) AS n FROM {PLACED}", [])[0]["n"])
