"""Show the documents of a folder: a table of a million rows, a page of each, and their map."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response

from argus.data.folders import ArtifactFolder
from argus.data.tables import read_names, read_table, read_where
from argus.data.types import View
from argus.indexes.blend import REMEDIES
from argus.indexes.fold import ORIGINAL
from argus.indexes.snapshot import rows_to_views
from argus.remedies.undo import MADE
from argus.service.page.indexes import Warm, index_of
from argus.service.page.rendering import Page, PageOf, PageRoute, Rows, Values, any_of, refused
from argus.service.page.tables import ROWS, DocumentTable, Filters, sliced_corpus, table_of

BANDS = ("low", "mid", "high")
MAX_ROWS = 100  # of each part of a document's page
MAX_POINTS = 200_000  # sent to a browser: of more, an even sample
PLACED = "of_retrievability WHERE x IS NOT NULL AND y IS NOT NULL"
"""Documents that the projection shows."""
CHAIN = "superseded controlling superseded_title controlling_title rule hops title_rank text_rank"
Number = Annotated[float, Query(allow_inf_nan=False)]
router = APIRouter(route_class=PageRoute)


@router.get("/page/{folder}/documents")
def documents(page: PageOf, filters: Annotated[Filters, Query()]) -> HTMLResponse:
    """Show a page of the wanted documents."""
    path = page.path
    if path is None or not page.has_documents:
        return page.render("documents_none.html.j2")
    slices: set[str] = set()
    for file in (path / "slices.parquet", path / "audit_slices.parquet"):
        if file.is_file():
            rows = read_table(file, ["field", "slice"]).to_pylist()
            slices |= {f"{row['field']}={row['slice']}" for row in rows}
    if slices and not page.place.contains(sliced_corpus(path)[0]):
        slices.clear()
    if filters.slice and filters.slice not in slices:
        named = "FIELD=VALUE of a slice that the results tell of"
        expected = f"{named}, whose corpus lies in a folder of the service"
        raise refused("slice", f"no slice {filters.slice!r}", expected, "Choose one of the list.")
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
    return page.render("documents.html.j2", slices=sorted(slices), **values)


@router.get("/page/{folder}/document")
def document(
    page: PageOf, warm: Warm, id: Annotated[str, Query(min_length=1, max_length=4000)]
) -> HTMLResponse:
    """Show the views of a document, and the rows of the folder's tables that name it.

    questions: those that want it, with the rank that it had. misses: its own probes that failed.
    related: entities that should bring it. receipts: changes that repairs made to it.
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

    def read(name: str, columns: str, key: str, home: Path | None = path) -> Rows:
        """Return the rows of a table whose `key` is the document. None without the table."""
        file = None if home is None else home / f"{name}.parquet"
        if file is None or not file.is_file() or key not in (names := read_names(file)):
            return []
        present = [column for column in columns.split() if column in names]
        found: Rows = read_where(file, [(key, "=", id)], present).slice(0, MAX_ROWS).to_pylist()
        return found

    homes = [] if path is None else [path, *sorted(path.glob(f"{REMEDIES}/*"))]
    receipts = [
        {"remedy": str(ArtifactFolder(home).read_json(MADE).get("remedy", home.name)), **row}
        for home in homes
        for row in read("receipt", "entity rank_before rank_after views state", "doc_id", home)
    ]
    known = {
        "views": views,
        "own": next((view for view in views if view.kind == ORIGINAL), None),
        "questions": read("questions", "question rank first", "wanted")
        or read("comparison_only", "text rank only", "doc_id"),
        "misses": read("misses", "probe query rank displaced_by", "id"),
        "needs": read("needs_served_queries", "scenario need rank", "document")
        or read("needs", "scenario need rank", "document"),
        "related": read("pair_ranks", "related similarity above pool", "entity"),
        "superseded_by": read("authority", CHAIN, "superseded"),
        "supersedes": read("authority", CHAIN, "controlling"),
        "receipts": receipts[:MAX_ROWS],
    }
    return page.render(
        "document.html.j2", tab="documents", id=id, row=row, known=known,
        columns=table.columns if table else (), has_index=page.has_index,
    )  # fmt: skip


@router.get("/page/{folder}/map")
def show_map(page: PageOf) -> HTMLResponse:
    """Show the projection of all documents with their bands."""
    table = table_of(page.path) if page.path and page.has_documents else None
    counts = table.count_by("band") if table is not None and _has_points(table) else {}
    bands = {name: counts[name] for name in BANDS if name in counts}
    return page.render("map.html.j2", bands=bands)


