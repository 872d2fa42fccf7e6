"""The sheets of a study: who sees which pair, in which order, and on which side scenarios stand.

A sheet is a table for a spreadsheet and a page for a browser, which holds the same. Neither says
the content of a side: that stands in key.jsonl, which raters do not get.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from argus.data.provenance import content_hash
from argus.data.tables import harmless
from argus.data.writing import write_whole
from argus.scenarios.study.config import Criterion, Versus
from argus.scenarios.study.pairs import Pair, Shown
from argus.visible import visible

A, B, TIE = "A", "B", "tie"
Side = Literal["A", "B"]
PLACE = ("sheet", "pair")
"""Columns of a sheet that say which pair an answer is on."""


@dataclass(frozen=True, slots=True)
class Place:
    """A pair on a sheet. sheet: from 1. side: of the results with scenarios."""

    sheet: int
    pair: Pair
    side: Side

    def column(self, side: Side) -> tuple[Shown, ...]:
        """Return the contents of a side."""
        return self.pair.scenarios if side == self.side else self.pair.rival


class KeyRow(TypedDict):
    """One line of key.jsonl. side: of the results with scenarios. documents: of both, by rank."""

    sheet: int
    pair: str
    versus: str
    query_id: str
    side: str
    scenarios: list[str]
    rival: list[str]


def places(pairs: Sequence[Pair], sheets: int, judges: int, seed: int) -> list[Place]:
    """Return the place of each pair: on `judges` sheets. Lengths of sheets differ by 1 at most.

    Everything is drawn by the pair's id, so it depends on no order of files. On each sheet
    scenarios stand on either side equally often, or once more.
    """
    order = sorted(pairs, key=lambda pair: _draw(seed, "order", pair.id))
    by_sheet: dict[int, list[Pair]] = {sheet: [] for sheet in range(1, sheets + 1)}
    for i, pair in enumerate(order):
        for j in range(judges):
            by_sheet[1 + (i * judges + j) % sheets].append(pair)
    rows = []
    for sheet, own in by_sheet.items():
        tossed = sorted(own, key=lambda pair: _draw(seed, f"side {sheet}", pair.id))
        first: dict[str, Side] = {p.id: A if (i + sheet) % 2 else B for i, p in enumerate(tossed)}  # type: ignore[misc]
        shuffled = sorted(own, key=lambda pair: _draw(seed, f"sheet {sheet}", pair.id))
        rows += [Place(sheet, pair, first[pair.id]) for pair in shuffled]
    return rows


def _draw(seed: int, what: str, id_: str) -> bytes:
    return content_hash(str(seed), what, id_, size=8)


def key_row(place: Place) -> KeyRow:
    """Return the key's line of a pair on a sheet."""
    return {
        "sheet": place.sheet,
        "pair": place.pair.id,
        "versus": str(place.pair.versus),
        "query_id": place.pair.query.id,
        "side": place.side,
        "scenarios": [shown.doc_id for shown in place.pair.scenarios],
        "rival": [shown.doc_id for shown in place.pair.rival],
    }


def write_sheet(folder: Path, sheet: int, rows: Sequence[Place]) -> list[Path]:
    """Write a sheet as CSV and as HTML, whole or not at all. Return both paths."""
    paths = [folder / f"sheet-{sheet}.csv", folder / f"sheet-{sheet}.html"]
    for path, text in zip(paths, (_table(rows), _page(sheet, rows)), strict=True):
        write_whole(path, text)
    return paths


def _table(rows: Sequence[Place]) -> str:
    """Return a sheet as CSV. Answers are to be written into its last four columns.

    It begins with a byte order mark, by which spreadsheets know UTF-8.
    """
    out = StringIO()
    write = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow
    write([*PLACE, "question", A, B, *Criterion])
    for place in rows:
        texts = [place.pair.query.text, *(_in_words(place.column(side)) for side in ("A", "B"))]
        cells = (harmless(visible(text)) for text in texts)
        write([place.sheet, place.pair.id, *cells, *[""] * len(Criterion)])
    return "\ufeff" + out.getvalue()


def _in_words(column: Sequence[Shown]) -> str:
    blocks = []
    for i, shown in enumerate(column, 1):
        lines = [f"[{i}] {shown.text}", *(f"{name}: {text}" for name, text in shown.parts)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _page(sheet: int, rows: Sequence[Place]) -> str:
    """Return a sheet as a page: nothing is fetched, and answers are saved as CSV by a button."""
    import jinja2

    from argus.reports import environment

    pages = environment(jinja2.PackageLoader("argus", "scenarios/study"))
    key = content_hash(*(f"{place.pair.id}{place.side}" for place in rows), size=6).hex()
    return pages.get_template("sheet.html.j2").render(
        sheet=sheet, rows=rows, criteria=list(Criterion), sides=[A, B], tie=TIE,
        place=PLACE, study=key, n=len(rows),
    )  # fmt: skip


def versus_of(row: KeyRow) -> Versus:
    """Return the rival in a line of the key."""
    return Versus(row["versus"])
