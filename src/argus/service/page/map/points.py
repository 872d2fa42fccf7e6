"""The points of a map: as bytes for the browser, by rectangle for the table, as a file to keep."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from argus.service.page.documents.filters import BANDS, ROWS
from argus.service.page.documents.table import DocumentTable
from argus.service.page.rows import Row, Rows

MOST = 200_000
"""Points that are sent to a browser; of more, every so manieth."""
PLACED = "of_retrievability WHERE x IS NOT NULL AND y IS NOT NULL"
"""Documents that the projection shows."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the map, and the bands that are shown of it."""

    x0: float
    x1: float
    y0: float
    y1: float
    bands: tuple[str, ...] = BANDS


@dataclass(frozen=True, slots=True)
class InBox:
    """Documents of a rectangle, the least reachable first, and how many there are."""

    rows: Rows
    total: int


def has_points(table: DocumentTable) -> bool:
    """Return whether a folder's audit made a projection."""
    if "band" not in table.names:
        return False
    there = table.connection.cursor().execute("DESCRIBE of_retrievability").fetchall()
    if not {"x", "y"} <= {row[0] for row in there}:
        return False
    counted = table.connection.cursor().execute(f"SELECT count(*) FROM {PLACED}").fetchone()
    return bool(counted and counted[0])


def as_bytes(table: DocumentTable) -> bytes:
    """Return how many points, then x, y (float32), then the number of each band (uint8).

    Little-endian; 0 low, 1 mid, 2 high, 3 none. Mixed, so that the first ones, which are drawn
    while the map moves, lie all over it.
    """
    columns = table.connection.cursor().execute(
        f"SELECT x, y, coalesce(list_position(?, band), 4) - 1 AS band FROM {PLACED} "
        "ORDER BY hash(id), id",
        [list(BANDS)],
    ).fetchnumpy()  # fmt: skip
    step = 1 + len(columns["x"]) // MOST
    x, y = (np.asarray(columns[name], "<f4")[::step] for name in ("x", "y"))
    band = np.asarray(columns["band"], np.uint8)[::step]
    head = len(x).to_bytes(4, "little")
    return b"".join((head, x.tobytes(), y.tobytes(), band.tobytes()))


def in_box(table: DocumentTable, box: Box) -> InBox:
    """Return the documents of a rectangle."""
    condition = "x BETWEEN ? AND ? AND y BETWEEN ? AND ? AND list_contains(?, band)"
    values = [box.x0, box.x1, box.y0, box.y1, list(box.bands)]
    cursor = table.connection.cursor()
    rows = cursor.execute(
        f"SELECT id, label, rps, band FROM {PLACED} AND {condition} ORDER BY rps, id LIMIT ?",
        [*values, ROWS],
    ).fetchall()
    heads = ("id", "label", "rps", "band")
    counted = cursor.execute(f"SELECT count(*) FROM {PLACED} AND {condition}", values).fetchone()
    shown = [dict(zip(heads, row, strict=True)) for row in rows]
    return InBox(shown, int(counted[0]) if counted else 0)


def nearest(table: DocumentTable, x: float, y: float) -> Row | None:
    """Return the document that is nearest to a place of the map; None of an empty one."""
    rows = table.connection.cursor().execute(
        f"SELECT id, label, rps, band FROM {PLACED} ORDER BY (x - ?) ** 2 + (y - ?) ** 2 LIMIT 1",
        [x, y],
    ).fetchall()  # fmt: skip
    return dict(zip(("id", "label", "rps", "band"), rows[0], strict=True)) if rows else None


def atlas(table: DocumentTable, texts: Mapping[str, str]) -> bytes:
    """Return a Parquet file for Embedding Atlas: id, x, y, text, band, rps.

    texts: by id; a document without one has its label.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    sql = f"SELECT id, label, x, y, band, rps FROM {PLACED} ORDER BY id"
    points = table.connection.cursor().sql(sql).to_arrow_table()
    labels = points["label"].to_pylist()
    own = [
        texts.get(i) or label or i
        for i, label in zip(points["id"].to_pylist(), labels, strict=True)
    ]
    whole = points.drop_columns(["label"]).append_column("text", pa.array(own, pa.string()))
    file = io.BytesIO()
    pq.write_table(whole.select(["id", "x", "y", "text", "band", "rps"]), file)
    return file.getvalue()