@router.get("/page/{folder}/map/points")
def list_points(page: PageOf) -> Response:
    """Return how many points, then x, y (float32), then the number of each band (uint8).

    Little-endian. Bands: 0 low, 1 mid, 2 high, 3 none. The order is random, so that the first ones,
    which are drawn while the map moves, lie all over it.
    """
    sql = (
        "SELECT x, y, coalesce(list_position(?, band), 4) - 1 AS band "
        f"FROM {PLACED} ORDER BY hash(id), id"
    )
    columns = _mapped(page).connection.cursor().execute(sql, [list(BANDS)]).fetchnumpy()
    step = 1 + len(columns["x"]) // MAX_POINTS
    x, y = (np.asarray(columns[name], "<f4")[::step] for name in ("x", "y"))
    band = np.asarray(columns["band"], np.uint8)[::step]
    body = b"".join((len(x).to_bytes(4, "little"), x.tobytes(), y.tobytes(), band.tobytes()))
    return Response(body, media_type="application/octet-stream")


@router.get("/page/{folder}/map/box")
def list_box(
    page: PageOf, x0: Number, x1: Number, y0: Number, y1: Number,
    bands: Annotated[str, Query(max_length=40)] = ",".join(BANDS),
) -> HTMLResponse:  # fmt: skip
    """List the documents of a rectangle, the least reachable first. bands: with commas between."""
    shown = [name for name in bands.split(",") if name in BANDS]
    inside = f"{PLACED} AND x BETWEEN ? AND ? AND y BETWEEN ? AND ? AND list_contains(?, band)"
    values, table = [x0, x1, y0, y1, shown], _mapped(page)
    sql = f"SELECT id, label, rps, band FROM {inside} ORDER BY rps, id LIMIT {ROWS}"
    (counted,) = table.dicts(f"SELECT count(*) AS n FROM {inside}", values)
    listed = {"rows": table.dicts(sql, values), "total": counted["n"]}
    return page.part("map_box.html.j2", documents=listed)


@router.get("/page/{folder}/map/nearest")
def find_nearest(page: PageOf, x: Number, y: Number) -> HTMLResponse:
    """Name the document that is nearest to a place."""
    distance = "(x - ?) ** 2 + (y - ?) ** 2"
    sql = f"SELECT id, label, rps, band FROM {PLACED} ORDER BY {distance} LIMIT 1"
    rows = _mapped(page).dicts(sql, [x, y])
    return page.part("map_point.html.j2", document=next(iter(rows), None))


@router.get("/page/{folder}/map/atlas.parquet")
def export_map(page: PageOf, warm: Warm) -> Response:
    """Return a Parquet file for Embedding Atlas: id, x, y, text, band, rps.

    A document without a text has its label.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table, texts = _mapped(page), dict[str, str]()
    if page.has_index:
        columns = warm.snapshot(index_of(page.place, page.path)).columns
        rows = columns.select(["doc_id", "kind", "text"]).to_pylist()
        texts = {row["doc_id"]: row["text"] for row in rows if row["kind"] == ORIGINAL}
    sql = f"SELECT id, label, x, y, band, rps FROM {PLACED} ORDER BY id"
    placed = table.connection.cursor().sql(sql).to_arrow_table()
    named = zip(placed["id"].to_pylist(), placed["label"].to_pylist(), strict=True)
    own = pa.array([texts.get(id_) or label or id_ for id_, label in named], pa.string())
    file = io.BytesIO()
    columns = ["id", "x", "y", "text", "band", "rps"]
    pq.write_table(placed.append_column("text", own).select(columns), file)
    headers = {"Content-Disposition": 'attachment; filename="atlas.parquet"'}
    return Response(file.getvalue(), headers=headers, media_type="application/vnd.apache.parquet")


def _mapped(page: Page) -> DocumentTable:
    """Return the table of a folder with a map. Raises InputError where it has none."""
    if page.path is None or not any_of(page.path, "retrievability.parquet"):
        fix = "Run argus research audit with --out set to this folder."
        raise refused(page.folder, "no map", "a folder that argus research audit wrote", fix)
    table = table_of(page.path)
    if not _has_points(table):
        got, expected = "the audit made no projection", "at least two bands of entities"
        raise refused(page.path, got, expected, "Audit more of them.")
    return table


def _has_points(table: DocumentTable) -> bool:
    if "band" not in table.names:
        return False
    there = {row["column_name"] for row in table.dicts("DESCRIBE of_retrievability")}
    return {"x", "y"} <= there and bool(table.dicts(f"SELECT 1 FROM {PLACED} LIMIT 1"))
